//! Lower bounds on the loads of a Broadcast's steps on their busiest circuits, by their hops, on one topology.
//!
//! Step i has h_i hops at most, c_i = h_1 + … + h_i with those before, H in all; L_i is what it puts on the busiest
//! circuit, over the buffer. R(h) ranks are within h hops of the root at most, with S(h) circuits out of them, and D(h)
//! within h hops of any rank; on any topology of degree p, R(h) = D(h) = min(n, 1 + p + … + p^h) and S(h) = p·R(h).
//! Every row holds for the L_i of every schedule, and the least Σ L_i for all rows together is a bound:
//!
//! - *Senders.* Before step i at most R(c_{i−1}) ranks have a byte, the others have it from transfers of step i or
//!   later, each of which leaves its sender by a circuit: Σ_{j≥i} S(c_{j−1})·L_j ≥ n − R(c_{i−1}). Transfers of
//!   several hops use more circuits, all of them circuits of ranks within c_j − 1 hops of the root: with f(s, N) the
//!   least links over which a rank informs N others in s steps ([`spreading`](crate::spreading)) and I = R(c_{i−1}),
//!   Σ_{j≥i} S(c_j − 1)·L_j ≥ I·f(s−i+1, n/I − 1).
//! - *Descendants.* A copy that leaves the root by its o circuits in step j has D(H−c_j) descendants at most, itself
//!   among them, and so many has the root after step i: Σ_{j≤i} o·D(H−c_j)·L_j ≥ n − D(H−c_i), and Σ o·L_j ≥ 1.
//! - *Windows.* A byte comes to a rank by a walk of some ℓ hops that goes back over no circuit at once, and whose k-th
//!   hop is crossed in a step that has one of the hops k … H−ℓ+k. Ranks that are y hops from the root or farther have
//!   w_ℓ such walks in the mean, p^ℓ/(n − R(y−1)) at most on any topology, and their k-th circuits are p^k at most. All
//!   bytes cross some of them: Σ_j L_j·min(p^k, Σ_ℓ w_ℓ·[step j has one of the hops]) ≥ 1, since the mean of a least is
//!   at most the least of means. The same counted from the end of the walk.
//!
//! A row of senders or descendants may also stand for hops c within a step, which counts on the side of what is sent:
//! then rows are the same for all divisions of H, and prices of them that no step of any hops exceeds bound them all.

use std::ops::Range;

use crate::covering::{least_sum, prices};
use crate::cutoffs::step_loads::{MOST_PLACES, MOST_WALKED};
use crate::known_topology::{KnownTopology, Root};
use crate::spreading::{ball, least_hops, least_usage, most_steps};

/// Numbers that the rows of all divisions into steps share.
pub(crate) struct StepLoads {
    ranks: f64,
    /// Circuits out of the root.
    out: f64,
    /// Circuits out of a rank, and into one, at most.
    degrees: (f64, f64),
    /// By hops, as far as all ranks: R, S and D.
    reached: Vec<f64>,
    circuits: Vec<f64>,
    descendants: Vec<f64>,
    /// By steps that are left, 1 first, and hops done: links that have to be used by each block.
    uses: Vec<Vec<f64>>,
    /// The farthest ranks: their distance at least, and by hops the number of walks to one of them of no more hops.
    far: Vec<(u32, Vec<f64>)>,
}

/// A requirement on the steps: a row of the program.
enum Need {
    Leave,
    /// After so many hops, by a transfer each.
    Reach(u32),
    /// After so many hops, over so many circuits.
    Use(u32, f64),
    /// Before so many hops are done.
    Depart(u32),
    /// Over the hop of that place on the walks to farthest ranks.
    Cross {
        far: usize,
        place: u32,
        from_end: bool,
    },
}

/// Hops before a step, and with it.
type Span = Range<u32>;

