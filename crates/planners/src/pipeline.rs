//! Choices by what steps take in packets (`--overlap pipelined`).
//!
//! No step takes less than its longest path's hop delays, nor than its busiest link's bytes; both have lower bounds
//! that need no flows. So the shortest path over (step, candidate) is found on bounds, what lies on it is
//! simulated, and again until all of it has been.

use interruption::Interruptible;
use model::{Fabric, Initial, Overlap, Result};
use rayon::prelude::*;

use crate::shortest_path::ShortestPath;
use crate::state_search::infeasible;
use crate::{Choice, Planner, Problem, ties};

/// A planner's choice, at what the problem says that steps and changes cost. A planner that knows only the additive
/// cost, or delays that nothing hides, chooses by that, as its paper does, and its choice is priced anew; so is what it
/// chooses from a free start, and the better one is taken. Closed forms of planners are for circuits that are alike, so
/// that all choices are priced anew where fibres have lengths, or rates differ.
///
/// # Errors
/// As [`Planner::choose_within`].
pub fn choose(planner: &dyn Planner, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
    let knows = planner.capabilities();
    let knows_steps = problem.settings.overlap == Overlap::Additive || knows.knows_overlap;
    let knows_changes = knows.charges.contains(&problem.fabric.reconfiguration.charge_kind());
    let knows_start = knows.closes_cycles || !problem.is_repeated();
    let knows_circuits = problem.fabric.shape.circuits_are_alike();
    if knows_steps && knows_changes && knows_start && knows_circuits {
        return planner.choose_within(problem, limit_s);
    }
    let mut best = planner.choose_within(problem, f64::INFINITY)?.map(Choice::priced_anew).transpose()?;
    if problem.start.is_some() {
        // The planner's estimate of what the initial topology saves may be wrong with pipelining. So its choice for a
        // free start is priced from the real start as well, and the faster of the two is kept.
        let fabric = Fabric { initial: Initial::Free, ..problem.fabric.clone() };
        let mut free = Problem { start: None, fabric, ..problem.clone() };
        // Its times are not those of plans from the start.
        free.options.listener = None;
        if let Ok(Some(choice)) = planner.choose_within(&free, f64::INFINITY) {
            let choice = choice.started_on(&problem.fabric)?;
            best = Some(best.filter(|best| ties::within(best.total_s, choice.total_s)).unwrap_or(choice));
        }
    }
    Ok(best.filter(|choice| choice.total_s <= limit_s))
}

/// The best candidate of every step and the completion time; `None` when that is above `limit_s`.
///
/// # Errors
/// No path for some transfer on any candidate, or times beyond what the simulator counts.
pub(crate) fn best_sequence(problem: &Problem, limit_s: f64) -> Result<Option<(Vec<usize>, f64)>> {
    let (steps, candidates) = (problem.table.steps(), problem.table.candidates());
    let every: Vec<usize> = (0..candidates).collect();
    let mut costs: Vec<f64> = (0..steps).flat_map(|step| at_least(problem, step, &every)).collect();
    let mut simulated = vec![false; costs.len()];
    let charges = problem.charges();
    let mut shortest = ShortestPath::default();
    loop {
        let total_s = shortest.run(&costs, candidates, &charges, problem.before());
        if total_s.is_infinite() {
            return Err(infeasible(&problem.table, &costs));
        }
        if total_s > limit_s {
            return Ok(None);
        }
        let unknown: Vec<(usize, usize)> = shortest.path().iter().copied().enumerate().collect();
        let unknown = unknown
            .into_par_iter()
            .interruptible()
            .filter(|(step, candidate)| !simulated[step * candidates + candidate]);
        let found = unknown.map(|(step, candidate)| {
            let (cost, _, _) = problem.step_cost(step, candidate)?;
            Ok((step * candidates + candidate, cost.total_s()))
        });
        let found: Vec<(usize, f64)> = found.collect::<Result<_>>()?;
        if found.is_empty() {
            return Ok(Some((shortest.path().to_vec(), total_s)));
        }
        for (index, cost_s) in found {
            (costs[index], simulated[index]) = (cost_s, true);
        }
    }
}

/// The best of `allowed` for all steps, and the completion time; `None` when that is above `limit_s`.
///
/// # Errors
/// As [`best_sequence`].
pub(crate) fn best_static(problem: &Problem, allowed: &[usize], limit_s: f64) -> Result<Option<(usize, f64)>> {
    let steps = 0..problem.table.steps();
    let first_s = |to: usize| problem.charges_of(&[to], &[]).first().copied().unwrap_or(0.0);
    let mut promises: Vec<(f64, usize)> = allowed.iter().map(|&candidate| (first_s(candidate), candidate)).collect();
    for step in steps.clone() {
        for (promise, least_s) in promises.iter_mut().zip(at_least(problem, step, allowed)) {
            promise.0 += least_s;
        }
    }
    promises.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best: Option<(usize, f64)> = None;
    for (promised_s, candidate) in promises {
        let enough_s = best.map_or(limit_s, |(_, so_far_s)| so_far_s);
        if promised_s.is_infinite() || !ties::within(promised_s, enough_s) {
            break;
        }
        let every = vec![candidate; problem.table.steps()];
        let total_s = problem.total_s(&every)?;
        let goes_first = |(best, so_far_s)| ties::order((total_s, candidate), (so_far_s, best)).is_lt();
        if total_s <= limit_s && best.is_none_or(goes_first) {
            best = Some((candidate, total_s));
        }
    }
    Ok(best)
}

/// Lower bounds on a step's time on these candidates; infinite where some transfer has no path.
fn at_least(problem: &Problem, step: usize, candidates: &[usize]) -> Vec<f64> {
    let known = problem.table.estimates(problem.table.pattern_of_step(step));
    let fabric = &problem.fabric;
    let byte_s = fabric.byte_s() * problem.transfer_bytes(step);
    let least_s = |&candidate: &usize| {
        let (hops, load) = (known.hops[candidate], known.loads[candidate]);
        if !hops.is_finite() {
            return f64::INFINITY;
        }
        fabric.per_step_s() + f64::max(fabric.hop_delay_s * hops, byte_s * load)
    };
    candidates.iter().map(least_s).collect()
}
