//! Plans of two tiers: what a step sends through the electrical switches of islands, recomputed from its paths.
//!
//! A hop between two GPUs of an island is electrical where the topology in force has no circuit between them. A step's
//! propagation is the longest sum of hop delays of a path; its transmission what the busier tier takes: the busiest
//! circuit, or the busiest way between a GPU and its switch.

use std::collections::BTreeMap;

use model::{Electrical, Plan, PlanStep, Rank, Topology, Translations};

use crate::links::{canonical, circuits};
use crate::report::{Check, Tally, agree};

/// The times of a step on both tiers, recomputed from its checked paths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TierTimes {
    /// The longest sum of hop delays of a path, s.
    pub(crate) propagation_s: f64,
    /// Bytes of the busier tier, s.
    pub(crate) transmission_s: f64,
    /// Bytes out of or into the busiest GPU by its switch, over those of one transfer.
    pub(crate) electrical_load: f64,
}

/// Whether the fabric's electrical switches carry a hop: within an island, where there is no circuit.
pub(crate) fn is_electrical(electrical: Option<&Electrical>, topology: &Topology, hop: &[Rank]) -> bool {
    electrical.is_some_and(|islands| hop[0] / islands.gpus == hop[1] / islands.gpus)
        && circuits(topology, hop[0], hop[1]) == 0
}

/// Checks the stated `electrical_load` of every step (to 1e-9); none of a fabric of one tier, whose steps state none.
pub(crate) fn check(plan: &Plan) -> Option<Check> {
    if plan.fabric.electrical.is_none() && plan.steps.iter().all(|step| step.electrical_load == 0.0) {
        return None;
    }
    let mut tally = Tally::new("electrical-load");
    for (index, step) in plan.steps.iter().enumerate() {
        let found = of_step(plan, step).map_or(0.0, |tiers| tiers.electrical_load);
        tally.expect(agree(step.electrical_load, found, 1e-9), || {
            format!(
                "step {index}: electrical_load is stated as {}, and the paths make it {found}",
                step.electrical_load
            )
        });
    }
    Some(tally.into_check("step", "with the stated load of the electrical switches"))
}

/// The times of both tiers in a step; `None` where the fabric has one. O(total length of the stated paths · log links).
pub(crate) fn of_step(plan: &Plan, step: &PlanStep) -> Option<TierTimes> {
    let (fabric, topology) = (&plan.fabric, &plan.topologies[step.topology]);
    let islands = fabric.electrical.as_ref()?;
    let group = &step.routes.symmetry;
    let weights: BTreeMap<(Rank, Rank), f64> =
        step.step.traffic().arcs_under(group).iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
    let mut at_gpu = BTreeMap::new();
    let mut propagation_s = 0.0_f64;
    for arc in &step.routes.arcs {
        interruption::check();
        let weight = weights.get(&canonical(group, (arc.src, arc.dst))).copied().unwrap_or_default();
        for path in &arc.paths {
            let mut delay_s = 0.0;
            for hop in path.nodes.windows(2) {
                if !is_electrical(Some(islands), topology, hop) {
                    delay_s += fabric.hop_delay_s;
                    continue;
                }
                delay_s += islands.hop_delay_s;
                for (direction, gpu) in [(0, hop[0]), (1, hop[1])] {
                    *at_gpu.entry((direction, representative(group, gpu))).or_insert(0.0) += weight * path.share;
                }
            }
            propagation_s = propagation_s.max(delay_s);
        }
    }
    let electrical_load = at_gpu.into_values().fold(0.0, f64::max);
    let over_circuits_s = 8.0 / fabric.bandwidth_bps * step.transfer_bytes * step.load;
    let over_switches_s = 8.0 / islands.bandwidth_bps * step.transfer_bytes * electrical_load;
    Some(TierTimes { propagation_s, transmission_s: over_circuits_s.max(over_switches_s), electrical_load })
}

fn representative(group: &Translations, gpu: Rank) -> Rank {
    group.canonical(gpu).0
}