impl StepLoads {
    /// On any topology of so many ports.
    pub(crate) fn new(ranks: u32, ports: u32) -> Self {
        let (n, p) = (f64::from(ranks), f64::from(ports));
        let balls: Vec<f64> = (0..=least_hops(ports, n)).map(|hops| ball(ports, hops).min(n)).collect();
        // Descending balls are ascending numbers of ranks that each has to inform.
        let added: Vec<f64> = balls.iter().rev().map(|held| n / held - 1.0).collect();
        let uses = (1..=most_steps(ports, ranks)).map(|steps| {
            let each = least_usage(ports, steps, &added).into_iter().rev();
            each.zip(&balls).map(|(uses, held)| uses * held).collect()
        });
        let farthest = balls.len() as u32 - 1;
        let far = (farthest.saturating_sub(1).max(1)..=farthest).map(|distance| {
            let ranks = n - balls[distance as usize - 1];
            let walks = (0..MOST_WALKED).map(|hops| if hops < distance { 0.0 } else { p.powi(hops as i32) / ranks });
            (distance, summed(walks))
        });
        Self {
            ranks: n,
            out: p,
            degrees: (p, p),
            circuits: balls.iter().map(|ranks| p * ranks).collect(),
            descendants: balls.clone(),
            uses: uses.collect(),
            far: far.collect(),
            reached: balls,
        }
    }

    /// From a root on a topology that is known; `uses` are the least uses of links by number of steps. `None` where
    /// ranks are too many to look at.
    pub(crate) fn on(known: &KnownTopology, root: &Root, uses: &[f64]) -> Option<Self> {
        let spheres = known.spheres(root.rank)?;
        let farthest = spheres.distances.iter().copied().max()?;
        let within = |most: u32, worth: &dyn Fn(u32) -> f64| {
            let ranks = (0..).zip(&spheres.distances).filter(|(_, distance)| **distance <= most);
            ranks.map(|(rank, _)| worth(rank)).sum::<f64>()
        };
        let far = (farthest.saturating_sub(1).max(1)..=farthest).map(|distance| {
            let is_far = |rank: u32| spheres.distances[rank as usize] >= distance;
            let ranks = spheres.distances.iter().filter(|found| **found >= distance).count() as f64;
            let walks = known.walks(root.rank, MOST_WALKED, is_far).into_iter().map(|walks| walks / ranks);
            (distance, summed(walks))
        });
        Some(Self {
            ranks: spheres.distances.len() as f64,
            out: f64::from(root.out),
            degrees: known.most_circuits(),
            reached: (0..=farthest).map(|hops| within(hops, &|_| 1.0)).collect(),
            circuits: (0..=farthest).map(|hops| within(hops, &|rank| known.circuits_out_of(rank))).collect(),
            uses: uses.iter().map(|uses| vec![*uses]).collect(),
            far: far.collect(),
            descendants: spheres.largest,
        })
    }

