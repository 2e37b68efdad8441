//! Whether every event has what its node needs, so that it can be followed.

use model::{TrainingEvent, TrainingPlan, Work};

use super::iteration::name;
use crate::report::{Check, Tally};

/// Checks that there is an event for each node, with times, ports and indices that exist, and a plan of its group's
/// size where there is a collective.
pub(super) fn check(training: &TrainingPlan) -> Check {
    let mut tally = Tally::new("events");
    let (events, nodes) = (training.events.len(), training.workload.nodes.len());
    tally.expect(events == nodes, || format!("there are {events} events for {nodes} nodes"));
    tally.expect(training.fabric.reconfiguration.delay().constant_s().is_some(), || {
        "the fabric's reconfiguration delay is not constant".into()
    });
    let gpus = training.fabric.shape.gpus();
    tally.expect(gpus == training.workload.ranks, || {
        format!("the fabric has {gpus} GPUs, and the workload {} ranks", training.workload.ranks)
    });
    if events == nodes && gpus == training.workload.ranks {
        for (event, planned) in training.events.iter().enumerate() {
            let fault = fault(training, event, planned);
            tally.expect(fault.is_none(), || format!("{}: {}", name(training, event), fault.unwrap_or_default()));
        }
    }
    tally.into_check("event", "with what their nodes need")
}

/// The fault of an event by itself, if any.
fn fault(training: &TrainingPlan, event: usize, planned: &TrainingEvent) -> Option<String> {
    let times = [planned.start_s, planned.end_s, planned.reconfiguration_exposed_s];
    if times.iter().any(|time| !(time.is_finite() && *time >= 0.0)) || planned.end_s < planned.start_s {
        return Some("its times must be finite, at least 0 and in order".into());
    }
    if planned.waits_for.is_some_and(|other| other >= training.events.len()) {
        return Some("it waits for an event that does not exist".into());
    }
    let ports = training.fabric.shape.ports();
    if !planned.ports.is_sorted_by(|a, b| a < b) || planned.ports.iter().any(|&port| port >= ports) {
        return Some(format!("its ports must be ascending and below {ports}, the fabric's ports"));
    }
    if planned.plan.is_some_and(|plan| plan >= training.plans.len()) {
        return Some("it has a plan that does not exist".into());
    }
    match training.workload.nodes[event].work {
        Work::Compute { .. } => {
            let is_plain = (planned.plan, planned.topology) == (None, None)
                && planned.ports.is_empty()
                && !planned.reconfigured
                && !planned.returns;
            (!is_plain).then(|| "a computation has a plan, ports or circuits that change".into())
        }
        Work::Collective { .. } if planned.topology.is_some() || planned.direct => {
            Some("a collective has a topology of messages".into())
        }
        Work::Send { .. } if planned.direct && planned.topology.is_some() => {
            Some("a message has circuits of its own and a topology".into())
        }
        Work::Send { .. } if planned.plan.is_some() => Some("a message has a plan of a collective".into()),
        Work::Collective { .. } if planned.plan.is_none() => Some("a collective has no plan".into()),
        _ if planned.ports.is_empty() => Some("a communication has no ports".into()),
        _ => {
            let plan = planned.plan.map(|plan| &training.plans[plan])?;
            let (gpus, groups) = (plan.fabric.shape.gpus(), training.workload.groups_of(event));
            let other = groups.iter().map(Vec::len).find(|&size| size != gpus as usize)?;
            Some(format!("its plan is for {gpus} GPUs, and its groups have {other}"))
        }
    }
}
