//! Least link usage of an AllReduce on one topology of degree d in s steps of H hops together, by each block.
//!
//! The contribution of a rank i comes to every other rank j over transfers of some of the steps, at most one of each.
//! They lead over dist(i, j) links at least, so with P_t the sum over all pairs of the distance that they go in step t,
//!
//! Σ_t P_t ≥ n·Σ_j dist(i, j), which is least where the ranks fill a d-ary tree, and P_t ≤ h_t·n·(n−1)
//!
//! for a step of h_t hops. A transfer of step t serves pairs (i, j) of which i is within the hops before t of its
//! sender, and j within the hops after t of its receiver: at most M_t = N(h_1 + … + h_{t−1})·N(h_{t+1} + … + h_s) of
//! them, with N(h) = min(n, 1 + d + … + d^h). So the transfers of step t use links P_t / M_t times at least, and all of
//! them together
//!
//! min Σ_t P_t / M_t ≥ max over λ of  λ·Σ_t P_t + Σ_t h_t·n·(n−1)·min(0, 1/M_t − λ),
//!
//! which for every λ is least, over all h_1 + … + h_s = H, by a program over the hops done. Where such sums are few,
//! each is looked at, with the P_t of largest M_t as large as they may be. Few hops serve few pairs at once, so what is
//! added up on the way in one pass is far less than in two.

use crate::cutoffs::pairs::{MOST_PRICES, MOST_SUMS};
use crate::spreading::{ball, least_usage};

/// By number of steps from 1 to `hops`, the least uses of links. O(hops³) for each price, and the sums.
pub(crate) fn least_uses(ranks: u32, ports: u32, hops: u32) -> Vec<f64> {
    let n = f64::from(ranks);
    let distances = n * least_usage(ports, 1, &[n - 1.0])[0];
    let served =
        Served { balls: (0..hops).map(|hops| ball(ports, hops).min(n)).collect(), pairs: n * (n - 1.0), distances };
    let by_prices = served.by_prices();
    let mut sums = 1_u64;
    let mut least = Vec::new();
    for (steps, priced) in (1..=hops).zip(by_prices) {
        least.push(if sums <= MOST_SUMS { served.by_sums(&mut Vec::new(), steps, hops) } else { priced });
        sums = sums.saturating_mul(u64::from(hops - steps)) / u64::from(steps);
    }
    least
}

/// Data for a bound on the pairs that transfers serve.
struct Served {
    /// Ranks within this many hops.
    balls: Vec<f64>,
    /// Pairs of ranks.
    pairs: f64,
    /// Distances of all pairs.
    distances: f64,
}

impl Served {
    /// The least over all ways to go on by `steps` steps of `left` hops.
    fn by_sums(&self, before: &mut Vec<u32>, steps: u32, left: u32) -> f64 {
        if steps == 0 {
            return self.filled(before);
        }
        let mut least = f64::INFINITY;
        let choices = if steps == 1 { left..=left } else { 1..=left + 1 - steps };
        for step in choices {
            interruption::check();
            before.push(step);
            least = least.min(self.by_sums(before, steps - 1, left - step));
            before.pop();
        }
        least
    }

