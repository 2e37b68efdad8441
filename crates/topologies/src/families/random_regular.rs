//! Random regular directed graphs, which are expanders with high probability.

use model::{BreadthFirst, Rank, Result, Shape, Topology};
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::explicit_links::{check_size, enumerated};
use crate::family::Family;
use crate::parameters::Parameters;

/// Every rank has d successors and d predecessors, otherwise at random.
pub(crate) struct RandomRegular;

impl Family for RandomRegular {
    fn name(&self) -> &'static str {
        "random-regular"
    }

    fn summary(&self) -> &'static str {
        "random expander: d circuits out and in per rank, strongly connected, none parallel while d < n; \
         seed 0 where none is given"
    }

    fn source(&self) -> &'static str {
        "Singla et al., Jellyfish, NSDI 2012, with directed circuits; \
         sampled by switchings (Rao, Jana and Bandyopadhyay, Sankhyā 1996)"
    }

    fn parameters(&self) -> &'static str {
        "[:SEED]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "random-regular or random-regular:SEED, a whole number of at most 64 bits",
        };
        let (name, seed) = parameters.name_and_seed()?;
        check_size(shape, &parameters)?;
        let gpus = shape.gpus();
        // Beyond n − 1 ports every peer gets circuits in parallel, and only the rest is random.
        let (whole, rest) = (shape.ports() / (gpus - 1), shape.ports() % (gpus - 1));
        let drawn = if rest == 0 { Vec::new() } else { draw(gpus, rest, &mut ChaCha8Rng::seed_from_u64(seed)) };
        enumerated(name, shape, &parameters, |rank| {
            let everyone = (0..whole).flat_map(move |_| 0..gpus);
            let start = rank as usize * rest as usize;
            let peers = drawn.get(start..start + rest as usize).unwrap_or_default().to_vec();
            everyone.chain(peers)
        })
    }
}

/// Rounds of `gpus·degree` attempted switchings.
const ROUNDS: usize = 10;

/// The successors of each rank in turn, `degree` < `gpus` − 1 each, all different and none itself: a circulant graph of
/// randomly relabelled ranks, after switchings of random pairs of arcs, a → b and c → d becoming a → d and c → b. For
/// degree 1 the relabelling by itself makes it a random n-cycle. Strongly connected, because a round that would end
/// otherwise is taken back. O(gpus·degree²).
fn draw(gpus: u32, degree: u32, rng: &mut ChaCha8Rng) -> Vec<Rank> {
    let mut order: Vec<Rank> = (0..gpus).collect();
    order.shuffle(rng);
    let mut targets = vec![0; gpus as usize * degree as usize];
    let width = degree as usize;
    for (position, &rank) in order.iter().enumerate() {
        for by in 0..width {
            targets[rank as usize * width + by] = order[(position + by + 1) % order.len()];
        }
    }
    if degree == 1 {
        return targets;
    }
    for _ in 0..ROUNDS {
        let before = targets.clone();
        for _ in 0..targets.len() {
            interruption::check();
            let arcs = targets.len() as u32;
            let (one, other) = (rng.random_range(0..arcs) as usize, rng.random_range(0..arcs) as usize);
            let (a, b, c, d) = (one / width, targets[one], other / width, targets[other]);
            let successors = |rank: usize| &targets[rank * width..(rank + 1) * width];
            let simple = a as Rank != d && c as Rank != b && !successors(a).contains(&d) && !successors(c).contains(&b);
            if simple {
                targets.swap(one, other);
            }
        }
        if !reaches_all(&targets, width) {
            targets = before;
        }
    }
    targets
}

/// Whether rank 0 reaches every rank. As many arcs enter each rank as leave it, so this is strong
/// connectivity: no arc leaves a set that is closed, hence none enters it.
fn reaches_all(targets: &[Rank], width: usize) -> bool {
    let ranks = targets.len() / width;
    let mut search = BreadthFirst::new(ranks);
    search.search(0, |rank| targets[rank as usize * width..][..width].iter().copied());
    search.reached().len() == ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(n: u32, d: u32, seed: &str) -> Topology {
        RandomRegular.build(&Shape::new(n, &[], d).unwrap(), seed).unwrap()
    }

    proptest! {
        #[test]
        fn graphs_are_regular_simple_and_seeded(n in 16u32..60, d in 1u32..12, seed in 0u64..1000) {
            let graph = build(n, d, &seed.to_string());
            prop_assert_eq!(graph.circuits(), u64::from(n * d));
            prop_assert_eq!(graph.degree(), d);
            prop_assert!(graph.expanded().iter().all(|link| link.count == 1));
            prop_assert!(graph.same_links(&build(n, d, &seed.to_string())));
            prop_assert!(!graph.same_links(&build(n, d, &(seed + 1).to_string())));
        }

        #[test]
        fn more_ports_than_peers_are_spread_evenly(n in 2u32..8, d in 1u32..30) {
            let graph = build(n, d, "5");
            prop_assert_eq!(graph.circuits(), u64::from(n * d));
            let counts: Vec<u32> = graph.expanded().iter().map(|link| link.count).collect();
            let least = d / (n - 1);
            prop_assert!(counts.iter().all(|&count| count == least || count == least + 1));
        }
    }

    #[test]
    fn seeds_are_whole_numbers() {
        assert_eq!(build(16, 3, "").name(), "random-regular");
        assert_eq!(build(16, 3, "18446744073709551615").name(), "random-regular:18446744073709551615");
        assert!(build(16, 3, "").same_links(&build(16, 3, "0")));
        for wrong in ["-1", "18446744073709551616", "1.0", "seed", "1,2"] {
            assert!(RandomRegular.build(&Shape::new(16, &[], 3).unwrap(), wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn disconnected_graphs_are_recognised() {
        assert!(!reaches_all(&[1, 0, 3, 2], 1));
        assert!(reaches_all(&[1, 2, 3, 0], 1));
    }
}
