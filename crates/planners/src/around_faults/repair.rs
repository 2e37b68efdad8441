//! A plan that exists, moved onto a fabric on which more is broken, with as few new circuits as time allows.

use std::cmp::Reverse;
use std::sync::Arc;

use model::{Error, Fabric, Plan, PlanStep, Result, Schedule, Topology};

use super::mending::{self, Freed};
use super::{composed_anew, roles};
use crate::cutoffs::around_faults::{MOST_GPUS, MOST_MENDINGS, MOST_OVER_FASTEST};
use crate::moved_choice::{alike_as_one, used_by};
use crate::{Cache, Choice, ClassBound, KeptCircuits, Problem};

/// The word that repaired plans have in the place of a planner's name.
pub const REPAIRED: &str = "repaired";

/// The plan on a fabric of the same ranks, on which some of its circuits cannot be. All mended topologies are tried,
/// with GPUs in their roles and in others, the plan's steps on them and steps composed for them; of those that take
/// little longer than the fastest, the one with the fewest new circuits. `None` where none leaves every transfer a path.
///
/// # Errors
/// Too many GPUs, or a fabric that cannot have the plan's numbers.
pub fn repair(plan: &Plan, fabric: &Fabric, cache: &Arc<Cache>) -> Result<Option<Choice>> {
    let shape = &fabric.shape;
    if shape.gpus() > MOST_GPUS {
        let accepts = format!("plans of up to {MOST_GPUS} GPUs; among more, plan anew");
        return Err(Error::value("repair", format!("a plan of {} GPUs", shape.gpus()), accepts));
    }
    let steps = plan.steps.iter().map(|step| step.step.clone()).collect();
    let schedule = Schedule::new(plan.algorithm.clone(), plan.chunks.clone(), steps)?;
    let mut used: Vec<usize> = plan.steps.iter().map(|step| step.topology).collect();
    used.sort_unstable();
    used.dedup();
    let place = |step: &PlanStep| used.partition_point(|&other| other < step.topology);
    let of_step: Vec<usize> = plan.steps.iter().map(place).collect();
    let topologies: Vec<Topology> = used.iter().map(|&index| plan.topologies[index].clone()).collect();
    let needed = mending::without_idle_of(plan, &used)?;

    let mut tried: Vec<(Vec<Topology>, Schedule)> = Vec::new();
    let mut enter = |topologies: &[Topology], schedule: &Schedule, freed: Freed| -> Result<()> {
        for way in 0..MOST_MENDINGS {
            let mended = topologies.iter().map(|topology| mending::mended(topology, shape, way, freed));
            let mended = mended.collect::<Result<Vec<_>>>()?;
            let is_known = |(other, _): &(Vec<Topology>, Schedule)| {
                other.iter().zip(&mended).all(|(one, other)| one.same_links(other))
            };
            if !tried.iter().any(is_known) {
                tried.push((mended, schedule.clone()));
            }
        }
        Ok(())
    };
    for freed in [Freed::Dark, Freed::Joined, Freed::Exchanged] {
        enter(&topologies, &schedule, freed)?;
    }
    if let Some(roles) = roles::find(&needed, shape, schedule.chunks()) {
        let moved = needed.iter().map(|topology| shape.by_class(topology, |of, _| roles.of_topology(of)));
        let moved = moved.collect::<Result<Vec<_>>>()?;
        enter(&moved, &roles.of_schedule(&schedule)?, Freed::Joined)?;
    }

    let (size_bytes, settings) = (plan.size_bytes, plan.settings);
    let is_even = schedule.chunks().as_pieces().is_none();
    let whole = Problem::sharing(cache.clone(), schedule, fabric.clone(), settings, size_bytes, topologies.clone())?;
    let class_bound = Some(ClassBound::any_algorithm(&whole));
    let mut bases: Vec<Topology> = Vec::new();
    let mut found: Vec<Choice> = Vec::new();
    for (mended, schedule) in tried {
        interruption::check();
        bases.extend(mended.iter().cloned());
        let own = whole.with(schedule, settings, mended)?;
        // Some transfer may have no path left; another way may have one.
        let candidates = alike_as_one(&own, of_step.clone());
        let priced = Choice::priced(REPAIRED, own, candidates);
        found.extend(priced.map(|choice| Choice { class_bound: class_bound.clone(), ..choice }));
    }
    let fastest_s = |found: &[Choice]| found.iter().map(|choice| choice.total_s).fold(f64::INFINITY, f64::min);
    // What is composed does not say on which ports its circuits are.
    if is_even && shape.rates().is_none() && fastest_s(&found) > plan.total_s() {
        // One alone, that of the most circuits, since composing takes longer than all else.
        bases.sort_by_key(|topology| Reverse(topology.circuits()));
        bases.truncate(1);
        found.extend(composed_anew::on_bases(REPAIRED, &whole, bases, f64::INFINITY)?);
    }
    let most_s = MOST_OVER_FASTEST * fastest_s(&found);
    let new = |choice: &Choice| {
        let candidates = used_by(choice).0.into_iter();
        let own: Vec<Topology> = candidates.map(|one| choice.problem.table.candidate(one).clone()).collect();
        KeptCircuits::of((shape, &own), (&plan.fabric.shape, &topologies)).new
    };
    let near = found.into_iter().filter(|choice| choice.total_s <= most_s);
    let by_new = near.map(|choice| (new(&choice), choice));
    let best =
        by_new.min_by(|(new, one), (other_new, other)| new.cmp(other_new).then(one.total_s.total_cmp(&other.total_s)));
    Ok(best.map(|(_, choice)| choice))
}
