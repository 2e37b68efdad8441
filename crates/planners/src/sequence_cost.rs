//! The time of one sequence of topologies at any operating point, to the last bit of [`Problem::total_s`].
//!
//! Steps that cost the same at every point are priced once. The costs of many such steps are added up exactly, and a
//! sum is what exact addition gives, rounded once ([`model::sum_seconds`]): neither order nor number of its terms
//! shows.

use fronts::{Front, Point};
use model::{Difference, Fabric, HopDelays, Result};

use crate::{Choice, OperatingPoint};

/// The costs of a sequence, without the operating point. For costs that add up and delays that nothing hides.
#[derive(Clone)]
pub(crate) struct SequenceCost {
    fabric: Fabric,
    /// Number of steps.
    count: u32,
    steps: Vec<EqualSteps>,
    /// Amounts of change, and the number of changes of topology with each amount.
    changes: Vec<(Difference, u32)>,
}

/// Steps of equal transfers on topologies of equal fronts.
#[derive(Clone)]
struct EqualSteps {
    /// Bytes of the largest transfer over those of a buffer.
    share: f64,
    delays: HopDelays,
    front: Front,
    count: u32,
}

impl SequenceCost {
    /// The cost of a choice.
    ///
    /// # Errors
    /// When a step has no path on its topology, which a choice with a finite time never has.
    pub(crate) fn of(choice: &Choice) -> Result<Self> {
        let problem = &choice.problem;
        let mut steps: Vec<EqualSteps> = Vec::new();
        for (step, &candidate) in choice.candidates.iter().enumerate() {
            let (share, delays) = (problem.schedule().steps()[step].share(), problem.hop_delays(step));
            let front = problem.front(step, candidate)?;
            let alike =
                |known: &&mut EqualSteps| known.share == share && known.delays == delays && known.front == *front;
            match steps.iter_mut().find(alike) {
                Some(known) => known.count += 1,
                None => steps.push(EqualSteps { share, delays, front: front.clone(), count: 1 }),
            }
        }
        let delay = problem.fabric.reconfiguration.delay();
        let mut changes: Vec<(Difference, u32)> = Vec::new();
        for (from, to) in problem.changes_of(&choice.candidates) {
            let [from, to] = [from, to].map(|candidate| delay.compared(problem.table.candidate(candidate)));
            let difference = delay.difference(&from, &to);
            match changes.iter_mut().find(|known| known.0 == difference) {
                Some(known) => known.1 += 1,
                None => changes.push((difference, 1)),
            }
        }
        let count = choice.candidates.len() as u32;
        Ok(Self { fabric: problem.fabric.clone(), count, steps, changes })
    }

    /// Completion times at some points, s. Term by term for all points, so that compilers add several points at once.
    pub(crate) fn times_s(&self, points: &[&OperatingPoint]) -> Vec<f64> {
        let of_fabric = |number: fn(&Fabric) -> f64| -> Vec<f64> {
            let mut fabric = self.fabric.clone();
            let one = |at: &&OperatingPoint| {
                (fabric.bandwidth_bps, fabric.startup_s) = (at.bandwidth_bps, at.startup_s);
                fabric.hop_delay_s = at.hop_delay_s;
                number(&fabric)
            };
            points.iter().map(one).collect()
        };
        let (byte_s, hop_s) = (of_fabric(Fabric::byte_s), of_fabric(|fabric| fabric.hop_delay_s));
        let mut sums = ExactSums::new(points.len());
        for equal in &self.steps {
            let bytes: Vec<f64> = points.iter().map(|at| at.size_bytes as f64 * equal.share).collect();
            let cost = |point: &Point, at: usize| {
                (hop_s[at] * equal.delays.count(point.hops, point.load), byte_s[at] * bytes[at] * point.load)
            };
            if let [only] = equal.front.points() {
                sums.add_times(equal.count, |at| cost(only, at).0);
                sums.add_times(equal.count, |at| cost(only, at).1);
            } else {
                let cheapest = |at: usize| {
                    let (hop_s, load_s) = equal.delays.hop_and_load_s(hop_s[at], byte_s[at] * bytes[at]);
                    cost(&equal.front.cheapest(hop_s, load_s), at)
                };
                let costs: Vec<(f64, f64)> = (0..points.len()).map(cheapest).collect();
                sums.add_times(equal.count, |at| costs[at].0);
                sums.add_times(equal.count, |at| costs[at].1);
            }
        }
        sums.add_times(self.count, |at| points[at].startup_s);
        let beside = self.fabric.reconfiguration.delay().with_fixed_s(0.0);
        for &(difference, count) in self.changes.iter().filter(|change| change.0 != Difference::NONE) {
            let beside_s = beside.seconds(difference);
            sums.add_times(count, |at| points[at].reconfiguration_delay_s + beside_s);
        }
        sums.rounded()
    }
}

/// Sums and what rounding lost of each, as in [`model::sum_seconds`].
struct ExactSums {
    sums: Vec<f64>,
    lost: Vec<f64>,
}

impl ExactSums {
    fn new(count: usize) -> Self {
        Self { sums: vec![0.0; count], lost: vec![0.0; count] }
    }

    /// Adds a term to every sum.
    fn add(&mut self, term: impl Fn(usize) -> f64) {
        for (at, (sum, lost)) in self.sums.iter_mut().zip(&mut self.lost).enumerate() {
            let term = term(at);
            let next = *sum + term;
            let part = next - *sum;
            *lost += (*sum - (next - part)) + (term - part);
            *sum = next;
        }
    }

    /// Adds a term this many times to every sum. Where the product has more digits than a number, it is that of the
    /// upper half of the term's digits and that of the lower half, which have not.
    fn add_times(&mut self, count: u32, term: impl Fn(usize) -> f64) {
        const LOWER_HALF: u64 = (1 << 27) - 1;
        let times = f64::from(count);
        if count.is_power_of_two() {
            self.add(|at| term(at) * times);
        } else {
            let upper = |at| f64::from_bits(term(at).to_bits() & !LOWER_HALF);
            self.add(|at| upper(at) * times);
            self.add(|at| (term(at) - upper(at)) * times);
        }
    }

    fn rounded(self) -> Vec<f64> {
        self.sums.iter().zip(&self.lost).map(|(sum, lost)| sum + lost).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::sum_seconds;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_multiple_is_the_sum_of_its_terms(value in 1e-12f64..1e3, count in 1u32..3000, other in 0f64..1.0) {
            let one_by_one = sum_seconds(std::iter::once(other).chain(std::iter::repeat_n(value, count as usize)));
            let mut at_once = ExactSums::new(1);
            at_once.add_times(count, |_| value);
            at_once.add(|_| other);
            prop_assert_eq!(at_once.rounded(), [one_by_one]);
        }
    }
}
