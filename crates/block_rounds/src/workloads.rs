//! Traffic matrices in bytes, `[src][dst]`, nothing on the diagonal but where all blocks are equal: those of the paper's
//! evaluation (§5.1), and those of experts, one on each rank, as routers of mixtures of experts make them.

mod experts;

use model::{Error, Rank, Result, unknown_name};
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// Skew of the paper's Zipfian workload.
const ZIPF_FACTOR: f64 = 0.4;
/// A factor beyond this leaves bytes to one pair only.
const MAX_ZIPF_FACTOR: f64 = 16.0;

/// Bytes, `[src][dst]`.
type Matrix = Vec<Vec<f64>>;

/// A named workload.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// Name before the first colon.
    pub name: &'static str,
    /// The parameters that may follow.
    pub parameters: &'static str,
    /// A summary, in a sentence.
    pub summary: &'static str,
    /// Makes the matrix for ranks, mean bytes of a pair and seed; `None` for parameters that it does not take.
    make: fn(&[&str], Rank, f64, u64) -> Option<Matrix>,
}

/// Every workload.
pub static REGISTRY: &[Workload] = &[
    Workload {
        name: "uniform",
        parameters: "",
        summary: "every pair sends the same number of bytes",
        make: |parameters, ranks, bytes, _| {
            let equal = || vec![vec![bytes; ranks as usize]; ranks as usize];
            parameters.is_empty().then(equal)
        },
    },
    Workload {
        name: "random",
        parameters: "[:SEED]",
        summary: "sizes from the uniform distribution between 0 and twice the mean",
        make: |parameters, ranks, bytes, seed| match parameters {
            [] => Some(random(ranks, bytes, seed)),
            [seed] => Some(random(ranks, bytes, seed.parse().ok()?)),
            _ => None,
        },
    },
    Workload {
        name: "zipf",
        parameters: "[:FACTOR[:SEED]]",
        summary: "sizes that fall as 1/i^FACTOR, i the place of a pair in a random order; FACTOR is 0.4 in the paper",
        make: |parameters, ranks, bytes, seed| {
            let (factor, seed) = match parameters {
                [] => (ZIPF_FACTOR, seed),
                [factor] => (factor.parse().ok()?, seed),
                [factor, seed] => (factor.parse().ok()?, seed.parse().ok()?),
                _ => return None,
            };
            (0.0..=MAX_ZIPF_FACTOR).contains(&factor).then(|| zipf(ranks, bytes, factor, seed))
        },
    },
    Workload {
        name: "hot-experts",
        parameters: "[:COUNT[:SHARE[:SEED]]]",
        summary: "an expert on every rank; COUNT of them, drawn at random, get SHARE of every rank's bytes, the others \
                  the rest: an eighth of them and 0.5 by default",
        make: |parameters, ranks, bytes, seed| {
            let count = parameters.first().map_or(Some((ranks / 8).max(1)), |count| count.parse().ok())?;
            let share = parameters.get(1).map_or(Some(experts::HOT_SHARE), |share| share.parse().ok())?;
            let seed = parameters.get(2).map_or(Some(seed), |seed| seed.parse().ok())?;
            let is_known = parameters.len() <= 3 && (1..ranks).contains(&count) && (0.0..=1.0).contains(&share);
            is_known.then(|| experts::hot(ranks, bytes, (count, share), seed))
        },
    },
    Workload {
        name: "top-k",
        parameters: "[:K[:FACTOR[:CAPACITY[:SEED]]]]",
        summary: "an expert on every rank; every token goes to K experts, drawn by popularities that fall as \
                  1/i^FACTOR; \
                  an expert takes at most CAPACITY times its even share of tokens, the rest are dropped: 2, 1 and any \
                  number by default",
        make: |parameters, ranks, bytes, seed| {
            let choices = parameters.first().map_or(Some(2.min(ranks)), |choices| choices.parse().ok())?;
            let factor = parameters.get(1).map_or(Some(1.0), |factor| factor.parse().ok())?;
            let capacity = parameters.get(2).map_or(Some(f64::INFINITY), |capacity| capacity.parse().ok())?;
            let seed = parameters.get(3).map_or(Some(seed), |seed| seed.parse().ok())?;
            let is_known = parameters.len() <= 4
                && (1..=ranks).contains(&choices)
                && (0.0..=MAX_ZIPF_FACTOR).contains(&factor)
                && capacity > 0.0;
            is_known.then(|| experts::routed(ranks, bytes, experts::Router { choices, factor, capacity }, seed))
        },
    },
];

/// Whether `spec` is meant to name a workload.
pub fn is_named(spec: &str) -> bool {
    let name = spec.split(':').next().unwrap_or_default();
    REGISTRY.iter().any(|workload| workload.name == name)
}