    /// Steps of these hops, those whose transfers serve most pairs going as far as they may.
    fn filled(&self, split: &[u32]) -> f64 {
        let all = self.balls.len();
        let mut done = 0;
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for &step in split {
            let after = done + step as usize;
            steps.push((self.balls[done] * self.balls[all - after], f64::from(step) * self.pairs));
            done = after;
        }
        steps.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut left, mut uses) = (self.distances, 0.0);
        for (served, most) in steps {
            let here = left.min(most);
            uses += here / served;
            left -= here;
        }
        uses
    }

    /// The least by prices.
    fn by_prices(&self) -> Vec<f64> {
        let (balls, pairs, distances, all) = (&self.balls, self.pairs, self.distances, self.balls.len());
        // After `done` hops, a step of this many: the inverse of the pairs that a transfer serves.
        let price = |done: usize, step: usize| 1.0 / (balls[done] * balls[all - done - step]);
        let mut prices: Vec<f64> =
            (0..all).flat_map(|done| (1..=all - done).map(move |step| price(done, step))).collect();
        prices.sort_by(f64::total_cmp);
        prices.dedup();
        let every = prices.len().div_ceil(MOST_PRICES);
        let mut least = vec![0.0_f64; all];
        for &paid in prices.iter().step_by(every) {
            let mut saved = vec![f64::INFINITY; all + 1];
            saved[0] = 0.0;
            for least in &mut least {
                interruption::check();
                let mut next = vec![f64::INFINITY; all + 1];
                for done in (0..all).filter(|&done| saved[done].is_finite()) {
                    for step in 1..=all - done {
                        let saves = saved[done] + pairs * step as f64 * (price(done, step) - paid).min(0.0);
                        next[done + step] = next[done + step].min(saves);
                    }
                }
                saved = next;
                *least = least.max(paid * distances + saved[all]);
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least over all splits of the hops and all P_t, the cheapest filled first.
    fn by_exhaustion(ranks: u32, ports: u32, hops: u32, steps: u32) -> f64 {
        let n = f64::from(ranks);
        let mut least = f64::INFINITY;
        let mut open: Vec<Vec<u32>> = vec![Vec::new()];
        while let Some(split) = open.pop() {
            let done: u32 = split.iter().sum();
            if split.len() as u32 == steps {
                if done == hops {
                    least = least.min(filled(n, ports, &split));
                }
                continue;
            }
            open.extend((1..=hops - done).map(|step| [&split[..], &[step]].concat()));
        }
        least
    }

    fn filled(n: f64, ports: u32, split: &[u32]) -> f64 {
        let within = |hops: &[u32]| ball(ports, hops.iter().sum()).min(n);
        let served = (0..split.len()).map(|at| (within(&split[..at]) * within(&split[at + 1..]), split[at]));
        let mut served: Vec<(f64, u32)> = served.collect();
        served.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut distance, mut left, mut places) = (1.0, n - 1.0, f64::from(ports));
        let mut needed = 0.0;
        while left > 0.0 {
            needed += distance * places.min(left) * n;
            (left, places, distance) = (left - places, places * f64::from(ports), distance + 1.0);
        }
        let mut uses = 0.0;
        for (pairs, hops) in served {
            let here = needed.min(f64::from(hops) * n * (n - 1.0));
            uses += here / pairs;
            needed -= here;
        }
        if needed > 1e-9 { f64::INFINITY } else { uses }
    }

    #[test]
    fn they_are_below_all_splits_of_hops_and_near() {
        for (ranks, ports, hops) in [(16, 2, 5), (64, 2, 6), (64, 2, 8), (27, 3, 4), (64, 4, 4), (12, 2, 7)] {
            let n = f64::from(ranks);
            let distances = n * least_usage(ports, 1, &[n - 1.0])[0];
            let balls = (0..hops).map(|hops| ball(ports, hops).min(n)).collect();
            let priced = Served { balls, pairs: n * (n - 1.0), distances }.by_prices();
            let found = least_uses(ranks, ports, hops);
            for steps in 1..=hops {
                let least = by_exhaustion(ranks, ports, hops, steps);
                let (found, priced) = (found[steps as usize - 1], priced[steps as usize - 1]);
                assert!((found - least).abs() <= least * 1e-9, "{ranks} {ports} {hops} {steps}: {found} {least}");
                assert!(
                    priced <= least * (1.0 + 1e-9) && priced >= 0.5 * least,
                    "{ranks} {ports} {hops} {steps}: {priced} {least}"
                );
            }
        }
    }

    /// On a de Bruijn graph of 16 ranks four single hops carry the buffer over 32 links each, two double hops over
    /// 2·4·16.
    #[test]
    fn passes_over_a_de_bruijn_graph_are_above_it() {
        let found = least_uses(16, 2, 4);
        assert!(found[3] <= 128.0 && found[1] <= 256.0);
        assert!(found[1] > found[3] && found[3] > 15.0 + 15.0);
    }
}
