//! The candidate families, from which a planner takes the topologies of its steps (HARVEST appendix A).

mod expanders;
mod one_port_dark;
mod shifted_rings;
mod shifted_tori;
mod standard_graphs;
mod static_baselines;
mod step_matchings;

use model::{Error, Result, Shape, Topology, Traffic, unknown_name};

pub use crate::dedupe::dedupe;
use crate::families;
use crate::parameters::{Way, shown};
pub use one_port_dark::one_port_dark;

/// A family of topologies that are candidates together.
pub trait CandidateFamily: Sync {
    /// The name in a list of candidates, such as `shifted-rings`.
    fn name(&self) -> &'static str;

    /// What it holds, in one line.
    fn summary(&self) -> &'static str;

    /// Where it is from: paper and section.
    fn source(&self) -> &'static str;

    /// The topologies of this family for `shape`, none when it cannot serve it. `patterns` are the
    /// distinct traffic patterns of the schedule's steps, in order, and `seed` decides all chance.
    ///
    /// # Errors
    /// Where the family uses the patterns: one of another number of ranks than the shape's.
    fn build(&self, shape: &Shape, patterns: &[&Traffic], seed: u64) -> Result<Vec<Topology>>;
}

/// Every candidate family, in the order in which they are listed to people.
pub static REGISTRY: &[&dyn CandidateFamily] = &[
    &shifted_rings::ShiftedRings,
    &shifted_tori::ShiftedTori,
    &expanders::Expanders,
    &step_matchings::StepMatchings,
    &standard_graphs::StandardGraphs,
    &static_baselines::StaticBaselines,
    &one_port_dark::OnePortDark,
];

/// Names of candidates that are no specification of a topology, and what they mean.
pub const NAMES: [(&str, &str); 2] = [step_matchings::NAME, one_port_dark::NAME];

/// The candidates where none are asked for: the families of HARVEST's appendix A, which hold the static baselines, and what
/// else a fabric may start on and a planner so can use, without the random ones.
pub const DEFAULT: &[&str] = &["shifted-rings", "shifted-tori", "expanders", "standard-graphs", "step-matchings"];

/// The family that joins the default ones where a dark port is set up in the background.
pub const ONE_PORT_DARK: &str = "one-port-dark";

/// The family that the static planner chooses from where nothing is asked for.
pub const STATIC_BASELINES: &str = "static-baselines";

/// The items of a list written on one line, `shifted-rings,circulant:1,5,ring`: a comma before a number or
/// a direction belongs to the parameters of the item before it.
pub fn split(list: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for part in list.split(',').map(str::trim) {
        let continues = part.parse::<i64>().is_ok() || Way::parse(part).is_some();
        match items.last_mut() {
            Some(last) if continues && last.contains(':') => *last = format!("{last},{part}"),
            _ => items.push(part.into()),
        }
    }
    items
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

/// The topologies of those `specs` that `shape` can have.
fn those_that_fit(specs: impl IntoIterator<Item = String>, shape: &Shape) -> Result<Vec<Topology>> {
    let mut topologies = Vec::new();
    for spec in specs {
        match families::build(&spec, shape) {
            Ok(topology) => topologies.push(topology),
            Err(Error::Refused { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(topologies)
}
