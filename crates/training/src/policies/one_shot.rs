//! The best single topology of each family and the best split of the ports, set before the iteration and never changed.

use rayon::prelude::*;

use super::kept::{OnTopology, best_kept, told};
use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::library::{Entry, TopologyId};

pub(super) const POLICY: Policy = Policy {
    name: "one-shot",
    summary: "the best single topology and split of the ports, set before the iteration",
    can_be_chosen: true,
    plan,
};

fn plan(context: &mut Context<'_>, _: &[Outcome]) -> Option<Outcome> {
    let served = |split: &&Vec<(u32, u32)>| split.iter().all(|range| range.1 > range.0);
    let splits: Vec<&Vec<(u32, u32)>> = context.splits.iter().filter(served).collect();
    let context = &*context;
    let found: Vec<_> = splits
        .par_iter()
        .filter_map(|split| {
            Some((best_kept(context, split, |family, ports| candidates(context, family, ports))?, *split))
        })
        .collect();
    let (((uses, timeline), topologies), split) =
        found.into_iter().min_by(|a, b| a.0.0.1.total_s.total_cmp(&b.0.0.1.total_s))?;
    let note = told(context, split, &topologies);
    Some(Outcome { policy: POLICY.name, uses, timeline, note, is_shortest: false })
}

/// The topologies of the library, each with the fastest entries that keep it.
fn candidates(context: &Context<'_>, family: usize, ports: u32) -> Vec<(TopologyId, OnTopology)> {
    let on = |topology: TopologyId| {
        let kinds = context.jobs.kinds.iter().enumerate().map(|(kind, of)| {
            let entries = if of.family == family { context.library.entries(kind, ports) } else { &[] };
            let stays = |entry: &&Entry| entry.keeps && entry.first == topology;
            entries.iter().filter(stays).min_by(|a, b| a.duration_s.total_cmp(&b.duration_s)).copied()
        });
        (topology, kinds.collect())
    };
    context.library.topologies(family, ports).into_iter().map(on).collect()
}
