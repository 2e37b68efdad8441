//! The whole flow on one page: a [`Request`] in, a verified [`Plan`] or a [`Comparison`] out.
//!
//! ```text
//! Request ─▶ schedules ─▶ problem (candidates, profiles) ─▶ planners ─▶ best choice ─▶ plan ─▶ verify
//! ```

mod all_to_all_lines;
mod baseline_limits;
mod baselines;
mod best;
mod better;
mod bound;
mod budget;
mod compare;
mod cutoffs;
mod explain;
mod forwarding;
mod judgement;
mod known_requests;
mod many_gpus;
mod matrix;
mod never_change;
pub mod options;
mod path_counts;
mod placement;
mod preparation;
mod race;
mod repair;
mod request;
mod request_problem;
mod row;
mod same_bits;
mod schedules;
mod series;
mod solver_choice;
mod step_topologies;
mod subset;
mod text_request;
mod threads;
mod tiers;
mod uncertain;
mod warm_start;

use bounds::KnownBounds;
use model::{Error, Plan, Result};
use planners::{Choice, Problem};

pub use all_to_all_lines::all_to_all_lines;
pub use baselines::baselines;
pub use better::{Better, Told, plan_as_found};
pub use bound::{Bounds, bound};
pub use bounds::{BoundSegment, Statement};
pub use budget::{MEMORY, check_extent, most_gpus};
pub use compare::{Comparison, compare, compare_as_found};
pub use explain::explain;
pub use judgement::{verify_plan, verify_training};
pub use known_requests::{KnownPlan, KnownRequests};
pub use matrix::{MatrixRef, workload_matrix};
pub use placement::shortest_order;
use preparation::Prepared;
pub use repair::{Repaired, repair};
pub use request::{GIVEN, Request, Size, TopologyRef, Workload};
pub use row::{PlannerOutcome, Row};
pub use same_bits::{has_same_bits, plan_with_same_bits, with_same_bits};
pub use series::{Evaluation, Points, Series};
pub use solver_choice::proved_plan;
pub use step_topologies::{STATED, plan_on};
pub use text_request::{StatedFabric, TextFabric, TextRequest};
pub use threads::{all_cores, bound_threads};
pub use uncertain::{SampledPlan, plans_by};

/// Plans the request: the best of the planners and algorithms that it leaves open. The plan has passed
/// `verify`.
///
/// # Errors
/// Wrong input, or nothing that serves the request.
pub fn plan(request: &Request) -> Result<Plan> {
    plan_as_found(request, None, None)
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
            Err(Error::value("algorithm", "auto", "one algorithm's name: the steps of one schedule are planned"))
        }
        (None, _) => Err(refusals
            .into_iter()
            .next()
            .map_or_else(|| Error::infeasible("algorithm", "no algorithm serves this problem"), |(_, error)| error)),
    }
}

/// The plan of a choice; `narrow_first` as for [`Choice::into_plan`].
fn planned(choice: Choice, narrow_first: bool) -> Result<Plan> {
    budget::check_plan(&choice)?;
    let cache = choice.problem.cache.clone();
    verified(choice.into_plan(narrow_first)?, &cache.bounds)
}

/// The plan, if it passes `verify`.
fn verified(plan: Plan, known: &KnownBounds) -> Result<Plan> {
    let report = judgement::verify_plan_with(&plan, known);
    match report.first_failure() {
        None => Ok(plan),
        Some(check) => Err(Error::Rejected { check: check.name.to_string(), detail: check.detail.clone() }),
    }
}
