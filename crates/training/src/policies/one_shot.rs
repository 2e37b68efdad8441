//! The best single topology of each family and the best split of the ports, set before the iteration and never changed.

use std::collections::BTreeMap;

use interruption::Interruptible;
use rayon::prelude::*;

use super::kept::{OnTopology, best_kept, on_named, told};
use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::group_plans::is_large;
use crate::library::{Entry, TopologyId};
use crate::ports::{Ports, alike, width};
use crate::splits::Split;

pub(super) const POLICY: Policy = Policy {
    name: "one-shot",
    title: "best fixed circuits",
    summary: "the best single topology and split of the ports, set before the iteration",
    can_be_chosen: true,
    plan,
};

/// A topology that is tried whether any plan begins with it or not: messages to the next rank take one hop.
const TRIED: &str = "ring:one-way";

fn plan(context: &mut Context<'_>, _: &[Outcome]) -> Option<Outcome> {
    let served = |split: &&Vec<(u32, u32)>| split.iter().all(|range| range.1 > range.0);
    let splits: Vec<Split> = context.splits.iter().filter(served).cloned().collect();
    let mut given: BTreeMap<(usize, Ports), Option<(TopologyId, OnTopology)>> = BTreeMap::new();
    for (family, range) in splits.iter().flat_map(|split| split.iter().enumerate()) {
        let ports = alike(context.library.group_plans.fabric, *range);
        let size = context.jobs.families[family].size;
        let is_tried = given.contains_key(&(family, ports)) || is_large(size, width(ports));
        if !is_tried {
            given.insert((family, ports), on_named(context, family, ports, TRIED));
        }
    }
    let context = &*context;
    let found: Vec<_> = splits
        .par_iter()
        .interruptible()
        .filter_map(|split| {
            let of_family = |family: usize, ports: Ports| {
                let own = alike(context.library.group_plans.fabric, ports);
                let given = given.get(&(family, own)).cloned().flatten();
                candidates(context, family, ports).into_iter().chain(given).collect()
            };
            Some((best_kept(context, split, of_family)?, split))
        })
        .collect();
    let (((uses, timeline), topologies), split) =
        found.into_iter().min_by(|a, b| a.0.0.1.total_s.total_cmp(&b.0.0.1.total_s))?;
    let note = told(context, split, &topologies);
    Some(Outcome::new(&POLICY, uses, timeline, note))
}

/// The topologies of the library, each with the fastest entries that keep it.
fn candidates(context: &Context<'_>, family: usize, ports: Ports) -> Vec<(TopologyId, OnTopology)> {
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
