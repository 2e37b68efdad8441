//! An ideal packet switch: every communication over all ports, every pair one hop apart, nothing to reconfigure.

use std::collections::BTreeMap;

use model::Collective;

use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::jobs::{Kind, Message};
use crate::library::Entry;
use crate::orders::quickly;
use crate::ports::{self, Ports, alike};
use crate::timeline::{Problem, Use};

pub(super) const POLICY: Policy = Policy {
    name: "packet-switch",
    title: "ideal packet switch",
    summary: "an ideal packet switch, which has nothing to reconfigure: for comparison",
    can_be_chosen: false,
    plan,
};

fn plan(context: &mut Context<'_>, before: &[Outcome]) -> Option<Outcome> {
    let all_ports = (0, context.ports());
    let alike = |ports: Ports| alike(context.library.group_plans.fabric, ports);
    let mut seconds: BTreeMap<(usize, Ports), f64> = BTreeMap::new();
    for (kind, of) in context.jobs.kinds.iter().enumerate() {
        for &ports in &context.alike_ports[of.family] {
            interruption::check();
            seconds.insert((kind, ports), ideal_s(context, kind, of, ports));
        }
    }
    let ideal = |kind: usize, used: &Use| {
        let duration_s = seconds[&(kind, alike(used.ports))];
        Some(Use { entry: Entry { duration_s, ..used.entry }, returns: None, ..*used })
    };
    let all = context.by_kind(|kind, _| {
        let entry = context.library.entries(kind, all_ports).first()?;
        ideal(kind, &Use { ports: all_ports, entry: *entry, returns: None })
    })?;
    let mut choices = vec![all];
    for outcome in before {
        let uses = outcome.uses.iter().zip(&context.jobs.jobs).map(|(used, job)| match (&job.task, used) {
            (crate::jobs::Task::Communicate { kind, .. }, Some(used)) => ideal(*kind, used),
            _ => None,
        });
        choices.push(uses.collect());
    }
    let timed = choices.into_iter().filter_map(|uses| {
        let found = quickly(&Problem { delay_s: 0.0, limits: None, ..context.problem(&uses) })?;
        Some((uses, found))
    });
    // A plan for circuits runs on such a switch as it is.
    let as_planned = before.iter().map(|outcome| (outcome.uses.clone(), outcome.timeline.clone()));
    let (uses, timeline) = timed.chain(as_planned).min_by(|a, b| a.1.total_s.total_cmp(&b.1.total_s))?;
    let note = "all pairs one hop apart".to_string();
    Some(Outcome::new(&POLICY, uses, timeline, note))
}

/// The least of what plans take without their changes, and one step between all pairs.
fn ideal_s(context: &Context<'_>, kind: usize, of: &Kind, ports: Ports) -> f64 {
    let step_s = |bytes: f64| {
        let fabric = context.library.group_plans.fabric;
        let byte_s = 8.0 / ports::fastest_bps(fabric, ports);
        fabric.startup_s + fabric.hop_delay_s + byte_s * bytes / ports::circuits(fabric, ports)
    };
    let size = f64::from(context.jobs.families[of.family].size);
    let (m, share) = (of.size_bytes as f64, 1.0 - 1.0 / size);
    let at_once_s = match &of.message {
        Message::Send(_) => step_s(m),
        Message::Collective(Collective::AllReduce) => (2.0 * step_s(m * share)).min(step_s(m * (size - 1.0))),
        Message::Collective(Collective::Broadcast | Collective::Reduce) => step_s(m * (size - 1.0)),
        Message::Collective(_) => step_s(of.matrix.as_ref().map_or(m * share, |matrix| matrix.busiest_exchange())),
    };
    let entries = context.library.entries(kind, ports).iter().filter_map(|entry| entry.plan);
    let without = entries.map(|plan| {
        let plan = &context.library.plans[plan];
        plan.total_s() - plan.steps.iter().map(|step| step.cost.reconfiguration_s).sum::<f64>()
    });
    without.fold(at_once_s, f64::min)
}
