//! The candidate families, from which a planner takes the topologies of its steps (HARVEST appendix A).

mod expanders;
mod moved_rings;
mod one_port_dark;
mod shifted_rings;
mod shifted_tori;
mod standard_graphs;
mod static_baselines;
mod step_matchings;

use model::{Result, Shape, Topology, Traffic, unknown_name};

pub use crate::candidate_family::CandidateFamily;
pub use crate::dedupe::dedupe;
use crate::families;
use crate::parameters::shown;
pub use one_port_dark::{ONE_PORT_DARK, one_port_dark};
pub use static_baselines::STATIC_BASELINES;

/// Every candidate family, in the order in which they are listed to people.
pub static REGISTRY: &[&dyn CandidateFamily] = &[
    &shifted_rings::ShiftedRings,
    &moved_rings::MovedRings,
    &shifted_tori::ShiftedTori,
    &expanders::Expanders,
    &step_matchings::StepMatchings,
    &standard_graphs::StandardGraphs,
    &static_baselines::StaticBaselines,
    &one_port_dark::OnePortDark { of: DEFAULT },
];

/// Names of candidates that are no specification of a topology, and what they mean.
pub const NAMES: [(&str, &str); 2] = [step_matchings::NAME, one_port_dark::NAME];

/// The candidates where none are asked for: the families of HARVEST's appendix A, which hold the static baselines, and
/// what else a fabric may start on and a planner so can use, without the random ones.
static DEFAULT: &[&dyn CandidateFamily] = &[
    &shifted_rings::ShiftedRings,
    &moved_rings::MovedRings,
    &shifted_tori::ShiftedTori,
    &expanders::Expanders,
    &standard_graphs::StandardGraphs,
    &step_matchings::StepMatchings,
];

/// Names of the families that are the candidates where none are asked for.
pub fn defaults() -> Vec<&'static str> {
    DEFAULT.iter().map(|family| family.name()).collect()
}

/// Topologies that fabrics start on where nobody wires them for one purpose: rings, those of small offsets too, the
/// static baselines, the standard graphs and de Bruijn graphs.
pub fn starts(shape: &Shape) -> Vec<Topology> {
    let families: [&dyn CandidateFamily; 2] = [&static_baselines::StaticBaselines, &standard_graphs::StandardGraphs];
    let of_families = families.iter().flat_map(|family| family.build(shape, &[], 0).unwrap_or_default());
    let graphs = ["de-bruijn", "rewired-de-bruijn"].iter().filter_map(|spec| families::build(spec, shape).ok());
    dedupe(shifted_rings::of_small_offsets(shape).into_iter().chain(of_families).chain(graphs).collect())
}

/// The topologies of `list`, each item of which is a candidate family or the spec of a topology, without
/// those whose circuits an earlier one has. Empty when no family of the list can serve `shape`.
///
/// # Errors
/// An item that is neither, an item that names one topology that cannot be built, or a family's own.
pub fn build(list: &[String], shape: &Shape, patterns: &[&Traffic], seed: u64) -> Result<Vec<Topology>> {
    let mut topologies = Vec::new();
    for item in list {
        let (name, _) = item.split_once(':').unwrap_or((item, ""));
        if let Some(family) = REGISTRY.iter().find(|family| family.name() == item.trim()) {
            topologies.extend(family.build(shape, patterns, seed)?);
        } else if families::REGISTRY.iter().any(|family| family.name() == name.trim()) {
            topologies.push(families::build(item, shape)?);
        } else {
            let candidates = REGISTRY.iter().map(|family| family.name());
            let known = candidates.chain(families::REGISTRY.iter().map(|family| family.name()));
            return Err(unknown_name("candidates", &shown(item), known));
        }
    }
    Ok(dedupe(topologies))
}
