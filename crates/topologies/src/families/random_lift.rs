//! Random lifts: expanders that keep a translation symmetry, so that profiles on them cost a few orbits.
//!
//! Ranks fall into p orbits under the translations of Z_n by multiples of p, where p is the largest divisor
//! of n up to 8. The first of d permutations is the ring; each other sends orbit to orbit by a random
//! permutation, turned by a random translation for each orbit. Random lifts of a small graph are expanders
//! with high probability, and a cycle with random permutations has a diameter of O(log n) with high
//! probability.

use std::collections::BTreeSet;

use model::{Link, Rank, Result, Shape, Topology, Translations};
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::explicit_links::check_size;
use crate::family::Family;
use crate::parameters::Parameters;

/// Most orbits of ranks.
const MAX_ORBITS: u32 = 8;
/// Draws of a permutation before parallel circuits are accepted.
const DRAWS: usize = 100;

/// d circuits out and in per rank, invariant under the translations by p.
pub(crate) struct RandomLift;

impl Family for RandomLift {
    fn name(&self) -> &'static str {
        "random-lift"
    }

    fn summary(&self) -> &'static str {
        "random expander with a translation symmetry: the ring and d - 1 random permutations that repeat with a \
         period of at most 8 ranks; seed 0 where none is given"
    }

    fn source(&self) -> &'static str {
        "Amit and Linial, Random graph coverings, Combinatorica 2002; \
         Bollobás and Chung, The diameter of a cycle plus a random matching, SIAM J. Discrete Math. 1988"
    }

    fn parameters(&self) -> &'static str {
        "[:SEED]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "random-lift or random-lift:SEED, a whole number of at most 64 bits",
        };
        let (name, seed) = parameters.name_and_seed()?;
        check_size(shape, &parameters)?;
        let gpus = shape.gpus();
        let period = (1..=MAX_ORBITS.min(gpus / 2)).rev().find(|period| gpus.is_multiple_of(*period)).unwrap_or(1);
        let symmetry = Translations::periodic(gpus, period);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut links: Vec<Link> = (0..period).map(|src| Link { src, dst: (src + 1) % gpus, count: 1 }).collect();
        let mut taken: BTreeSet<(Rank, Rank)> = links.iter().map(|link| (link.src, link.dst)).collect();
        for _ in 1..shape.ports() {
            let drawn = draw(&symmetry, period, &taken, &mut rng);
            taken.extend(drawn.iter().map(|link| (link.src, link.dst)));
            links.extend(drawn);
        }
        // Few orbits may happen to fall into fewer.
        Ok(Topology::new(name, symmetry, links)?.with_found_symmetry())
    }
}

/// One circuit for each of the first `period` ranks, to different orbits; none from a rank to itself, and
/// none `taken` unless that keeps failing.
fn draw(symmetry: &Translations, period: u32, taken: &BTreeSet<(Rank, Rank)>, rng: &mut ChaCha8Rng) -> Vec<Link> {
    let mut orbits: Vec<Rank> = (0..period).collect();
    let mut fallback = Vec::new();
    for _ in 0..DRAWS {
        interruption::check();
        orbits.shuffle(rng);
        let links: Vec<Link> = orbits
            .iter()
            .zip(0..)
            .map(|(&orbit, src)| {
                let turn = rng.random_range(0..symmetry.order()) * period;
                Link { src, dst: symmetry.apply(turn, orbit), count: 1 }
            })
            .collect();
        if links.iter().any(|link| link.src == link.dst) {
            continue;
        }
        if links.iter().all(|link| !taken.contains(&(link.src, link.dst))) {
            return links;
        }
        fallback = links;
    }
    if fallback.is_empty() {
        // With so few ranks every draw had a circuit from a rank to itself; the ring is taken once more.
        fallback = (0..period).map(|src| Link { src, dst: (src + 1) % symmetry.ranks(), count: 1 }).collect();
    }
    fallback
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(n: u32, d: u32, seed: &str) -> Topology {
        RandomLift.build(&Shape::new(n, &[], d).unwrap(), seed).unwrap()
    }

    proptest! {
        #[test]
        fn lifts_are_regular_symmetric_and_seeded(n in 2u32..80, d in 1u32..12, seed in 0u64..1000) {
            let graph = build(n, d, &seed.to_string());
            prop_assert_eq!(graph.circuits(), u64::from(n * d));
            prop_assert_eq!(graph.degree(), d);
            prop_assert!(graph.symmetry().orbits() <= MAX_ORBITS);
            prop_assert_eq!(&graph, &build(n, d, &seed.to_string()));
        }
    }

    #[test]
    fn seeds_differ_and_are_whole_numbers() {
        assert!(!build(64, 4, "1").same_links(&build(64, 4, "2")));
        assert!(build(64, 4, "").same_links(&build(64, 4, "0")));
        assert_eq!(build(64, 4, "7").name(), "random-lift:7");
        for wrong in ["-1", "18446744073709551616", "1.0", "seed", "1,2"] {
            assert!(RandomLift.build(&Shape::new(16, &[], 3).unwrap(), wrong).is_err(), "{wrong}");
        }
    }
}
