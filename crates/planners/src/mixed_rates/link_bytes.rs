//! The bytes that a choice brings over the links of its topologies, and routes that were made with them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use model::{Rank, Result};

use crate::{Choice, Problem};

/// Bytes over each link of the topology that all of these steps of a choice are on, as one of its orbit carries on
/// average.
///
/// # Errors
/// When some transfer of a step has no path.
pub(super) fn by_link(choice: &Choice, steps: &[usize]) -> Result<Vec<f64>> {
    let Some(&first) = steps.first() else { return Ok(Vec::new()) };
    let topology = choice.problem.table.candidate(choice.candidates[first]);
    let (symmetry, links) = (topology.symmetry(), topology.links());
    let places: BTreeMap<(Rank, Rank), usize> = links.iter().map(|link| (link.src, link.dst)).zip(0..).collect();
    let mut bytes = vec![0.0; links.len()];
    for &step in steps {
        interruption::check();
        let (_, hop_limit, _) = choice.problem.step_point(step, choice.candidates[step])?;
        let (routes, _) = choice.problem.routes(step, choice.candidates[step], hop_limit)?;
        let traffic = choice.problem.schedule().steps()[step].traffic().arcs_under(&routes.symmetry);
        let weights: BTreeMap<(Rank, Rank), f64> =
            traffic.into_iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
        let alike = f64::from(routes.symmetry.order()) / f64::from(symmetry.order());
        let transfer = choice.problem.transfer_bytes(step) * alike;
        for arc in &routes.arcs {
            let weight = weights.get(&(arc.src, arc.dst)).copied().unwrap_or(0.0);
            for path in &arc.paths {
                for hop in path.nodes.windows(2) {
                    let (src, element) = symmetry.canonical(hop[0]);
                    let dst = symmetry.apply(symmetry.inverse(element), hop[1]);
                    if let Some(&place) = places.get(&(src, dst)) {
                        bytes[place] += transfer * weight * path.share;
                    }
                }
            }
        }
    }
    Ok(bytes)
}

/// Gives `own` the routes that the choice was given, on every way in which the circuits of its topologies are dealt out.
///
/// # Errors
/// When some transfer of a step has no path.
pub(super) fn give_routes(choice: &Choice, own: &mut Problem, of_step: &[usize], dealt: &[Range<usize>]) -> Result<()> {
    if !choice.problem.table.has_given_routes() {
        return Ok(());
    }
    let Some(table) = Arc::get_mut(&mut own.table) else { return Ok(()) };
    for (step, &used) in of_step.iter().enumerate() {
        let (routes, _) = choice.problem.routes(step, choice.candidates[step], u32::MAX)?;
        for candidate in dealt[used].clone() {
            // Routes of a topology are routes of it on any ports.
            table.give_routes(step, candidate, &routes);
        }
    }
    Ok(())
}
