//! Circuits of GPUs that only forward: they have those of the start, and lose some of them to the ranks at most.

use std::collections::BTreeMap;

use model::{Plan, Rank, Topology};

use crate::report::{Check, Tally};

/// Checks, where other GPUs than the ranks forward, that circuits between two of them are those of the initial topology
/// in every topology, and that no circuit between one of them and a rank is set up that was not there at the start.
/// `None` where all GPUs are ranks.
///
/// Costs O(circuits of all topologies · log circuits).
pub(crate) fn check(plan: &Plan) -> Option<Check> {
    if plan.chunks.forwarding() == 0 {
        return None;
    }
    let mut tally = Tally::new("others");
    let ranks = plan.chunks.members();
    let start = plan.fabric.initial.given();
    if tally
        .expect(start.is_some(), || "other GPUs forward, and no initial topology has circuits of theirs".to_string())
        && let Some(start) = start
    {
        let had = circuits_of_others(start, ranks);
        for topology in &plan.topologies {
            interruption::check();
            let has = circuits_of_others(topology, ranks);
            for (&(src, dst), &count) in has.iter().chain(had.iter().filter(|(pair, _)| !has.contains_key(pair))) {
                let before = had.get(&(src, dst)).copied().unwrap_or(0);
                let now = if has.contains_key(&(src, dst)) { count } else { 0 };
                let between_others = src >= ranks && dst >= ranks;
                tally.expect(if between_others { now == before } else { now <= before }, || {
                    let name = topology.name();
                    format!("topology `{name}` has {now} circuits {src} → {dst}, where the start has {before}")
                });
            }
        }
    }
    Some(tally.into_check("pair", "of GPUs with circuits of those that only forward, none of them set up"))
}

/// Circuits by source and destination, of those that end at a GPU which is no rank.
fn circuits_of_others(topology: &Topology, ranks: u32) -> BTreeMap<(Rank, Rank), u32> {
    let of_others = topology.expanded().into_iter().filter(|link| link.src.max(link.dst) >= ranks);
    of_others.map(|link| ((link.src, link.dst), link.count)).collect()
}
