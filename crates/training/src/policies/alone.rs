//! Each communication planned by itself, from the resting topology and back to it.

use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::jobs::Kind;
use crate::library::Entry;
use crate::timeline::Use;

pub(super) const POLICY: Policy = Policy {
    name: "alone",
    summary: "each collective planned by itself, from the resting topology and back to it",
    can_be_chosen: true,
    plan,
};

fn plan(context: &mut Context<'_>, _: &[Outcome]) -> Option<Outcome> {
    let uses = context.by_kind(|kind, of| best(context, kind, of, context.library.entries(kind, context.ports())))?;
    let timeline = context.timeline(&uses)?;
    let note = format!("resting topology {}, {}", context.resting_name, shares(context));
    Some(Outcome { policy: POLICY.name, uses, timeline, note, is_shortest: false })
}

/// How the resting topologies share the ports, in words.
pub(super) fn shares(context: &Context<'_>) -> String {
    match &context.resting_split {
        Some(split) if split.len() > 1 => {
            let ports = split.iter().zip(&context.jobs.families);
            let shares: Vec<String> =
                ports.map(|(range, family)| format!("{} for {}", range.1 - range.0, family.label)).collect();
            format!("ports: {}", shares.join(", "))
        }
        Some(_) => format!("on {}", model::counted(u64::from(context.ports()), "port")),
        None => "which has no port for some groups".into(),
    }
}

/// The fastest of: a kind's entries on the ports that rest for its family, with the changes from and to the resting
/// topology; and `on_all`, entries on all ports, which leave the resting topology and return to it.
pub(super) fn best(context: &Context<'_>, kind: usize, of: &Kind, on_all: &[Entry]) -> Option<Use> {
    let delay_s = context.delay_s();
    let resting = context.resting[of.family];
    let own = context.resting_split.as_ref().map_or((0, 0), |split| split[of.family]);
    let at_rest = context.library.entries(kind, own.1 - own.0).iter().filter(|entry| !entry.through).map(|entry| {
        let changes = [entry.first, entry.last].map(|id| if resting == Some(id) { 0.0 } else { delay_s });
        (entry.duration_s + changes[0] + changes[1], Use { ports: own, entry: *entry, returns: Some(resting) })
    });
    let all = (0, context.ports());
    let everywhere = on_all
        .iter()
        .filter(|entry| !entry.through && entry.plan.is_some() | entry.direct)
        .map(|entry| (entry.duration_s + 2.0 * delay_s, Use { ports: all, entry: *entry, returns: Some(None) }));
    at_rest.chain(everywhere).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, used)| used)
}
