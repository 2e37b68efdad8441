//! What the steps of a Broadcast put on the busiest circuits, at least, by their hops, on one topology of degree p.
//!
//! Step i has h_i hops at most, c_i = h_1 + … + h_i with those before, H in all; L_i is what it puts on the busiest
//! circuit, over the buffer. B(h) = min(n, 1 + p + … + p^h) ranks are within h hops of a rank at most. Every row holds
//! for the L_i of every schedule, and the least Σ L_i for all rows together is a bound:
//!
//! - *Senders.* Before step i at most B(c_{i−1}) ranks have a byte, the others have it from transfers of step i or
//!   later, each of which leaves its sender by a circuit: Σ_{j≥i} p·B(c_{j−1})·L_j ≥ n − B(c_{i−1}). Transfers of
//!   several hops use more circuits, all of them circuits of ranks within c_j − 1 hops of the root: with f(s, N) the
//!   least links over which a rank informs N others in s steps ([`spreading`](crate::spreading)) and I = B(c_{i−1}),
//!   Σ_{j≥i} p·B(c_j − 1)·L_j ≥ I·f(s−i+1, n/I − 1).
//! - *Descendants.* A copy that leaves the root in step j has B(H−c_j) descendants at most, itself among them, and so
//!   many has the root after step i: Σ_{j≤i} p·B(H−c_j)·L_j ≥ n − B(H−c_i), and Σ p·L_j ≥ 1.
//! - *Windows.* A byte comes to a rank by a walk of some ℓ hops, whose k-th is crossed in a step that has one of the
//!   hops k … H−ℓ+k. There are p^ℓ such walks at most, so that ranks y hops from the root or farther, n − B(y−1) at
//!   least, have p^ℓ/(n − B(y−1)) in the mean, and their k-th circuits are p^k at most. All bytes cross some of them:
//!   Σ_j L_j·min(p^k, Σ_ℓ p^ℓ/(n − B(y−1))·[step j has one of the hops]) ≥ 1, since the mean of a least is at most the
//!   least of means. The same counted from the end of the walk.

use std::ops::Range;

use crate::covering::least_sum;
use crate::spreading::{ball, least_hops, least_usage, most_steps};

/// Ranks and ports, with what the rows of all numbers of hops have in common.
pub(crate) struct StepLoads {
    ranks: f64,
    ports: f64,
    /// B(0), B(1), … to n.
    balls: Vec<f64>,
    /// By steps that are left, 1 first, and hops done: links that have to be used by each block.
    uses: Vec<Vec<f64>>,
}

impl StepLoads {
    pub(crate) fn new(ranks: u32, ports: u32) -> Self {
        let n = f64::from(ranks);
        let balls: Vec<f64> = (0..=least_hops(ports, n)).map(|hops| ball(ports, hops).min(n)).collect();
        // Descending balls are ascending numbers of ranks that each has to inform.
        let added: Vec<f64> = balls.iter().rev().map(|held| n / held - 1.0).collect();
        let uses = (1..=most_steps(ports, ranks)).map(|steps| {
            let each = least_usage(ports, steps, &added).into_iter().rev();
            each.zip(&balls).map(|(uses, held)| uses * held).collect()
        });
        Self { ranks: n, ports: f64::from(ports), uses: uses.collect(), balls }
    }

    fn ball(&self, hops: u32) -> f64 {
        self.balls[(hops as usize).min(self.balls.len() - 1)]
    }

    /// Σ L_i at least, for any steps of so many hops in all, on two ports or more.
    ///
    /// Loads of a step of h hops that keep the rows of senders and of descendants keep those of h steps of a hop, half
    /// of them in the first and half in the last: B(x + 1) ≥ p·B(x) where a row in between asks for anything, and in the
    /// other rows no entry is less.
    pub(crate) fn least_of_any(&self, hops: u32) -> f64 {
        let single = vec![1; hops as usize];
        least_sum(&self.rows_of_ranks(&spans(&single)))
    }

    /// Σ L_i at least, for steps of these hops, which are enough to reach all ranks.
    pub(crate) fn least(&self, hops: &[u32]) -> f64 {
        least_sum(&self.rows(hops))
    }

    /// Σ L_i at least by each row alone: below [`Self::least`], and quick.
    pub(crate) fn least_by_rows(&self, hops: &[u32]) -> f64 {
        let alone = |row: &Vec<f64>| 1.0 / row.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        self.rows(hops).iter().map(alone).fold(0.0, f64::max)
    }

    /// The rows, each divided by its right side.
    fn rows(&self, hops: &[u32]) -> Vec<Vec<f64>> {
        let steps = spans(hops);
        let mut rows = self.rows_of_ranks(&steps);
        rows.extend(self.rows_of_uses(&steps));
        rows.extend(self.rows_of_windows(&steps));
        rows
    }

