//! All-to-Alls of a mixture of experts, one expert on each rank: bytes `[src][dst]` of the tokens that routers send.

use model::Rank;
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// Bytes, `[src][dst]`.
type Matrix = Vec<Vec<f64>>;

/// Default share of every rank's bytes that the hot experts get.
pub(super) const HOT_SHARE: f64 = 0.5;
/// Tokens of a rank that are routed one by one.
const TOKENS: u32 = 256;

/// The rule by which tokens are routed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Router {
    /// Experts of a token, all different.
    pub(super) choices: Rank,
    /// Popularities of experts fall as 1/i^`factor`.
    pub(super) factor: f64,
    /// The most tokens of an expert, over the mean of all experts.
    pub(super) capacity: f64,
}

/// Some experts, drawn at random, get a share of every rank's bytes in equal parts; the others get the rest.
pub(super) fn hot(ranks: Rank, mean_bytes: f64, (count, share): (Rank, f64), seed: u64) -> Matrix {
    let mut order: Vec<usize> = (0..ranks as usize).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut bytes = vec![(1.0 - share) / f64::from(ranks - count); ranks as usize];
    for &expert in &order[..count as usize] {
        bytes[expert] = share / f64::from(count);
    }
    scaled(vec![bytes; ranks as usize], mean_bytes)
}

/// Tokens of every rank, each to several experts by their popularity, which is the same at all ranks. An expert of more
/// tokens than it takes drops as large a part of every rank's.
pub(super) fn routed(ranks: Rank, mean_bytes: f64, router: Router, seed: u64) -> Matrix {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut popularities: Vec<f64> = (1..=ranks).map(|place| f64::from(place).powf(-router.factor)).collect();
    popularities.shuffle(&mut rng);
    let mut tokens = vec![vec![0.0; ranks as usize]; ranks as usize];
    for row in &mut tokens {
        interruption::check();
        for _ in 0..TOKENS {
            for expert in chosen(&popularities, router.choices, &mut rng) {
                row[expert] += 1.0;
            }
        }
    }
    let most = router.capacity * f64::from(TOKENS) * f64::from(router.choices);
    let received: Vec<f64> = (0..ranks as usize).map(|expert| tokens.iter().map(|row| row[expert]).sum()).collect();
    // The mean is that of all tokens: what is dropped is not sent by others instead.
    let mut matrix = scaled(tokens, mean_bytes);
    for (expert, received) in received.into_iter().enumerate().filter(|(_, received)| *received > most) {
        matrix.iter_mut().for_each(|row| row[expert] *= most / received);
    }
    matrix
}

/// Different experts, one after the other with probabilities as their popularities among those that are left.
fn chosen(popularities: &[f64], choices: Rank, rng: &mut ChaCha8Rng) -> Vec<usize> {
    // The first of exponential clocks at these rates are such a draw (Efraimidis and Spirakis 2006).
    let mut clocks: Vec<(f64, usize)> = popularities
        .iter()
        .enumerate()
        .map(|(expert, popularity)| (-(1.0 - rng.random::<f64>()).ln() / popularity, expert))
        .collect();
    let last = choices as usize;
    if last < clocks.len() {
        clocks.select_nth_unstable_by(last, |one, other| one.0.total_cmp(&other.0));
    }
    clocks[..last.min(popularities.len())].iter().map(|(_, expert)| *expert).collect()
}

/// The matrix without its diagonal, with this mean of all pairs.
fn scaled(mut matrix: Matrix, mean_bytes: f64) -> Matrix {
    matrix.iter_mut().enumerate().for_each(|(rank, row)| row[rank] = 0.0);
    let (ranks, sum) = (matrix.len() as f64, matrix.iter().flatten().sum::<f64>());
    let scale = if sum > 0.0 { mean_bytes * ranks * (ranks - 1.0) / sum } else { 0.0 };
    matrix.iter_mut().flatten().for_each(|bytes| *bytes *= scale);
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(matrix: &Matrix) -> Vec<f64> {
        (0..matrix.len()).map(|expert| matrix.iter().map(|row| row[expert]).sum()).collect()
    }

    fn mean(matrix: &Matrix) -> f64 {
        let ranks = matrix.len() as f64;
        matrix.iter().flatten().sum::<f64>() / (ranks * (ranks - 1.0))
    }

    #[test]
    fn hot_experts_get_their_share() {
        let matrix = hot(16, 8.0, (2, 0.5), 1);
        assert!((mean(&matrix) - 8.0).abs() < 1e-9);
        let mut sizes: Vec<f64> = matrix.concat().into_iter().filter(|&size| size > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        // Two ranks get a quarter each of what a rank sends, 14 a 28th.
        assert_eq!(sizes.len(), 16 * 15);
        assert!((sizes[16 * 15 - 1] / sizes[0] - 7.0).abs() < 1e-9);
        assert_eq!(sizes.iter().filter(|&&size| size > 2.0 * sizes[0]).count(), 2 * 15);
    }

    #[test]
    fn routed_tokens_follow_popularity_and_capacity() {
        let free = Router { choices: 2, factor: 1.2, capacity: f64::INFINITY };
        let matrix = routed(16, 8.0, free, 5);
        assert!((mean(&matrix) - 8.0).abs() < 1e-9);
        assert_eq!(matrix, routed(16, 8.0, free, 5));
        assert_ne!(matrix, routed(16, 8.0, free, 6));
        let spread = |matrix: &Matrix| {
            let received = received(matrix);
            received.iter().copied().fold(0.0, f64::max) / (received.iter().sum::<f64>() / 16.0)
        };
        // At a capacity of the even share no expert gets more than that, and the unpopular get what they got.
        let even = routed(16, 8.0, Router { capacity: 1.0, ..free }, 5);
        let (all, cut) = (received(&matrix), received(&even));
        assert!(spread(&matrix) > 2.0 && cut.iter().all(|&bytes| bytes < 1.1 * 8.0 * 15.0), "{cut:?}");
        assert!(all.iter().zip(&cut).all(|(all, cut)| cut <= all && (cut == all || *cut > 0.9 * 8.0 * 15.0)));
        // Every expert of every token: all alike.
        let all = routed(4, 8.0, Router { choices: 4, factor: 3.0, capacity: f64::INFINITY }, 5);
        assert!(all.concat().iter().all(|&size| size == 0.0 || (size - 8.0).abs() < 1e-9));
    }

    #[test]
    fn first_choices_are_drawn_by_popularity() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut counts = [0u32; 3];
        (0..30_000).for_each(|_| counts[chosen(&[1.0, 2.0, 3.0], 1, &mut rng)[0]] += 1);
        for (count, share) in counts.into_iter().zip([1.0, 2.0, 3.0]) {
            assert!((f64::from(count) / 30_000.0 - share / 6.0).abs() < 0.01, "{counts:?}");
        }
    }
}
