//! A topology for each family that stays for the whole iteration.

use crate::context::Context;
use crate::cutoffs::kept::MOST_TOGETHER;
use crate::jobs::Message;
use crate::library::{Entry, TopologyId};
use crate::lit::fits_at_once;
use crate::overlap::Timed;
use crate::ports::Ports;
use crate::splits::Split;
use crate::timeline::Use;

/// By kind: the entry that it runs by on the family's topology.
pub(super) type OnTopology = Vec<Option<Entry>>;

/// A named topology of a family's groups on some ports, with the entries that keep it; `None` where they cannot have
/// it.
pub(super) fn on_named(
    context: &mut Context<'_>,
    family: usize,
    ports: Ports,
    name: &str,
) -> Option<(TopologyId, OnTopology)> {
    let topology = context.library.named(family, ports, name).ok()?;
    let jobs = context.jobs;
    let mut entries: OnTopology = Vec::with_capacity(jobs.kinds.len());
    for (kind, of) in jobs.kinds.iter().enumerate() {
        let entry = match &of.message {
            _ if of.family != family => None,
            Message::Send(_) => context.library.message_over(kind, ports, topology),
            // Planners of given algorithms have only one for a matrix, its matchings one by one.
            Message::Collective(_) if of.matrix.is_some() => context.library.staying(kind, ports, topology),
            Message::Collective(_) => {
                context.library.by_planner(kind, ports, "static", None, Some(topology)).ok().flatten()
            }
        };
        entries.push(entry.filter(|entry| entry.keeps));
    }
    Some((topology, entries))
}

/// A topology of a family: the time of all its communications on it, s, and their entries.
type Kept = (f64, TopologyId, OnTopology);

/// The timeline where each family keeps a topology on its ports, the one that its communications take the least time on
/// in all; with the topologies. Where the optical layer limits circuits, the first that are there at once, from the
/// least time on. `None` where some family has no topology that serves all of its kinds, or groups that share ranks, so
/// that circuits would change between them.
pub(super) fn best_kept(
    context: &Context<'_>,
    split: &Split,
    candidates: impl Fn(usize, Ports) -> Vec<(TopologyId, OnTopology)>,
) -> Option<(Timed, Vec<TopologyId>)> {
    let counts = context.counts();
    let mut of_families: Vec<Vec<Kept>> = Vec::with_capacity(split.len());
    for (family, &ports) in split.iter().enumerate() {
        let kinds: Vec<usize> = (0..counts.len()).filter(|&kind| context.jobs.kinds[kind].family == family).collect();
        let mut of_family: Vec<Kept> = Vec::new();
        for (topology, entries) in candidates(family, ports) {
            interruption::check();
            let all: Option<f64> =
                kinds.iter().map(|&kind| Some(entries[kind]?.duration_s * counts[kind] as f64)).sum();
            of_family.extend(all.map(|all_s| (all_s, topology, entries)));
        }
        of_family.sort_by(|a, b| a.0.total_cmp(&b.0));
        if context.layer.is_none() {
            of_family.truncate(1);
        }
        of_families.push(of_family);
    }
    together(&of_families).into_iter().find_map(|kept| timed(context, split, &kept))
}

/// A topology of each family, in every way, the least time first; of the best of each where there are too many ways.
fn together(of_families: &[Vec<Kept>]) -> Vec<Vec<&Kept>> {
    let mut all: Vec<Vec<&Kept>> = vec![Vec::new()];
    for of_family in of_families {
        let most = (MOST_TOGETHER / all.len().max(1)).max(1);
        all = all
            .into_iter()
            .flat_map(|chosen| {
                of_family.iter().take(most).map(move |kept| chosen.iter().copied().chain([kept]).collect())
            })
            .collect();
    }
    let time_s = |chosen: &[&Kept]| chosen.iter().map(|kept| kept.0).sum::<f64>();
    all.sort_by(|a, b| time_s(a).total_cmp(&time_s(b)));
    all
}

/// The timeline on these topologies; `None` where circuits would change.
fn timed(context: &Context<'_>, split: &Split, kept: &[&Kept]) -> Option<(Timed, Vec<TopologyId>)> {
    let mut chosen: Vec<Option<Use>> = vec![None; context.jobs.kinds.len()];
    for (kind, of) in context.jobs.kinds.iter().enumerate() {
        let (_, _, entries) = kept[of.family];
        chosen[kind] = entries[kind].map(|entry| Use { ports: split[of.family], entry, returns: None });
    }
    let uses = context.by_kind(|kind, _| chosen[kind])?;
    if !fits_at_once(&context.problem(&uses)) {
        return None;
    }
    let timeline = context.timeline(&uses)?;
    if timeline.events.iter().any(|event| event.reconfigured) {
        return None;
    }
    Some(((uses, timeline), kept.iter().map(|(_, topology, _)| *topology).collect()))
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
