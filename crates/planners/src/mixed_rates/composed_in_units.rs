//! Algorithms that are composed for circuits of different rates.
//!
//! A circuit of any rate counts as so many parallel circuits of one rate ([`bounds::in_units`]). On a topology that stays,
//! what is composed for these has blocks and parts that fit the rates, so that no slow circuit holds up the fast ones.

use compositions::Composition;
use model::{Fabric, Initial, ReconfigurationPolicy, Result, Topology, ranges};

use super::adaptation::{has_large_flows, moved_to};
use crate::best_composition::Composing;
use crate::cutoffs::mixed_rates::MOST_GPUS;
use crate::{Choice, Planner, Problem};

/// Topologies on which something is composed for the rates in addition to those of the choices.
pub(super) const OF_SMALL_DIAMETER: [&str; 2] = ["kautz", "rewired-de-bruijn"];

/// Whether a planner looks for algorithms whose parts fit the rates.
pub(super) fn composes(planner: &dyn Planner, problem: &Problem) -> bool {
    let is_small = problem.fabric.shape.gpus() <= MOST_GPUS && !has_large_flows(problem);
    planner.capabilities().chooses_algorithm && is_small
}

/// The best that stays on one of these topologies on ports, one for each that something is composed for.
///
/// # Errors
/// The errors of [`Problem::new`].
pub(super) fn on_each(planner: &'static str, problem: &Problem, bases: &[Topology]) -> Result<Vec<Choice>> {
    let chunks = problem.schedule().chunks();
    if chunks.as_pieces().is_some() {
        return Ok(Vec::new());
    }
    let (libraries, settings, size_bytes) = (&problem.cache.libraries, problem.settings, problem.size_bytes);
    let mut found = Vec::new();
    for base in bases {
        interruption::check();
        let started = Fabric {
            initial: Initial::Topology(base.clone()),
            hop_delay_s: problem.fabric.hop_delay_on_s(base),
            reconfiguration: ReconfigurationPolicy::constant(ranges::TIME.most),
            ..problem.fabric.clone()
        };
        let Some(units) = bounds::in_units(&started) else { continue };
        let Some(start) = units.initial.given().cloned() else { continue };
        let (cache, schedule) = (problem.cache.clone(), problem.schedule().clone());
        let own = Problem::sharing(cache, schedule, units.clone(), settings, size_bytes, vec![start.clone()])?;
        let mut composing = Composing::new(planner, &own, &[], f64::INFINITY);
        let composed: Vec<Composition> =
            compositions::on_start(libraries, chunks, &units, settings, size_bytes).unwrap_or_default();
        for composition in composed {
            // Some transfer may have no path on it.
            let _ = composing.consider(composition);
        }
        let _ = composing.fill(&start);
        let stays = |choice: &Choice| {
            choice.candidates.iter().all(|&candidate| choice.problem.table.candidate(candidate).same_links(&start))
        };
        if let Some(choice) = composing.best().filter(stays) {
            found.extend(moved_to(&choice, problem, |_, _| Ok(vec![base.clone()])).ok());
        }
    }
    Ok(found)
}
