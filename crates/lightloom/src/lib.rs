//! The whole flow on one page: a [`Request`] in, a verified [`Plan`] or a [`Comparison`] out.
//!
//! ```text
//! Request ─▶ schedules ─▶ problem (candidates, profiles) ─▶ planners ─▶ best choice ─▶ plan ─▶ verify
//! ```

mod compare;
mod request;

use model::{Error, Plan, Result, Schedule, Topology};
use planners::{Choice, Planner, Problem};
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

/// The choice of least time, with the problem that it answers.
fn best_choice(request: &Request) -> Result<(Problem, Choice)> {
    let planners = request.planners()?;
    let (schedules, refusals) = request.schedules()?;
    let answers: Vec<Result<(Problem, Choice)>> =
        schedules.into_par_iter().flat_map(|schedule| choose_each(request, schedule, &planners)).collect();
    let mut best: Option<(Problem, Choice)> = None;
    let mut refusal = refusals.into_iter().next().map(|(_, error)| error);
    for answer in answers {
        match answer {
            Ok(answer) if best.as_ref().is_none_or(|best| answer.1.total_s < best.1.total_s) => best = Some(answer),
            Ok(_) => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    best.ok_or_else(|| {
        refusal.unwrap_or_else(|| Error::infeasible("algorithm", "no algorithm and planner serve this problem"))
    })
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

fn choose_each(
    request: &Request,
    schedule: Schedule,
    planners: &[&'static dyn Planner],
) -> Vec<Result<(Problem, Choice)>> {
    match request.problem(schedule) {
        Ok(problem) => planners
            .par_iter()
            .map(|planner| planner.choose(&problem).map(|choice| (problem.clone(), choice)))
            .collect(),
        Err(error) => vec![Err(error)],
    }
}

fn verified(plan: Plan) -> Result<Plan> {
    let report = verify::plan(&plan);
    match report.first_failure() {
        None => Ok(plan),
        Some(check) => Err(Error::Rejected { check: check.name.to_string(), detail: check.detail.clone() }),
    }
}
