//! The whole flow on one page: a [`Request`] in, a verified [`Plan`] or a [`Comparison`] out.
//!
//! ```text
//! Request ─▶ schedules ─▶ problem (candidates, profiles) ─▶ planners ─▶ best choice ─▶ plan ─▶ verify
//! ```

mod compare;
mod request;

use model::{Error, Plan, Result, Topology};
use planners::{Choice, Problem, StateSearch};
use rayon::prelude::*;

pub use compare::{Comparison, Outcome, Row, compare};
pub use request::{Request, Size, TopologyRef, Workload};

/// Plans the request: the best of the planners and algorithms that it leaves open. The plan has passed
/// `verify`.
///
/// # Errors
/// Wrong input, or nothing that serves the request.
pub fn plan(request: &Request) -> Result<Plan> {
    verified(best_choice(request)?.1.into_plan()?)
}

/// The plan, and beside it the best of every planner for the same algorithm on all candidates, fastest first.
///
/// # Errors
/// As [`plan`].
pub fn plan_with_baselines(request: &Request) -> Result<(Plan, Vec<Row>)> {
    let (problem, choice) = best_choice(request)?;
    let rows = if request.leaves_topologies_open() {
        compare::baselines(&problem)
    } else {
        let open = Request { planner: None, candidates: None, static_topologies: None, ..request.clone() };
        compare::baselines(&open.problem(problem.schedule().clone())?)
    };
    Ok((verified(choice.into_plan()?)?, rows))
}

/// Times closer than this, relatively, are equal.
const ROUNDING: f64 = 1e-12;

/// The choice of least time, with the problem that it answers. Algorithms that promise most go first, and
/// one is given up as soon as it is known to be slower than the best so far. Times that differ by rounding
/// alone are ties, which go to the earlier planner, then to the earlier algorithm, so that the order of work
/// does not show.
fn best_choice(request: &Request) -> Result<(Problem, Choice)> {
    let planners = request.planners()?;
    let (schedules, refusals) = request.schedules()?;
    let problems: Vec<Result<Problem>> = schedules.into_par_iter().map(|schedule| request.problem(schedule)).collect();
    let mut refusal = None;
    let mut tasks = Vec::new();
    for (order, problem) in problems.into_iter().enumerate() {
        match problem {
            Ok(problem) => {
                let promise_s =
                    StateSearch::new(&problem.table).promise(&problem.rates(), &problem.change(), problem.start);
                tasks.extend((0..planners.len()).map(|planner| (promise_s, order, planner, problem.clone())));
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    tasks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut found: Vec<(usize, usize, Problem, Choice)> = Vec::new();
    let mut best_s = f64::INFINITY;
    let kept = request.kept_algorithm();
    // One after another, so that each knows the best before it; a search computes its flows side by side.
    for (_, order, planner, problem) in tasks {
        match planners[planner].choose_within(&problem, best_s * (1.0 + ROUNDING)) {
            Ok(Some(choice)) if kept.is_some_and(|name| name != choice.problem.schedule().algorithm()) => {}
            Ok(Some(choice)) => {
                best_s = best_s.min(choice.total_s);
                found.push((planner, order, problem, choice));
            }
            Ok(None) => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    let best = found
        .into_iter()
        .filter(|(_, _, _, choice)| choice.total_s <= best_s * (1.0 + ROUNDING))
        .min_by_key(|(planner, order, _, _)| (*planner, *order));
    // An algorithm that does not take this shape is no news where another fails for a better reason.
    let refusal = refusal.or_else(|| refusals.into_iter().next().map(|(_, error)| error));
    let (_, _, problem, choice) = best.ok_or_else(|| {
        refusal.unwrap_or_else(|| Error::infeasible("algorithm", "no algorithm and planner serve this problem"))
    })?;
    Ok((problem, choice))
}

/// The request's single schedule as a problem whose profiles can serve many sizes and delays.
///
/// # Errors
/// Wrong input, or a request that leaves the algorithm open.
pub fn problem(request: &Request) -> Result<Problem> {
    let (mut schedules, refusals) = request.schedules()?;
    match (schedules.pop(), schedules.is_empty()) {
        (Some(schedule), true) => request.problem(schedule),
        (Some(_), false) => {
            Err(Error::value("algorithm", "auto", "one algorithm's name where one schedule is asked for"))
        }
        (None, _) => Err(refusals
            .into_iter()
            .next()
            .map_or_else(|| Error::infeasible("algorithm", "no algorithm serves this problem"), |(_, error)| error)),
    }
}

/// A topology by specification, such as `ring`, `torus:4x4x4` or `circulant:1,-1`.
///
/// # Errors
/// An unknown name or parameters that the shape cannot have.
pub fn topology(spec: &str, shape: &model::Shape) -> Result<Topology> {
    topologies::build(spec, shape)
}

fn verified(plan: Plan) -> Result<Plan> {
    let report = verify::plan(&plan);
    match report.first_failure() {
        None => Ok(plan),
        Some(check) => Err(Error::Rejected { check: check.name.to_string(), detail: check.detail.clone() }),
    }
}
