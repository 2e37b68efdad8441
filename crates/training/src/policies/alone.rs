//! The policy that plans each communication by itself, from the resting topology and back to it.

use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::jobs::Kind;
use crate::library::{Entry, TopologyId};
use crate::timeline::Use;

pub(super) const POLICY: Policy = Policy {
    name: "alone",
    title: "per-collective",
    summary: "each collective planned by itself, from the resting topology and back to it",
    can_be_chosen: true,
    plan,
};

fn plan(context: &mut Context<'_>, _: &[Outcome]) -> Option<Outcome> {
    let uses =
        context.by_kind(|kind, of| best(context, kind, of, context.library.entries(kind, (0, context.ports()))))?;
    let timeline = context.timeline(&uses)?;
    Some(Outcome::new(&POLICY, uses, timeline, note(context)))
}

/// The resting topology and the division of the ports between the groups, in words.
pub(super) fn note(context: &Context<'_>) -> String {
    if context.layer.is_some() {
        return "no resting topology on this optical layer: circuits stay as they are".into();
    }
    let shares = match &context.resting_split {
        Some(split) if split.len() > 1 => {
            let ports = split.iter().zip(&context.jobs.families);
            let shares: Vec<String> =
                ports.map(|(range, family)| format!("{} for {}", range.1 - range.0, family.label)).collect();
            format!("ports: {}", shares.join(", "))
        }
        Some(_) => format!("on {}", model::counted(u64::from(context.ports()), "port")),
        None => "no port left for some groups".into(),
    };
    format!("resting topology {}, {shares}", context.resting_name)
}

/// The fastest of: a kind's entries on the ports that rest for its family, and `on_all`, entries on all ports; with the
/// changes before and after each.
pub(super) fn best(context: &Context<'_>, kind: usize, of: &Kind, on_all: &[Entry]) -> Option<Use> {
    let own = context.resting_split.as_ref().map_or((0, 0), |split| split[of.family]);
    let at_rest = context.library.entries(kind, own).iter().map(|entry| (own, entry));
    let everywhere = on_all.iter().filter(|entry| entry.plan.is_some() | entry.direct);
    let all = everywhere.map(|entry| ((0, context.ports()), entry));
    let used = at_rest.chain(all).filter(|(_, entry)| !entry.through).map(|(ports, entry)| {
        let used = Use { ports, entry: *entry, returns: returns(context, of.family, ports) };
        (entry.duration_s + changes_s(context, &used), used)
    });
    used.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, used)| used)
}

/// Where ports go back to after a communication of a family: to its resting topology on the ports that rest for it; on
/// others to any family's resting topology. Where no family rests, the present circuits are kept.
pub(super) fn returns(context: &Context<'_>, family: usize, ports: (u32, u32)) -> Option<Option<TopologyId>> {
    let split = context.resting_split.as_ref()?;
    let resting = &context.resting;
    if ports == split[family] && resting[family].is_some() {
        return Some(resting[family]);
    }
    let mut others = split.iter().zip(resting).filter(|(_, resting)| resting.is_some());
    others.any(|(own, _)| own.0 < ports.1 && ports.0 < own.1).then_some(None)
}

/// Seconds of the changes before and after a communication by itself. If its last circuits are kept, this is the change
/// between it and the next communication of its kind.
pub(super) fn changes_s(context: &Context<'_>, used: &Use) -> f64 {
    let Entry { first, last, .. } = used.entry;
    let changes = match used.returns {
        None => u8::from(first != last),
        Some(resting) => u8::from(resting != Some(first)) + u8::from(resting != Some(last)),
    };
    context.delay_s() * f64::from(changes)
}
