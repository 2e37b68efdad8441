//! Rings and tori that never change: every family's groups on a ring or torus of their own, on an even share of the
//! ports.

use std::collections::BTreeMap;

use super::kept::{OnTopology, best_kept, on_named, told};
use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::library::TopologyId;
use crate::splits::even;

pub(super) const POLICY: Policy = Policy {
    name: "static",
    title: "fixed tori",
    summary: "the best of rings and tori along the axes, with even shares of the ports, never changed",
    can_be_chosen: true,
    plan,
};

fn plan(context: &mut Context<'_>, _: &[Outcome]) -> Option<Outcome> {
    let families = context.jobs.families.len();
    if families == 0 || families > context.ports() as usize {
        return None;
    }
    let split = even(families, context.ports());
    let mut known: BTreeMap<usize, Vec<(TopologyId, OnTopology)>> = BTreeMap::new();
    for (family, &ports) in split.iter().enumerate() {
        let mut of_family: Vec<(TopologyId, OnTopology)> = Vec::new();
        for name in names(context.jobs.families[family].size) {
            let Some((topology, entries)) = on_named(context, family, ports, &name) else { continue };
            if !of_family.iter().any(|(known, _)| *known == topology) {
                of_family.push((topology, entries));
            }
        }
        known.insert(family, of_family);
    }
    let context = &*context;
    let ((uses, timeline), topologies) = best_kept(context, &split, |family, _| known[&family].clone())?;
    let note = told(context, &split, &topologies);
    Some(Outcome::new(&POLICY, uses, timeline, note))
}

/// The ring, and the most nearly square and cubic tori of this many ranks.
fn names(size: u32) -> Vec<String> {
    let mut names = vec!["ring".to_string()];
    let divisors: Vec<u32> = (2..size).filter(|side| size.is_multiple_of(*side)).collect();
    if let Some(side) = divisors.iter().copied().filter(|side| side * side <= size).max() {
        names.push(format!("torus:{}x{side}", size / side));
    }
    let cubic = divisors.iter().flat_map(|&a| divisors.iter().map(move |&b| (a, b))).filter(|&(a, b)| {
        let product = u64::from(a) * u64::from(b);
        a <= b && u64::from(size).is_multiple_of(product) && u64::from(size) / product >= u64::from(b)
    });
    if let Some((a, b)) = cubic.max() {
        names.push(format!("torus:{}x{b}x{a}", size / (a * b)));
    }
    names
}
