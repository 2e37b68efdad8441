//! What one sequence of topologies takes at any operating point, to the last bit of [`Problem::total_s`].
//!
//! Steps that cost the same at every point are priced once. That many of them are added up exactly, and a sum is what
//! exact addition gives, rounded once ([`sum_seconds`]): neither order nor number of its terms shows.

use model::{Fabric, Propagation, Result, StepCost, sum_seconds};
use profile::Front;

use crate::problem::hop_and_load_s;
use crate::{Choice, OperatingPoint};

/// The costs of a sequence, without the operating point. For costs that add up and delays that nothing hides.
#[derive(Clone)]
pub(crate) struct SequenceCost {
    fabric: Fabric,
    propagation: Propagation,
    steps: Vec<EqualSteps>,
    /// Ports that change, and at how many changes of topology so many do.
    changes: Vec<(u64, u32)>,
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
        let mut changes: Vec<(u64, u32)> = Vec::new();
        let before = problem.start.into_iter().chain(choice.candidates.iter().copied());
        for (from, &to) in before.zip(&choice.candidates[usize::from(problem.start.is_none())..]) {
            let (from, to) = (problem.table.candidate(from), problem.table.candidate(to));
            if from.same_links(to) {
                continue;
            }
            // Where the delay does not depend on it, any number of ports stands for all.
            let ports = if problem.fabric.reconfiguration.per_port_s > 0.0 { from.changed_ports(to) } else { 1 };
            match changes.iter_mut().find(|known| known.0 == ports) {
                Some(known) => known.1 += 1,
                None => changes.push((ports, 1)),
            }
        }
        Ok(Self { fabric: problem.fabric.clone(), propagation: problem.settings.propagation, steps, changes })
    }

    /// Completion times at some points, s.
    pub(crate) fn times_s<'a>(&self, points: impl Iterator<Item = &'a OperatingPoint>) -> Vec<f64> {
        let mut fabric = self.fabric.clone();
        let one = |at: &OperatingPoint| {
            at.put_on(&mut fabric);
            self.time_s(&fabric, at.size_bytes)
        };
        points.map(one).collect()
    }

    fn time_s(&self, fabric: &Fabric, size_bytes: u64) -> f64 {
        let steps = self.steps.iter().flat_map(|equal| {
            let bytes = size_bytes as f64 * equal.share;
            let (hop_s, load_s) = hop_and_load_s(fabric, self.propagation, bytes);
            let point = equal.front.cheapest(hop_s, load_s);
            let cost = StepCost::on_point(fabric, self.propagation, bytes, point.hops, point.load);
            cost.terms().into_iter().flat_map(move |term_s| times(term_s, equal.count))
        });
        let changes =
            self.changes.iter().flat_map(|&(ports, count)| times(fabric.reconfiguration.of_ports(ports), count));
        sum_seconds(steps.chain(changes))
    }
}

/// Two numbers whose exact sum is the product: the upper half of the value's digits and the rest, each times the count.
fn times(value: f64, count: u32) -> [f64; 2] {
    const LOWER: u64 = (1 << 27) - 1;
    if count == 1 {
        return [value, 0.0];
    }
    let upper = f64::from_bits(value.to_bits() & !LOWER);
    [upper * f64::from(count), (value - upper) * f64::from(count)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_multiple_is_the_sum_of_its_terms(value in 1e-12f64..1e3, count in 1u32..3000, other in 0f64..1.0) {
            let one_by_one = sum_seconds(std::iter::once(other).chain(std::iter::repeat_n(value, count as usize)));
            let at_once = sum_seconds(times(value, count).into_iter().chain([other]));
            prop_assert_eq!(at_once, one_by_one);
        }
    }
}
