//! Plans around what is broken on circuits of different rates.
//!
//! As where circuits are alike, a planner plans for a fabric on which everything works, here with the rates as they
//! are: with all ports, and with those of each rate that every GPU has left. Its choice is moved onto the fabric as it
//! is ([`crate::around_faults`]): circuits that fail are joined anew among ports of their rate, and GPUs change roles,
//! or keep them where pairs differ. A planner that chooses the algorithm too also looks for one on the mended
//! topologies.

use model::{Fabric, Faults, Initial, PortRates, Result, Shape, Topology, WorkingPorts};

use super::adaptation::moved_to;
use super::composed_in_units::{self, OF_SMALL_DIAMETER, composes};
use super::port_assignment::as_it_starts;
use crate::around_faults::{self, Best, Freed};
use crate::cutoffs::around_faults::{MOST_BASES, MOST_GPUS};
use crate::{Choice, Planner, Problem, alike_ports};

/// A planner's choice where everything works.
type OnWorking = fn(&dyn Planner, &Problem) -> Result<Option<Choice>>;

/// A planner's choice around the faults of the problem, from those of `on_working`; `None` where none takes at most
/// `limit_s`.
///
/// # Errors
/// As [`Planner::choose_within`].
pub(super) fn choose(
    planner: &dyn Planner,
    problem: &Problem,
    limit_s: f64,
    on_working: OnWorking,
) -> Result<Option<Choice>> {
    let shape = &problem.fabric.shape;
    let mut best = Best { limit_s, choice: None };
    let mut refusal = None;
    let mut bases: Vec<Topology> = Vec::new();
    for kept in kept_ports(shape)? {
        interruption::check();
        let found = on_ports(planner, problem, &kept, on_working)
            .and_then(|choice| choice.map_or(Ok(()), |choice| best.move_onto(&choice, problem, &mut bases)));
        if let Err(error) = found {
            refusal.get_or_insert(error);
        }
    }
    if composes(planner, problem) && shape.gpus() <= MOST_GPUS {
        bases.truncate(MOST_BASES);
        let whole = shape.clone().with_faults(Faults::default())?;
        for name in OF_SMALL_DIAMETER {
            let Ok(base) = topologies::build(name, &whole) else { continue };
            let base = as_it_starts(base, &whole)?;
            bases.push(around_faults::mended(&base, shape, 0, Freed::Joined)?);
        }
        bases.retain(|base| !base.links().is_empty());
        let composed = composed_in_units::on_each(planner.name(), problem, &topologies::candidates::dedupe(bases))?;
        best.offer(composed);
    }
    if let Some(weaker) = around_faults::with_both_sides(problem)? {
        // What it cannot serve, the fabric as it is may.
        let found = choose(planner, &weaker, best.limit_s(), on_working).ok().flatten();
        found.map_or(Ok(()), |choice| best.move_onto(&choice, problem, &mut Vec::new()))?;
    }
    match (best.choice, refusal) {
        (None, Some(refusal)) => Err(refusal),
        (choice, _) => Ok(choice),
    }
}

/// The ports with which is planned: all of them, where some GPU has more left than all have, and those of each rate
/// that all have left.
fn kept_ports(shape: &Shape) -> Result<Vec<Vec<u32>>> {
    let (all, left) = ((0..shape.ports()).collect::<Vec<u32>>(), shape.ports_of_all()?);
    let is_even = left.len() as u32 == WorkingPorts::of(shape).most();
    let mut kept = Vec::new();
    if !is_even || left == all {
        kept.push(all.clone());
    }
    if !left.is_empty() && left != all {
        kept.push(left);
    }
    Ok(kept)
}

/// The choice for a fabric with these ports alone, all of which work, on the ports of the whole one.
fn on_ports(planner: &dyn Planner, problem: &Problem, kept: &[u32], on_working: OnWorking) -> Result<Option<Choice>> {
    let fabric = &problem.fabric;
    let Some(rates) = fabric.shape.rates() else {
        let shape = fabric.shape.without_faults(kept.len() as u32)?.with_pairs(fabric.shape.pairs().cloned())?;
        return on_working(planner, &alike_ports::on_shape(planner, problem, shape, fabric.bandwidth_bps)?);
    };
    let by_port_bps = rates.by_port_bps();
    let kept_bps: Vec<f64> = kept.iter().map(|&port| by_port_bps[port as usize]).collect();
    let of_kept = PortRates::new("bandwidth", &kept_bps, kept.len() as u32)?;
    let shape = fabric.shape.without_faults(kept.len() as u32)?.with_rates(of_kept);
    let fastest_bps = kept_bps.into_iter().fold(0.0, f64::max);
    let own = alike_ports::on_shape(planner, problem, shape, fastest_bps)?;
    let Some(choice) = on_working(planner, &own)? else { return Ok(None) };
    if kept.len() == by_port_bps.len() {
        return Ok(Some(choice));
    }
    let working = fabric.shape.clone().with_faults(Faults::default())?;
    let initial = match &fabric.initial {
        Initial::Topology(_) => Initial::Free,
        other => other.clone(),
    };
    let whole = Fabric { shape: working, initial, ..fabric.clone() };
    let cache = problem.cache.clone();
    let candidates = vec![choice.problem.table.candidate(choice.candidates[0]).clone().on_more_ports(rates, kept)?];
    let schedule = choice.problem.schedule().clone();
    let whole = Problem::sharing(cache, schedule, whole, choice.problem.settings, problem.size_bytes, candidates)?;
    moved_to(&choice, &whole, |topology, _| Ok(vec![topology.clone().on_more_ports(rates, kept)?])).map(Some)
}
