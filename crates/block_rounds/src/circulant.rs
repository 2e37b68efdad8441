//! The circulant base for more than one port (§4.2, fig. 8).
//!
//! The paper leaves the generators open. Here they are those whose rounds cost least: all pairs are tried
//! for two ports, and for more ports generators are added to the best pair one by one.

use model::{Result, Topology, Translations};

use crate::contraction::Contractions;
use crate::cutoffs::circulant::{MOST_PACKED_RANKS, MOST_WITH_ALL_NAMES};

/// Bases whose rounds are packed, those that promise most first; the others are known only by their promise. A packing
/// takes more than ranks² of effort: fewer are packed above [`MOST_PACKED_RANKS`] / 64 ranks, and 8 at least.
fn packed(ranks: u32) -> usize {
    (MOST_PACKED_RANKS / ranks).clamp(8, 64) as usize
}

/// The strategy in hand on the best circulant base of `ports` generators, 2 ≤ `ports` < `ranks`.
///
/// O(n²·divisors of n) for the pairs, and O(n²) for each port more.
///
/// # Errors
/// No error for ports below the number of ranks.
pub fn circulant(ranks: u32, ports: u32) -> Result<Contractions> {
    let mut found: Vec<(u64, Vec<u32>)> = Vec::new();
    let mut search = Search::new(ranks);
    // Multiplying all generators by a unit of Z_n renames ranks, and takes the first to a divisor of n. A pair with a
    // unit is there with 1 first; its other names may be packed a little better, and are looked at where that takes
    // little.
    let all_names = ranks <= MOST_WITH_ALL_NAMES;
    for first in (1..ranks).filter(|first| ranks.is_multiple_of(*first)) {
        let others = (1..ranks).filter(|&second| second != first && common(second, first) == 1);
        for second in others.filter(|&second| all_names || first == 1 || common(second, ranks) > 1) {
            interruption::check();
            found.extend(search.promise(&[first, second]).map(|hops| (hops, vec![first, second])));
        }
    }
    found.sort();
    for _ in 2..ports {
        let Some((_, best)) = found.first().cloned() else { break };
        found.clear();
        for generator in (1..ranks).filter(|g| !best.contains(g)) {
            interruption::check();
            let generators = [&best[..], &[generator]].concat();
            found.extend(search.promise(&generators).map(|hops| (hops, generators)));
        }
        found.sort();
    }
    let symmetry = Translations::cyclic(ranks);
    let mut best: Option<Contractions> = None;
    for (promised, generators) in found.into_iter().take(packed(ranks)) {
        if best.as_ref().is_some_and(|best| best.hops() <= promised) {
            break;
        }
        let topology = Topology::circulant(ranks, &generators)?;
        let packed = Contractions::new(topology, symmetry.clone(), ports)?;
        if best.as_ref().is_none_or(|best| packed.hops() < best.hops()) {
            best = Some(packed);
        }
    }
    best.ok_or_else(|| model::Error::infeasible("topology", format!("no circulant graph connects all {ranks} ranks")))
}

/// Greatest common divisor.
fn common(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common(b, a % b) }
}

/// A breadth-first search from rank 0 whose room is used again.
struct Search {
    distances: Vec<u32>,
    queue: Vec<u32>,
}

impl Search {
    fn new(ranks: u32) -> Self {
        Self { distances: vec![u32::MAX; ranks as usize], queue: Vec::with_capacity(ranks as usize) }
    }

    /// Least Σ hops of rounds of one path per generator: the distances, longest first, as many to a round as there are
    /// generators. `None` where some rank is not reached.
    fn promise(&mut self, generators: &[u32]) -> Option<u64> {
        let Self { distances, queue } = self;
        let ranks = distances.len() as u32;
        distances.fill(u32::MAX);
        distances[0] = 0;
        queue.clear();
        queue.push(0);
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            for generator in generators {
                let beyond = node + generator;
                let head = if beyond >= ranks { beyond - ranks } else { beyond };
                if distances[head as usize] == u32::MAX {
                    distances[head as usize] = distances[node as usize] + 1;
                    queue.push(head);
                }
            }
        }
        // The queue is in order of distance.
        let longest_of_rounds = queue[1..].iter().rev().step_by(generators.len());
        (queue.len() == distances.len())
            .then(|| longest_of_rounds.map(|&node| u64::from(distances[node as usize])).sum())
    }
}
