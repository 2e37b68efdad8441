//! One problem planned by every planner and baseline, side by side.

use interruption::Interruptible;
use model::{Bound, Error, Result};
use planners::{Choice, OperatingPoint, Planner, Problem, ties};
use rayon::prelude::*;

use crate::baseline_limits::BaselineLimits;
use crate::request::open_planners;
use crate::row::{Row, row_of};
use crate::{Prepared, Request, never_change};

/// All lines, fastest first, those without a time last; equally fast ones in the order of the registries.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The lines.
    pub rows: Vec<Row>,
    /// Lower bound on the time of every line, s.
    pub lower_bound_s: f64,
    /// The class of schedules that the bound holds for.
    pub bound_class: String,
}

/// A line with its place among those that are equally fast: planner, algorithm, topology.
type Placed = ((usize, usize, usize), Row);

/// Every algorithm that the request leaves open, by every planner, and by one that keeps one topology on each of
/// the static topologies.
///
/// # Errors
/// Wrong input; a planner that cannot serve the problem is a row, not an error.
pub fn compare(request: &Request) -> Result<Comparison> {
    compare_as_found(request, &|_| ())
}

/// [`compare`], showing every line to `seen` as soon as it is found, in any order and from several threads.
///
/// # Errors
/// As [`compare`].
pub fn compare_as_found(request: &Request, seen: &(dyn Fn(&Row) + Sync)) -> Result<Comparison> {
    request.refuse_forwarding()?;
    let (prepared, at) = for_all_planners(request)?;
    let planners: Vec<(usize, &'static dyn Planner)> = prepared.planners().iter().copied().enumerate().collect();
    let best = prepared.best_at(&at);
    let limits = best.as_ref().ok().map(|best| BaselineLimits::comparison(best.total_s));
    let of_planner = |(place, planner): (usize, &'static dyn Planner)| -> Vec<Placed> {
        if planner.capabilities().chooses_algorithm {
            let row = row_of(planner, None, best.clone());
            seen(&row);
            return vec![((place, 0, 0), row)];
        }
        let rows = (0..prepared.schedules().len()).into_par_iter().interruptible().flat_map_iter(|order| {
            let rows = rows_of(&prepared, planner, order, &at, limits);
            rows.iter().for_each(seen);
            let rows = rows.into_iter().enumerate();
            rows.map(move |(topology, row)| ((place, order, topology), row))
        });
        rows.collect()
    };
    let mut rows: Vec<Placed> = match request.never_changes() {
        Some(planner) => {
            let row = row_of(planner, None, best.clone());
            seen(&row);
            vec![((0, 0, 0), row)]
        }
        None => planners.into_par_iter().interruptible().flat_map_iter(of_planner).collect(),
    };
    if request.planner.is_none() {
        let others = never_change::rows(request, &prepared, &at);
        others.iter().for_each(seen);
        // A planner's best row over all algorithms comes before its best row for the named algorithm; if both are the
        // same plan, only the first is kept.
        let last = prepared.planners().len();
        rows.retain(|(_, row)| !row.keeps_the_best || !others.iter().any(|other| is_by_the_same(row, other)));
        for (place, row) in &mut rows {
            if row.keeps_the_best && others.iter().any(|other| other.planner == row.planner) {
                *place = (last, 1, 0);
            }
        }
        rows.extend(others.into_iter().map(|row| ((last, 0, 0), row)));
    }
    let none = |planner: &str, algorithm: &str, error: Error| {
        let (planner, algorithm, topology) = (planner.into(), algorithm.into(), String::new());
        let (keeps_the_best, is_for_collective, outcome) = (false, true, Err(error));
        let row = Row { planner, keeps_the_best, is_for_collective, algorithm, topology, outcome, at_least_s: None };
        ((usize::MAX, 0, 0), row)
    };
    if request.planner.is_none() {
        let refused = open_planners().filter_map(|planner| Some((planner.name(), request.admit(planner).err()?)));
        rows.extend(refused.map(|(planner, error)| none(planner, "", error)));
    }
    rows.extend(prepared.refusals().iter().map(|(algorithm, error)| none("", algorithm, error.clone())));
    for (_, row) in &mut rows {
        let only = planners::find(&row.planner).ok().and_then(|planner| planner.capabilities().only);
        row.is_for_collective = only.is_none_or(|collective| collective == request.collective());
    }
    rows.sort_by(|a, b| ties::order((a.1.time_s(), a.0), (b.1.time_s(), b.0)));
    let mut rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    // A planner may make the same of several algorithms.
    rows.dedup_by(|later, row| later == row && row.outcome.is_ok());
    if rows.iter().all(|row| row.outcome.is_err()) {
        let reason = rows.into_iter().find_map(|row| row.outcome.err());
        return Err(reason.unwrap_or_else(|| Error::infeasible("algorithm", "no algorithm serves this problem")));
    }
    // Each planner is asked for by name here, and may then answer a named algorithm with another one.
    let named = request.kept_algorithm();
    let served = || rows.iter().filter(|row| row.outcome.is_ok());
    let keeps_steps = named.is_none_or(|name| served().all(|row| row.algorithm == name));
    let Bound { seconds, class } = prepared.bound_at(&at, keeps_steps);
    Ok(Comparison { rows, lower_bound_s: seconds, bound_class: class })
}

/// The request with every planner that it admits, at its own numbers, and its problems made. Topologies that are named
/// for the static planner leave the others in.
pub(crate) fn for_all_planners(request: &Request) -> Result<(Prepared, OperatingPoint)> {
    let mut planners = request.planners()?;
    if request.planner.is_none() {
        planners = open_planners().filter(|planner| request.admit(*planner).is_ok()).collect();
    }
    let choosing = planners.iter().copied().find(|planner| planner.capabilities().takes_candidates);
    let prepared = Prepared::for_planners(request, planners)?;
    let at = prepared.own_numbers()?;
    prepared.make_problems()?;
    // Wrong candidates that the user names are an error; default candidates that serve no step only make a refused row.
    let are_named = request.candidates.is_some() || request.static_topologies.is_some();
    if let Some(choosing) = choosing.filter(|_| are_named) {
        (0..prepared.schedules().len()).try_for_each(|order| prepared.problem_for(choosing, order, &at).map(|_| ()))?;
    }
    Ok((prepared, at))
}

/// Whether two lines are of one planner and algorithm.
fn is_by_the_same(row: &Row, other: &Row) -> bool {
    (&row.planner, &row.algorithm) == (&other.planner, &other.algorithm)
}

/// The lines of a planner for one schedule: one, or for a planner that keeps one topology one on each.
fn rows_of(
    prepared: &Prepared,
    planner: &'static dyn Planner,
    order: usize,
    at: &OperatingPoint,
    limits: Option<BaselineLimits>,
) -> Vec<Row> {
    let schedule = &prepared.schedules()[order];
    let algorithm = Some(schedule.algorithm());
    if let Some(limits) = limits.filter(|limits| limits.has_too_many_patterns(schedule)) {
        return vec![Row::left_out(planner, algorithm, "", limits, limits.at_least(0.0))];
    }
    let problem = match prepared.problem_for(planner, order, at) {
        Ok(problem) => problem,
        Err(error) => return vec![row_of(planner, algorithm, Err(error))],
    };
    // Where the plan is known to be slower than the best and takes too long to find, the line says so.
    let line = |problem: &Problem, topology: &str| {
        let left_out = limits.and_then(|limits| Some((limits, limits.left_out(planner, problem)?)));
        match left_out {
            Some((limits, promise)) => Row::left_out(planner, algorithm, topology, limits, promise),
            None => Row { topology: topology.into(), ..row_of(planner, algorithm, chosen(planner, problem)) },
        }
    };
    if !planner.capabilities().keeps_one_topology {
        return vec![line(&problem, "")];
    }
    let only = |&candidate: &usize| {
        let only = Problem { static_candidates: vec![candidate], ..problem.clone() };
        // A topology that cannot serve is named all the same.
        line(&only, problem.table.candidate(candidate).name())
    };
    let rows = problem.allowed().par_iter().interruptible().map(only).collect();
    if problem.fabric.shape.faults().is_empty() { rows } else { fastest_of_each_name(rows) }
}

/// One row for each topology: around faults a topology may be built for all ports, and again for those that work.
fn fastest_of_each_name(rows: Vec<Row>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::new();
    for row in rows {
        match kept.iter_mut().find(|other| other.topology == row.topology) {
            Some(other) if row.time_s() < other.time_s() => *other = row,
            Some(_) => {}
            None => kept.push(row),
        }
    }
    kept
}

/// The choice of the planner.
fn chosen(planner: &'static dyn Planner, problem: &Problem) -> Result<Choice> {
    let choice = planners::choose(planner, problem, f64::INFINITY)?;
    let none = || Error::infeasible("planner", format!("{} finds no plan that takes a finite time", planner.name()));
    let choice = choice.ok_or_else(none)?;
    Ok(Choice { total_s: choice.problem.total_s(&choice.candidates)?, ..choice })
}
