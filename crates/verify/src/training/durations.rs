//! The durations of events.

use std::collections::BTreeMap;

use model::{Plan, Work, sum_seconds};

use super::held_ports::rates_bps;
use super::iteration::{Iteration, show_apart};
use crate::report::{Check, Tally};

/// Checks the duration of every event; `routed_s` has those of messages over circuits of a group, as far as there are
/// any.
pub(super) fn check(iteration: &Iteration<'_>, routed_s: &BTreeMap<usize, f64>) -> Check {
    let mut tally = Tally::new("durations");
    let fabric = &iteration.training.fabric;
    for (event, planned) in iteration.training.events.iter().enumerate() {
        let takes_s = match iteration.work(event) {
            Work::Compute { duration_s, .. } => Some(*duration_s),
            Work::Collective { .. } => iteration.plan(event).map(without_first_change),
            Work::Send { size_bytes, .. } if planned.direct => {
                let rate_bps: f64 = rates_bps(fabric, &planned.ports).into_iter().sum();
                Some(fabric.startup_s + fabric.hop_delay_s + 8.0 * *size_bytes as f64 / rate_bps)
            }
            Work::Send { .. } => routed_s.get(&event).copied(),
        };
        let Some(takes_s) = takes_s else { continue };
        let stated_s = planned.end_s - planned.start_s;
        tally.expect(iteration.is_at(stated_s, takes_s), || {
            let [stated, takes] = show_apart([stated_s, takes_s]);
            format!("{}: its stated time is {stated}, but it takes {takes}", iteration.name(event))
        });
    }
    tally.into_check("event", "that take as long as recomputed")
}

/// A plan's time but for a change of circuits before its first step, which the iteration's ports decide about.
fn without_first_change(plan: &Plan) -> f64 {
    let first = plan.steps.first().map_or(0.0, |step| step.cost.reconfiguration_s);
    sum_seconds(plan.steps.iter().flat_map(|step| step.cost.terms()).chain([-first]))
}
