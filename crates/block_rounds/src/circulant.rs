//! The circulant base for more than one port (§4.2, fig. 8).
//!
//! The paper leaves the generators open. Here they are those whose rounds cost least: all pairs are tried
//! for two ports, and for more ports generators are added to the best pair one by one.

use model::{Result, Topology, Translations};

use crate::contraction::Contractions;

/// Bases whose rounds are packed, those that promise most first; the others are known only by their promise.
const PACKED: usize = 64;

/// The strategy in hand on the best circulant base of `ports` generators, 2 ≤ `ports` < `ranks`.
///
/// O(n²·divisors of n) for the pairs, and O(n²) for each port more.
///
/// # Errors
/// No error for ports below the number of ranks.
pub fn circulant(ranks: u32, ports: u32) -> Result<Contractions> {
    let mut found: Vec<(u64, Vec<u32>)> = Vec::new();
    // Multiplying all generators by a unit of Z_n renames ranks, and takes the first to a divisor of n.
    for first in (1..ranks).filter(|first| ranks.is_multiple_of(*first)) {
        for second in (1..ranks).filter(|&second| second != first) {
            interruption::check();
            found.extend(promise(ranks, &[first, second]).map(|hops| (hops, vec![first, second])));
        }
    }
    found.sort();
    for _ in 2..ports {
        let extended = found.iter().take(1).flat_map(|(_, generators)| {
            (1..ranks).filter(|g| !generators.contains(g)).filter_map(|generator| {
                let generators = [&generators[..], &[generator]].concat();
                Some((promise(ranks, &generators)?, generators))
            })
        });
        found = extended.collect();
        found.sort();
    }
    let symmetry = Translations::cyclic(ranks);
    let mut best: Option<Contractions> = None;
    for (promised, generators) in found.into_iter().take(PACKED) {
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

/// Least Σ hops of rounds of one path per generator: the distances, longest first, as many to a round as
/// there are generators. `None` where some rank is not reached.
fn promise(ranks: u32, generators: &[u32]) -> Option<u64> {
    let mut distances = vec![u32::MAX; ranks as usize];
    distances[0] = 0;
    let mut queue = Vec::with_capacity(ranks as usize);
    queue.push(0);
    let mut next = 0;
    while let Some(&node) = queue.get(next) {
        next += 1;
        for generator in generators {
            let head = (node + generator) % ranks;
            if distances[head as usize] == u32::MAX {
                distances[head as usize] = distances[node as usize] + 1;
                queue.push(head);
            }
        }
    }
    // The queue is in order of distance.
    let longest_of_rounds = queue[1..].iter().rev().step_by(generators.len());
    (queue.len() == ranks as usize).then(|| longest_of_rounds.map(|&node| u64::from(distances[node as usize])).sum())
}
