//! What a plan holds, and when it has to begin being set.

use model::{Initial, Plan, Topology, sum_seconds};

/// A topology that is held for some steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Held<'a> {
    /// Index of the topology in the plan; that of an initial one that the plan does not list is the next, as in its
    /// file.
    pub index: usize,
    /// The topology.
    pub topology: &'a Topology,
    /// The steps, from 0; none of an initial topology that is left before the first.
    pub steps: Vec<usize>,
    /// Seconds from the start of the first step at which it has to begin being set.
    pub time_s: f64,
}

/// What `plan` holds, one for each run of steps without a change.
///
/// A configuration begins to be set where the plan charges the change: at the end of the step before. Of a change that
/// is hidden, what the computation before the step does not hide begins so much earlier, while the step before runs.
/// The clock is the plan's, which stands still during such computation. The first configuration has time 0: it is there
/// when the plan starts, unless the plan charges it.
pub(crate) fn of_plan(plan: &Plan) -> Vec<Held<'_>> {
    let mut held: Vec<Held> = Vec::new();
    let initial = match &plan.fabric.initial {
        Initial::Topology(topology) if topology.circuits() > 0 => Some(topology),
        _ => None,
    };
    if let Some(topology) = initial.filter(|_| plan.steps[0].reconfigured) {
        let listed = plan.topologies.iter().position(|listed| listed == topology);
        let index = listed.unwrap_or(plan.topologies.len());
        held.push(Held { index, topology, steps: Vec::new(), time_s: 0.0 });
    }
    let mut terms = Vec::with_capacity(4 * plan.steps.len());
    for (index, step) in plan.steps.iter().enumerate() {
        let topology = &plan.topologies[step.topology];
        match held.last_mut() {
            Some(last) if !step.reconfigured => last.steps.push(index),
            last => {
                let before = last.as_ref().map(|last| last.topology);
                let begun_s = before.map_or(0.0, |before| begun_early_s(plan, before, index));
                let time_s = (sum_seconds(terms.iter().copied()) - begun_s).max(last.map_or(0.0, |last| last.time_s));
                held.push(Held { index: step.topology, topology, steps: vec![index], time_s });
            }
        }
        terms.extend(step.cost.terms());
    }
    held
}

/// Seconds of the change before a step that the step before hides.
fn begun_early_s(plan: &Plan, before: &Topology, step: usize) -> f64 {
    let (policy, after) = (&plan.fabric.reconfiguration, &plan.steps[step]);
    let change = policy.between(before, &plan.topologies[after.topology], plan.fabric.shape.ports());
    if !change.in_background {
        return 0.0;
    }
    (change.delay_s - policy.window_s(step) - after.cost.reconfiguration_s).max(0.0)
}
