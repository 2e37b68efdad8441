//! A topology for each family that stays for the whole iteration.

use crate::context::Context;
use crate::jobs::Message;
use crate::library::{Entry, TopologyId};
use crate::overlapped::Timed;
use crate::splits::Split;
use crate::timeline::Use;

/// By kind: the entry that it runs by on the family's topology.
pub(super) type OnTopology = Vec<Option<Entry>>;

/// A named topology of a family's groups on some ports, with the entries that keep it; `None` where they cannot have
/// it.
pub(super) fn on_named(
    context: &mut Context<'_>,
    family: usize,
    ports: u32,
    name: &str,
) -> Option<(TopologyId, OnTopology)> {
    let topology = context.library.named(family, ports, name).ok()?;
    let jobs = context.jobs;
    let mut entries: OnTopology = Vec::with_capacity(jobs.kinds.len());
    for (kind, of) in jobs.kinds.iter().enumerate() {
        let entry = match &of.message {
            _ if of.family != family => None,
            Message::Send(_) => context.library.message_over(kind, topology),
            // For a matrix, planners of single algorithms have one algorithm: its matchings one by one.
            Message::Collective(_) if of.matrix.is_some() => context.library.staying(kind, ports, topology),
            Message::Collective(_) => {
                context.library.by_planner(kind, ports, "static", None, Some(topology)).ok().flatten()
            }
        };
        entries.push(entry.filter(|entry| entry.keeps));
    }
    Some((topology, entries))
}

/// The timeline where each family keeps a topology on its ports, the one that its communications take the least time on
/// in all; with the topologies. `None` where some family has no topology that serves all of its kinds, or groups that
/// share ranks, so that circuits would change between them.
pub(super) fn best_kept(
    context: &Context<'_>,
    split: &Split,
    candidates: impl Fn(usize, u32) -> Vec<(TopologyId, OnTopology)>,
) -> Option<(Timed, Vec<TopologyId>)> {
    let counts = context.counts();
    let mut chosen: Vec<Option<Use>> = vec![None; context.jobs.kinds.len()];
    let mut topologies = Vec::new();
    for (family, &ports) in split.iter().enumerate() {
        let kinds: Vec<usize> = (0..counts.len()).filter(|&kind| context.jobs.kinds[kind].family == family).collect();
        let mut best: Option<(f64, TopologyId, OnTopology)> = None;
        for (topology, entries) in candidates(family, ports.1 - ports.0) {
            interruption::check();
            let all: Option<f64> =
                kinds.iter().map(|&kind| Some(entries[kind]?.duration_s * counts[kind] as f64)).sum();
            if let Some(all_s) = all
                && best.as_ref().is_none_or(|(best_s, ..)| all_s < *best_s)
            {
                best = Some((all_s, topology, entries));
            }
        }
        let (_, topology, entries) = best?;
        topologies.push(topology);
        for kind in kinds {
            chosen[kind] = entries[kind].map(|entry| Use { ports, entry, returns: None });
        }
    }
    let uses = context.by_kind(|kind, _| chosen[kind])?;
    let timeline = context.timeline(&uses)?;
    if timeline.events.iter().any(|event| event.reconfigured) {
        return None;
    }
    Some(((uses, timeline), topologies))
}

/// The kept circuits, in words.
pub(super) fn told(context: &Context<'_>, split: &Split, topologies: &[TopologyId]) -> String {
    let families = split.iter().zip(topologies).zip(&context.jobs.families);
    let told = families.map(|((ports, topology), family)| {
        let ports = model::counted(u64::from(ports.1 - ports.0), "port");
        format!("{}: {} on {ports}", family.label, context.library.name(*topology))
    });
    told.collect::<Vec<_>>().join("; ")
}
