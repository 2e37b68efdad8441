//! The whole flow on one page: a [`Request`] in, a verified [`Plan`] or a [`Comparison`] out.
//!
//! ```text
//! Request ─▶ schedules ─▶ problem (candidates, profiles) ─▶ planners ─▶ best choice ─▶ plan ─▶ verify
//! ```

mod all_to_all_lines;
mod bound;
mod compare;
mod grid;
mod prepared;
mod proved;
mod request;
mod series;

use model::{Error, Plan, Result, Schedule};
use planners::{Choice, Problem};

pub use all_to_all_lines::all_to_all_lines;
pub use bound::bound;
pub use bounds::{Segment, Statement};
pub use compare::{Comparison, Outcome, Row, compare};
pub use grid::{Figures, Grid, Verdict};
use prepared::Prepared;
pub use proved::proved_plan;
pub use request::{Request, Size, TopologyRef, Workload};
pub use series::{Evaluation, Points, Series};

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
    let (schedule, choice) = best_choice(request)?;
    let open = if request.leaves_topologies_open() {
        request.clone()
    } else {
        Request { planner: None, candidates: None, static_topologies: None, ..request.clone() }
    };
    let rows = compare::baselines(&open, &open.problem(schedule)?);
    Ok((verified(choice.into_plan()?)?, rows))
}

/// The choice of least time, with the schedule that was to be planned.
fn best_choice(request: &Request) -> Result<(Schedule, Choice)> {
    let prepared = Prepared::new(request)?;
    let (schedule, choice) = prepared.best_at(&prepared.own_numbers()?)?;
    Ok((schedule.clone(), choice))
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

fn verified(plan: Plan) -> Result<Plan> {
    let report = verify::plan(&plan);
    match report.first_failure() {
        None => Ok(plan),
        Some(check) => Err(Error::Rejected { check: check.name.to_string(), detail: check.detail.clone() }),
    }
}