    /// Senders, each a rank, and descendants.
    fn rows_of_ranks(&self, steps: &[Span]) -> Vec<Vec<f64>> {
        let all = steps.last().map_or(0, |last| last.end);
        let mut rows = vec![vec![self.ports; steps.len()]];
        for (at, step) in steps.iter().enumerate() {
            let senders = |(index, step): (usize, &Span)| if index >= at { self.ball(step.start) } else { 0.0 };
            let needed = self.ranks - self.ball(step.start);
            rows.extend(self.row(needed, steps.iter().enumerate().map(senders)));
            let copies = |(index, step): (usize, &Span)| if index <= at { self.ball(all - step.end) } else { 0.0 };
            let needed = self.ranks - self.ball(all - step.end);
            rows.extend(self.row(needed, steps.iter().enumerate().map(copies)));
        }
        rows
    }

    /// Senders, by the circuits that their transfers use.
    fn rows_of_uses(&self, steps: &[Span]) -> impl Iterator<Item = Vec<f64>> {
        steps.iter().enumerate().filter_map(|(at, step)| {
            let needed = *self.uses.get(steps.len() - at - 1)?.get(step.start as usize)?;
            let used = |(index, step): (usize, &Span)| if index >= at { self.ball(step.end - 1) } else { 0.0 };
            self.row(needed, steps.iter().enumerate().map(used))
        })
    }

    /// Windows, for the farthest ranks.
    fn rows_of_windows(&self, steps: &[Span]) -> Vec<Vec<f64>> {
        let all = steps.last().map_or(0, |last| last.end);
        let farthest = self.balls.len() as u32 - 1;
        let mut rows = Vec::new();
        for distance in farthest.saturating_sub(1).max(1)..=farthest {
            let far = self.ranks - self.ball(distance - 1);
            for (place, from_end) in (1..=distance).flat_map(|place| [(place, false), (place, true)]) {
                let circuits = |step: &Span| {
                    let meets = |walk: &u32| {
                        let first = if from_end { walk - place + 1 } else { place };
                        first <= step.end && first + (all - walk) > step.start
                    };
                    let walks = (distance..=all).filter(meets).map(|walk| self.ports.powi(walk as i32) / far);
                    walks.sum::<f64>().min(self.ports.powi(place as i32))
                };
                rows.push(steps.iter().map(circuits).collect());
            }
        }
        rows
    }

    /// The row of which p times the entries are needed so often; none where nothing is.
    fn row(&self, needed: f64, entries: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
        (needed > 0.0).then(|| entries.map(|entry| self.ports * entry / needed).collect())
    }
}

/// Hops before a step, and with it.
type Span = Range<u32>;

fn spans(hops: &[u32]) -> Vec<Span> {
    let mut done = 0;
    let span = |step: &u32| {
        done += step;
        done - step..done
    };
    hops.iter().map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Least sums of loads on the generalised Kautz graph of 12 ranks of two ports, by linear programs over all flows
    /// of a Broadcast in steps of these hops.
    const ON_A_KAUTZ_GRAPH: [(&[u32], f64); 15] = [
        (&[1, 1, 1], 3.0),
        (&[1, 2], 4.0),
        (&[2, 1], 3.0),
        (&[2, 2], 2.334),
        (&[1, 1, 2], 2.0),
        (&[1, 2, 1], 1.667),
        (&[2, 1, 1], 1.6),
        (&[1, 1, 1, 1], 1.3334),
        (&[1, 1, 1, 1, 1], 1.0),
        (&[2, 1, 1, 1], 1.1),
        (&[2, 2, 1], 1.3334),
        (&[1, 2, 1, 1], 1.2),
        (&[1, 1, 1, 1, 1, 1], 0.8572),
        (&[2, 2, 2], 1.1783),
        (&[2, 1, 1, 1, 1], 0.9049),
    ];

    #[test]
    fn on_a_kautz_graph_they_are_below_the_programs_and_near() {
        let loads = StepLoads::new(12, 2);
        for (hops, program) in ON_A_KAUTZ_GRAPH {
            let found = loads.least(hops);
            assert!(found <= program + 1e-9 && found >= 0.55 * program, "{hops:?}: {found} {program}");
            assert!(loads.least_by_rows(hops) <= found + 1e-9);
        }
        assert!((loads.least(&[1, 1, 1]) - 3.0).abs() < 1e-9);
    }

    /// Of all divisions of some hops the one in single hops has the least by senders and descendants.
    #[test]
    fn no_division_is_below_what_holds_for_any() {
        for (ranks, ports) in [(7, 2), (12, 2), (33, 2), (14, 3), (40, 3), (70, 4), (9, 8)] {
            let loads = StepLoads::new(ranks, ports);
            for hops in least_hops(ports, f64::from(ranks))..=9 {
                let any = loads.least_of_any(hops);
                for cuts in 0..1_u32 << (hops - 1) {
                    let (mut division, mut step) = (Vec::new(), 1);
                    for cut in 0..hops - 1 {
                        if cuts >> cut & 1 == 1 {
                            division.push(std::mem::replace(&mut step, 1));
                        } else {
                            step += 1;
                        }
                    }
                    division.push(step);
                    let found = least_sum(&loads.rows_of_ranks(&spans(&division)));
                    assert!(any <= found + 1e-9, "{ranks} {ports} {division:?}: {any} {found}");
                }
            }
        }
    }
}