/// The matrix of a specification such as `zipf:0.4:7`, with `mean_bytes` for a pair on average, before tokens are
/// dropped. Where all pairs send the same, a rank's own block is counted, as in an ordinary All-to-All.
///
/// # Errors
/// A name or parameters that there are not; the field is `matrix`.
pub fn build(spec: &str, ranks: Rank, mean_bytes: f64, seed: u64) -> Result<Matrix> {
    let parts: Vec<&str> = spec.split(':').collect();
    let Some(workload) = REGISTRY.iter().find(|workload| workload.name == parts[0]) else {
        return Err(unknown_name("matrix", parts[0], REGISTRY.iter().map(|workload| workload.name)));
    };
    (workload.make)(&parts[1..], ranks, mean_bytes, seed).ok_or_else(|| {
        let accepts = format!(
            "{}{}, where SEED is a whole number, FACTOR a number from 0 to {MAX_ZIPF_FACTOR}, SHARE one from 0 to 1, \
             CAPACITY one above 0, K from 1 to the ranks and COUNT from 1 to one less",
            workload.name, workload.parameters
        );
        Error::value("matrix", format!("`{spec}`"), accepts)
    })
}

/// Every pair sends `bytes`.
pub fn uniform(ranks: Rank, bytes: f64) -> Matrix {
    fill(ranks, || bytes)
}

/// Sizes from the uniform distribution between 0 and twice `mean_bytes`.
pub fn random(ranks: Rank, mean_bytes: f64, seed: u64) -> Matrix {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    fill(ranks, || 2.0 * mean_bytes * rng.random::<f64>())
}

/// Sizes that fall as 1/i^`factor` with the place i of a pair, places given out at random, with `mean_bytes` on
/// average. The paper's factor is 0.4.
pub fn zipf(ranks: Rank, mean_bytes: f64, factor: f64, seed: u64) -> Matrix {
    let pairs = ranks as usize * (ranks as usize).saturating_sub(1);
    let mut sizes: Vec<f64> = (1..=pairs).map(|place| (place as f64).powf(-factor)).collect();
    let scale = mean_bytes * pairs as f64 / sizes.iter().sum::<f64>();
    sizes.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut sizes = sizes.into_iter().map(|size| size * scale);
    fill(ranks, || sizes.next().unwrap_or(0.0))
}

fn fill(ranks: Rank, mut next: impl FnMut() -> f64) -> Matrix {
    (0..ranks).map(|src| (0..ranks).map(|dst| if src == dst { 0.0 } else { next() }).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_as_asked_and_seeds_repeat() {
        let mean = |matrix: &[Vec<f64>]| matrix.iter().flatten().sum::<f64>() / (32.0 * 31.0);
        assert_eq!(mean(&uniform(32, 8.0)), 8.0);
        assert!((mean(&random(32, 8.0, 1)) - 8.0).abs() < 0.5);
        assert!((mean(&zipf(32, 8.0, 0.4, 1)) - 8.0).abs() < 1e-9);
        assert_eq!(random(9, 8.0, 3), random(9, 8.0, 3));
        assert_ne!(random(9, 8.0, 3), random(9, 8.0, 4));
        assert_ne!(zipf(9, 8.0, 0.4, 3), zipf(9, 8.0, 0.4, 4));
        assert!((0..9).all(|rank| zipf(9, 8.0, 0.4, 3)[rank][rank] == 0.0));
    }

    #[test]
    fn specifications_name_seeds_and_factors() {
        let built = |spec: &str| build(spec, 6, 8.0, 3).unwrap();
        assert_eq!(built("random"), random(6, 8.0, 3));
        assert_eq!(built("random:9"), random(6, 8.0, 9));
        assert_eq!(built("zipf"), zipf(6, 8.0, 0.4, 3));
        assert_eq!(built("zipf:1.5:9"), zipf(6, 8.0, 1.5, 9));
        assert_eq!(built("uniform"), vec![vec![8.0; 6]; 6]);
        for wrong in ["uniform:1", "random:x", "zipf:-1", "zipf:nan", "zipf:1e9", "zipf:1:2:3", "poisson", ""] {
            let error = build(wrong, 6, 8.0, 3).unwrap_err();
            assert_eq!(error.field(), "matrix", "{wrong}: {error}");
        }
    }

    #[test]
    fn zipf_sizes_fall_with_the_factor() {
        let mut sizes: Vec<f64> = zipf(12, 1.0, 0.4, 7).concat().into_iter().filter(|&size| size > 0.0).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(sizes.len(), 132);
        assert!((sizes[0] / sizes[31] - 32f64.powf(0.4)).abs() < 1e-9);
    }
}
