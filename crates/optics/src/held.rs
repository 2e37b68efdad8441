//! The topologies that a plan holds, and when each has to begin being set.

use model::{Plan, Reconfiguration, StepCost, Topology, sum_seconds};

/// A topology that is held for some steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Held<'a> {
    /// Index of the topology in the plan.
    pub index: usize,
    /// The topology.
    pub topology: &'a Topology,
    /// The steps, from 0; empty for a topology in force before the plan that is left before the first.
    pub steps: Vec<usize>,
    /// Seconds from the start of the first step at which it has to begin being set, on ports that are dark by then.
    pub time_s: f64,
    /// The plan's charge for setting it; `None` if it is there from the start.
    pub change: Option<PlannedChange>,
}

impl Held<'_> {
    /// The steps of this topology in words, counted from 1.
    pub fn when(&self) -> String {
        match (self.steps.first(), self.steps.last()) {
            (Some(first), Some(last)) if first == last => format!("in step {}", first + 1),
            (Some(first), Some(last)) => format!("in steps {} to {}", first + 1, last + 1),
            _ => "before step 1".to_string(),
        }
    }
}

/// A change as the plan has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedChange {
    /// The step that it is made before, from 0.
    pub step: usize,
    /// Seconds from the start of the first step to the end of the one before it.
    pub from_s: f64,
    /// Seconds of the step before that one, without its own change.
    pub before_s: f64,
    /// Whether the change is made while the step before runs, on ports that are dark then.
    pub in_background: bool,
}

/// The topologies that `plan` holds, one for each run of steps without a change.
///
/// A configuration begins to be set where the plan charges the change: at the end of the step before. The part of a
/// hidden change that the computation before the step does not hide begins earlier by that part, while the step before
/// runs. The clock is the plan's, which stands still during such computation. The first configuration has time 0: it is
/// there when the plan starts, unless the plan charges it.
pub(crate) fn of_plan(plan: &Plan) -> Vec<Held<'_>> {
    let mut held: Vec<Held> = Vec::new();
    let left = plan.before_first().filter(|_| plan.steps[0].reconfigured);
    if let Some((index, topology)) = left.map(|index| (index, &plan.topologies[index]))
        && topology.circuits() > 0
    {
        held.push(Held { index, topology, steps: Vec::new(), time_s: 0.0, change: None });
    }
    let (policy, ports) = (&plan.fabric.reconfiguration, plan.fabric.shape.ports());
    let mut terms = Vec::with_capacity(4 * plan.steps.len());
    for (index, step) in plan.steps.iter().enumerate() {
        interruption::check();
        let topology = &plan.topologies[step.topology];
        match held.last_mut() {
            Some(last) if !step.reconfigured => last.steps.push(index),
            last => {
                let planned = last.as_ref().map(|last| policy.between(last.topology, topology, ports));
                let begun_s = planned.map_or(0.0, |change| begun_early_s(plan, change, index));
                let from_s = sum_seconds(terms.iter().copied());
                let time_s = (from_s - begun_s).max(last.map_or(0.0, |last| last.time_s));
                let change = step.reconfigured.then(|| PlannedChange {
                    step: index,
                    from_s,
                    before_s: index.checked_sub(1).map_or(0.0, |before| own_s(&plan.steps[before].cost)),
                    in_background: planned.is_some_and(|change| change.in_background),
                });
                held.push(Held { index: step.topology, topology, steps: vec![index], time_s, change });
            }
        }
        terms.extend(step.cost.terms());
    }
    held
}

/// Seconds of the change before a step that the step before hides.
fn begun_early_s(plan: &Plan, change: Reconfiguration, step: usize) -> f64 {
    if !change.in_background {
        return 0.0;
    }
    (change.delay_s - plan.fabric.reconfiguration.window_s(step) - plan.steps[step].cost.reconfiguration_s).max(0.0)
}

/// Seconds of a step without its change.
fn own_s(cost: &StepCost) -> f64 {
    StepCost { reconfiguration_s: 0.0, ..*cost }.total_s()
}