    /// Hops from the root to the rank farthest from it, at least.
    pub(crate) fn farthest(&self) -> u32 {
        self.reached.len() as u32 - 1
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

    /// By hops of the longest step, 1 first: Σ L_i at least, for any steps of so many hops in all. O(hops³).
    pub(crate) fn least_of_any(&self, hops: u32) -> Vec<f64> {
        let needs = self.needs(&spans(&vec![1; hops as usize]), false);
        let entries = |span: Span| needs.iter().map(move |need| self.entry(need, &span, hops));
        let rows: Vec<Vec<f64>> = needs
            .iter()
            .map(|need| (0..hops).map(|begin| self.entry(need, &(begin..begin + 1), hops)).collect())
            .collect();
        let prices = prices(&rows);
        let sum: f64 = prices.iter().sum();
        let mut most = 1.0_f64;
        let of_longest = |longest: u32| {
            interruption::check();
            for begin in 0..=hops - longest {
                let paid = entries(begin..begin + longest).zip(&prices).map(|(entry, price)| entry * price);
                most = most.max(paid.sum());
            }
            sum / most
        };
        (1..=hops).map(of_longest).collect()
    }

    /// The rows, each divided by its right side.
    fn rows(&self, hops: &[u32]) -> Vec<Vec<f64>> {
        let steps = spans(hops);
        let all = hops.iter().sum();
        let row = |need: &Need| steps.iter().map(|span| self.entry(need, span, all)).collect();
        self.needs(&steps, true).iter().map(row).collect()
    }

    /// The requirements on these steps: `all`, or those that do not depend on the number of steps.
    fn needs(&self, steps: &[Span], all: bool) -> Vec<Need> {
        let hops = steps.last().map_or(0, |last| last.end);
        let mut needs = vec![Need::Leave];
        for (left, step) in (0..steps.len()).rev().zip(steps) {
            if at(&self.reached, step.start) < self.ranks {
                needs.push(Need::Reach(step.start));
            }
            let used = self.uses.get(left).and_then(|uses| uses.get(step.start as usize)).filter(|uses| **uses > 0.0);
            needs.extend(used.filter(|_| all).map(|uses| Need::Use(step.start, *uses)));
            if at(&self.descendants, hops - step.end) < self.ranks {
                needs.push(Need::Depart(step.end));
            }
        }
        if hops < MOST_WALKED {
            for (far, (distance, _)) in self.far.iter().enumerate() {
                let places = (1..=*distance).step_by(distance.div_ceil(MOST_PLACES) as usize);
                let both = places.flat_map(|place| [(place, false), (place, true)]);
                needs.extend(both.map(|(place, from_end)| Need::Cross { far, place, from_end }));
            }
        }
        needs
    }

    /// The coefficient of a step's load in the row of a requirement, over the right side of that row.
    fn entry(&self, need: &Need, step: &Span, all: u32) -> f64 {
        match *need {
            Need::Leave => self.out,
            Need::Reach(after) if step.end > after => {
                at(&self.circuits, step.start) / (self.ranks - at(&self.reached, after))
            }
            Need::Use(after, uses) if step.end > after => at(&self.circuits, step.end - 1) / uses,
            Need::Depart(before) if step.start < before => {
                let left = self.ranks - at(&self.descendants, all - before);
                self.out * at(&self.descendants, all - step.end) / left
            }
            Need::Cross { far, place, from_end } => {
                let (distance, walks) = &self.far[far];
                // A walk of ℓ hops has a hop of the step in its window where these hold.
                let (starts, longest) = match from_end {
                    false => (place <= step.end, (place + all).saturating_sub(step.start + 1)),
                    true => (all + 1 - place > step.start, step.end + place - 1),
                };
                if !starts || longest < *distance {
                    return 0.0;
                }
                let most = match from_end {
                    false => self.out * self.degrees.0.powi(place as i32 - 1),
                    true => self.degrees.1.powi(place as i32),
                };
                walks[longest.min(all) as usize].min(most)
            }
            Need::Reach(_) | Need::Use(..) | Need::Depart(_) => 0.0,
        }
    }
}

/// The number for so many hops, or for more.
fn at(by_hops: &[f64], hops: u32) -> f64 {
    by_hops[(hops as usize).min(by_hops.len() - 1)]
}

/// Sums from the first on.
fn summed(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |number: f64| {
        sum += number;
        sum
    };
    numbers.map(add).collect()
}

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
    }

    /// The bound for all divisions whose longest step has some length is at most that of each of them.
    #[test]
    fn no_division_is_below_what_holds_for_any() {
        for (ranks, ports) in [(7, 2), (12, 2), (33, 2), (14, 3), (40, 3), (70, 4), (9, 8)] {
            let loads = StepLoads::new(ranks, ports);
            for hops in least_hops(ports, f64::from(ranks))..=9 {
                let any = loads.least_of_any(hops);
                assert!(any[0] <= loads.least(&vec![1; hops as usize]) + 1e-9 && any[0] >= 1.0 / f64::from(ports));
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
                    let any = any[*division.iter().max().unwrap() as usize - 1];
                    let found = loads.least(&division);
                    assert!(any <= found + 1e-9, "{ranks} {ports} {division:?}: {any} {found}");
                }
            }
        }
    }
}
