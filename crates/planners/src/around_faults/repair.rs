//! A plan that exists, moved onto a fabric on which more is broken, with as few new circuits as time allows.

use std::sync::Arc;

use model::{Error, Fabric, Plan, Result, Schedule, Topology};
use topologies::candidates::dedupe;

use super::mending::{self, Freed};
use super::{composed_anew, on_fabric, priced, roles, used_by};
use crate::cutoffs::around_faults::{MOST_BASES, MOST_GPUS, MOST_MENDINGS, MOST_OVER_FASTEST};
use crate::{Cache, Choice, KeptCircuits, Problem, given_routes};

/// The word that repaired plans have in the place of a planner's name.
pub const REPAIRED: &str = "repaired";

/// The plan on a fabric of the same ranks, on which other things are broken: as it is where its circuits are there.
/// Else all mended topologies are tried, with GPUs in their roles and in others, the plan's steps on them and steps
/// composed for them; of those that take little longer than the fastest, the one with the fewest new circuits. `None`
/// where none leaves every transfer a path.
///
/// # Errors
/// A plan for another number of GPUs, or one that its fabric cannot have.
pub fn repair(plan: &Plan, fabric: &Fabric, cache: &Arc<Cache>) -> Result<Option<Choice>> {
    let shape = &fabric.shape;
    let old = choice_of(plan, cache)?;
    let (used, of_step) = used_by(&old);
    let topologies: Vec<Topology> =
        used.iter().map(|&candidate| old.problem.table.candidate(candidate).clone()).collect();
    let problem = Problem { fabric: fabric.clone(), start: None, ..old.problem.clone() };
    let schedule = old.problem.schedule();
    if topologies.iter().all(|topology| shape.check_faults(topology).is_ok()) {
        let mut own = on_fabric(&old, &problem, schedule.clone(), topologies)?;
        given_routes::carry_over(&mut own, &old.problem.table, &used);
        return priced(&old, own, of_step).map(Some);
    }
    if shape.gpus() > MOST_GPUS {
        let accepts = format!("plans of up to {MOST_GPUS} GPUs; among more, plan anew");
        return Err(Error::value("repair", format!("a plan of {} GPUs", shape.gpus()), accepts));
    }
    let needed = mending::without_idle(&old, &used)?;
    let mut tried: Vec<(Vec<Topology>, Schedule)> = Vec::new();
    for freed in [Freed::Dark, Freed::Joined, Freed::Exchanged] {
        for way in 0..MOST_MENDINGS {
            let mended = mend(&topologies, fabric, way, freed)?;
            if !tried.iter().any(|(other, _)| are_alike(other, &mended)) {
                tried.push((mended, schedule.clone()));
            }
        }
    }
    if let Some(roles) = roles::find(&needed, shape, schedule.chunks()) {
        let moved = needed.iter().map(|topology| roles.of_topology(topology)).collect::<Result<Vec<_>>>()?;
        let schedule = roles.of_schedule(schedule)?;
        for way in 0..MOST_MENDINGS {
            let mended = mend(&moved, fabric, way, Freed::Joined)?;
            if !tried.iter().any(|(other, _)| are_alike(other, &mended)) {
                tried.push((mended, schedule.clone()));
            }
        }
    }
    let bases: Vec<Topology> = tried.iter().flat_map(|(mended, _)| mended.iter().cloned()).collect();
    let mut found: Vec<Choice> = Vec::new();
    for (mended, schedule) in tried {
        interruption::check();
        let own = on_fabric(&old, &problem, schedule, mended)?;
        // Some transfer may have no path left; another way may have one.
        found.extend(priced(&old, own, of_step.clone()));
    }
    if schedule.chunks().as_pieces().is_none() {
        let mut bases = dedupe(bases);
        bases.truncate(MOST_BASES);
        found.extend(composed_anew::on_bases(REPAIRED, &problem, bases, f64::INFINITY)?);
    }
    let fastest_s = found.iter().map(|choice| choice.total_s).fold(f64::INFINITY, f64::min);
    let before = (&plan.fabric.shape, &topologies[..]);
    let new = |choice: &Choice| {
        let own: Vec<Topology> =
            used_by(choice).0.into_iter().map(|one| choice.problem.table.candidate(one).clone()).collect();
        KeptCircuits::of((shape, &own), before).new
    };
    let near = found.into_iter().filter(|choice| choice.total_s <= MOST_OVER_FASTEST * fastest_s);
    Ok(near.min_by(|one, other| new(one).cmp(&new(other)).then(one.total_s.total_cmp(&other.total_s))))
}

/// The choice that a plan states, on its own fabric and with its own routes.
///
/// # Errors
/// The errors of [`Problem::new`].
fn choice_of(plan: &Plan, cache: &Arc<Cache>) -> Result<Choice> {
    let steps = plan.steps.iter().map(|step| step.step.clone()).collect();
    let schedule = Schedule::new(plan.algorithm.clone(), plan.chunks.clone(), steps)?;
    let (fabric, settings, topologies) = (plan.fabric.clone(), plan.settings, plan.topologies.clone());
    let mut problem = Problem::sharing(cache.clone(), schedule, fabric, settings, plan.size_bytes, topologies)?;
    let candidates: Vec<usize> = plan.steps.iter().map(|step| step.topology).collect();
    if let Some(table) = Arc::get_mut(&mut problem.table) {
        for (index, step) in plan.steps.iter().enumerate() {
            table.give_routes(index, step.topology, &step.routes);
        }
    }
    Choice::priced(REPAIRED, problem, candidates)
}

fn mend(topologies: &[Topology], fabric: &Fabric, way: usize, freed: Freed) -> Result<Vec<Topology>> {
    topologies.iter().map(|topology| mending::mended(topology, &fabric.shape, way, freed)).collect()
}

fn are_alike(one: &[Topology], other: &[Topology]) -> bool {
    one.iter().zip(other).all(|(one, other)| one.same_links(other))
}
