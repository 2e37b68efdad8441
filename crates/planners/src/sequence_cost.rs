//! What one sequence of topologies takes at any operating point, to the last bit of [`Problem::total_s`].
//!
//! Steps that cost the same at every point are priced once. That many of them are added up exactly, and a sum is what
//! exact addition gives, rounded once ([`model::sum_seconds`]): neither order nor number of its terms shows.

use model::{Difference, Fabric, Propagation, ReconfigurationDelay, Result, StepCost};
use profile::Front;

use crate::problem::hop_and_load_s;
use crate::{Choice, OperatingPoint};

/// The costs of a sequence, without the operating point. For costs that add up and delays that nothing hides.
#[derive(Clone)]
pub(crate) struct SequenceCost {
    fabric: Fabric,
    propagation: Propagation,
    /// How many steps there are.
    count: u32,
    steps: Vec<EqualSteps>,
    /// How much changes, and at how many changes of topology so much does.
    changes: Vec<(Difference, u32)>,
}

/// Steps of equal transfers on topologies of equal fronts.
#[derive(Clone)]
struct EqualSteps {
    /// Bytes of the largest transfer over those of a buffer.
    share: f64,
    front: Front,
    count: u32,
}

impl SequenceCost {
    /// That of a choice.
    ///
    /// # Errors
    /// When a step has no path on its topology, which a choice with a finite time never has.
    pub(crate) fn of(choice: &Choice) -> Result<Self> {
        let problem = &choice.problem;
        let mut steps: Vec<EqualSteps> = Vec::new();
        for (step, &candidate) in choice.candidates.iter().enumerate() {
            let share = problem.schedule().steps()[step].share();
            let front = problem.front(step, candidate)?;
            match steps.iter_mut().find(|known| known.share == share && known.front == *front) {
                Some(known) => known.count += 1,
                None => steps.push(EqualSteps { share, front: front.clone(), count: 1 }),
            }
        }
        let delay = problem.fabric.reconfiguration.delay();
        let mut changes: Vec<(Difference, u32)> = Vec::new();
        let before = problem.start.into_iter().chain(choice.candidates.iter().copied());
        for (from, &to) in before.zip(&choice.candidates[usize::from(problem.start.is_none())..]) {
            if from == to {
                continue;
            }
            let [from, to] = [from, to].map(|candidate| delay.compared(problem.table.candidate(candidate)));
            let difference = delay.difference(&from, &to);
            match changes.iter_mut().find(|known| known.0 == difference) {
                Some(known) => known.1 += 1,
                None => changes.push((difference, 1)),
            }
        }
        let count = choice.candidates.len() as u32;
        Ok(Self { fabric: problem.fabric.clone(), propagation: problem.settings.propagation, count, steps, changes })
    }

    /// Completion times at some points, s.
    pub(crate) fn times_s<'a>(&self, points: impl Iterator<Item = &'a OperatingPoint>) -> Vec<f64> {
        let mut fabric = self.fabric.clone();
        let one = |at: &OperatingPoint| {
            fabric.bandwidth_bps = at.bandwidth_bps;
            fabric.startup_s = at.startup_s;
            fabric.hop_delay_s = at.hop_delay_s;
            let delay = fabric.reconfiguration.delay().with_fixed_s(at.reconfiguration_delay_s);
            self.time_s(&fabric, &delay, at.size_bytes)
        };
        points.map(one).collect()
    }

    fn time_s(&self, fabric: &Fabric, delay: &ReconfigurationDelay, size_bytes: u64) -> f64 {
        let mut sum = ExactSum::default();
        for equal in &self.steps {
            let bytes = size_bytes as f64 * equal.share;
            let point = match equal.front.points() {
                [only] => *only,
                _ => {
                    let (hop_s, load_s) = hop_and_load_s(fabric, self.propagation, bytes);
                    equal.front.cheapest(hop_s, load_s)
                }
            };
            let cost = StepCost::on_point(fabric, self.propagation, bytes, point.hops, point.load);
            sum.add_times(cost.propagation_s, equal.count);
            sum.add_times(cost.transmission_s, equal.count);
        }
        sum.add_times(fabric.startup_s, self.count);
        for &(difference, count) in &self.changes {
            sum.add_times(delay.seconds(difference), count);
        }
        sum.rounded()
    }
}

/// A sum and what rounding lost of it, as in [`model::sum_seconds`].
#[derive(Default)]
struct ExactSum {
    sum: f64,
    lost: f64,
}

impl ExactSum {
    fn add(&mut self, term: f64) {
        let next = self.sum + term;
        let part = next - self.sum;
        self.lost += (self.sum - (next - part)) + (term - part);
        self.sum = next;
    }

    /// Adds a term so many times. Where the product has more digits than a number, it is that of the upper half of the
    /// term's digits and that of the lower half, which have not.
    fn add_times(&mut self, term: f64, count: u32) {
        const LOWER_HALF: u64 = (1 << 27) - 1;
        if count.is_power_of_two() {
            self.add(term * f64::from(count));
        } else {
            let upper = f64::from_bits(term.to_bits() & !LOWER_HALF);
            self.add(upper * f64::from(count));
            self.add((term - upper) * f64::from(count));
        }
    }

    fn rounded(&self) -> f64 {
        self.sum + self.lost
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
            let mut at_once = ExactSum::default();
            at_once.add_times(value, count);
            at_once.add(other);
            prop_assert_eq!(at_once.rounded(), one_by_one);
        }
    }
}
