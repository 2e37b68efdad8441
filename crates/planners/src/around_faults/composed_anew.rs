//! Algorithms that are composed for what works.

use compositions::Composition;
use model::{Collective, Fabric, Initial, Result, Topology};
use topologies::candidates::dedupe;

use super::mending::{self, Freed};
use crate::best_composition::Composing;
use crate::cutoffs::around_faults::{MOST_BASES, MOST_MENDINGS};
use crate::{Choice, Problem};

/// The best that stays on one of the mended topologies, or on a topology of small diameter that is mended; `None`
/// above `limit_s`.
///
/// # Errors
/// The errors of [`on_bases`].
pub(super) fn best(
    planner: &'static str,
    problem: &Problem,
    mended: Vec<Topology>,
    limit_s: f64,
) -> Result<Option<Choice>> {
    let (fabric, chunks) = (&problem.fabric, problem.schedule().chunks());
    if chunks.as_pieces().is_some() {
        return Ok(None);
    }
    let (libraries, settings) = (&problem.cache.libraries, problem.settings);
    let whole =
        Fabric { shape: fabric.shape.without_faults(fabric.shape.ports())?, initial: Initial::Free, ..fabric.clone() };
    let mut bases = mended;
    bases.truncate(MOST_BASES);
    let mut known = compositions::staying(libraries, chunks.collective(), &whole, settings);
    known.extend(compositions::narrow(&whole.shape));
    known.extend(topologies::build("kautz", &whole.shape));
    for topology in dedupe(known) {
        for way in 0..MOST_MENDINGS.min(2) {
            bases.push(mending::mended(&topology, &fabric.shape, way, Freed::Joined)?);
        }
    }
    on_bases(planner, problem, bases, limit_s)
}

/// The best that stays on one of these topologies; `None` above `limit_s`.
///
/// # Errors
/// The errors of [`compositions::by_ports`].
pub(super) fn on_bases(
    planner: &'static str,
    problem: &Problem,
    bases: Vec<Topology>,
    limit_s: f64,
) -> Result<Option<Choice>> {
    let (fabric, chunks) = (&problem.fabric, problem.schedule().chunks());
    let (libraries, settings, size_bytes) = (&problem.cache.libraries, problem.settings, problem.size_bytes);
    let mut composing = Composing::new(planner, problem, &[], limit_s);
    for base in dedupe(bases).into_iter().filter(|base| !base.links().is_empty()) {
        interruption::check();
        let started = Fabric { initial: Initial::Topology(base.clone()), ..fabric.clone() };
        let mut found: Vec<Composition> =
            compositions::on_start(libraries, chunks, &started, settings, size_bytes).unwrap_or_default();
        if chunks.collective() == Collective::AllReduce {
            found.extend(compositions::by_ports(&base, fabric, size_bytes)?);
        }
        for composition in found {
            // Some transfer may have no path on it.
            let _ = composing.consider(composition);
        }
        let _ = composing.fill(&base);
    }
    Ok(composing.best())
}
