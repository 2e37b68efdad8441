//! Traffic matrices of the paper's evaluation (§5.1), in bytes, `[src][dst]`, nothing on the diagonal.

use model::Rank;
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// Every pair sends `bytes`.
pub fn uniform(ranks: Rank, bytes: f64) -> Vec<Vec<f64>> {
    fill(ranks, || bytes)
}

/// Sizes from the uniform distribution between 0 and twice `mean_bytes`.
pub fn random(ranks: Rank, mean_bytes: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    fill(ranks, || 2.0 * mean_bytes * rng.random::<f64>())
}

/// Sizes that fall as 1/i^`factor` with the place i of a pair, places given out at random, with `mean_bytes` on
/// average. The paper's factor is 0.4.
pub fn zipf(ranks: Rank, mean_bytes: f64, factor: f64, seed: u64) -> Vec<Vec<f64>> {
    let pairs = ranks as usize * (ranks as usize).saturating_sub(1);
    let mut sizes: Vec<f64> = (1..=pairs).map(|place| (place as f64).powf(-factor)).collect();
    let scale = mean_bytes * pairs as f64 / sizes.iter().sum::<f64>();
    sizes.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut sizes = sizes.into_iter().map(|size| size * scale);
    fill(ranks, || sizes.next().unwrap_or(0.0))
}

fn fill(ranks: Rank, mut next: impl FnMut() -> f64) -> Vec<Vec<f64>> {
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
    fn zipf_sizes_fall_with_the_factor() {
        let mut sizes: Vec<f64> = zipf(12, 1.0, 0.4, 7).concat().into_iter().filter(|&size| size > 0.0).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(sizes.len(), 132);
        assert!((sizes[0] / sizes[31] - 32f64.powf(0.4)).abs() < 1e-9);
    }
}
