//! The whole flow on one page: a [`Request`] in, a verified [`Plan`] or a [`Comparison`] out.
//!
//! ```text
//! Request ─▶ schedules ─▶ problem (candidates, profiles) ─▶ planners ─▶ best choice ─▶ plan ─▶ verify
//! ```

mod bound;
mod compare;
mod grid;
mod proved;
mod request;

use model::{Error, Plan, Result, Schedule};
use planners::{Choice, Planner, Problem};

pub use bound::bound;
pub use bounds::{Segment, Statement};
pub use compare::{Comparison, Outcome, Row, compare};
pub use grid::{Figures, Grid, Verdict};
pub use proved::proved_plan;
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
    let (schedule, choice) = best_choice(request)?;
    let open = if request.leaves_topologies_open() {
        request.clone()
    } else {
        Request { planner: None, candidates: None, static_topologies: None, ..request.clone() }
    };
    let rows = compare::baselines(&open, &open.problem(schedule)?);
    Ok((verified(choice.into_plan()?)?, rows))
}

/// Times closer than this, relatively, are equal.
const ROUNDING: f64 = 1e-12;

/// The choice of least time, with the schedule that was to be planned.
///
/// Planners that make their own topologies go first, since they need no profiles. Then the others, the
/// schedule of the least lower bound first; one whose bound is above the best time is left out, and the rest
/// are given up as soon as they are known to be slower. Times that differ by rounding alone are ties, which
/// go to the earlier planner, then to the earlier algorithm, so that the order of work does not show.
fn best_choice(request: &Request) -> Result<(Schedule, Choice)> {
    let planners = request.planners()?;
    let size_bytes = request.size_bytes()?;
    let (schedules, refusals) = request.schedules()?;
    let (choosing, making): (Vec<usize>, Vec<usize>) =
        (0..planners.len()).partition(|&planner| planners[planner].takes_candidates());
    let mut best = Best { kept: request.kept_algorithm(), time_s: f64::INFINITY, found: Vec::new(), refusal: None };
    let (composing, making): (Vec<usize>, Vec<usize>) =
        making.into_iter().partition(|&planner| planners[planner].chooses_algorithm());
    if let (None, Some(schedule)) = (best.kept, schedules.first()) {
        match request.problem_without_candidates(schedule.clone()) {
            Ok(problem) => {
                composing.iter().for_each(|&planner| best.try_planner(planners[planner], (planner, 0), &problem))
            }
            Err(error) => best.refuse(error),
        }
    }
    for (order, schedule) in schedules.iter().enumerate().filter(|_| !making.is_empty()) {
        match request.problem_without_candidates(schedule.clone()) {
            Ok(problem) => {
                making.iter().for_each(|&planner| best.try_planner(planners[planner], (planner, order), &problem))
            }
            Err(error) => best.refuse(error),
        }
    }
    let bound_s =
        |schedule: &Schedule| bounds::given_schedule(schedule, &request.fabric, request.settings, size_bytes).seconds();
    let mut by_bound: Vec<(f64, usize)> = schedules.iter().map(bound_s).zip(0..).collect();
    by_bound.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (bound_s, order) in by_bound.into_iter().filter(|_| !choosing.is_empty()) {
        let schedule = &schedules[order];
        // A step that must be split runs as others than the bound is for.
        let as_given = schedule.steps().iter().all(|step| step.traffic().degree() <= request.fabric.shape.ports());
        if as_given && bound_s > best.limit_s() {
            continue;
        }
        match request.problem(schedule.clone()) {
            Ok(problem) => {
                choosing.iter().for_each(|&planner| best.try_planner(planners[planner], (planner, order), &problem))
            }
            Err(error) => best.refuse(error),
        }
    }
    // An algorithm that does not take this shape is no news where another fails for a better reason.
    let (limit_s, refusal) = (best.limit_s(), best.refusal.or_else(|| refusals.into_iter().next().map(|(_, e)| e)));
    let fastest =
        best.found.into_iter().filter(|(_, choice)| choice.total_s <= limit_s).min_by_key(|(place, _)| *place);
    let ((_, order), mut choice) = fastest.ok_or_else(|| {
        refusal.unwrap_or_else(|| Error::infeasible("algorithm", "no algorithm and planner serve this problem"))
    })?;
    // A planner that chooses algorithms may use any topology, so where one is open to the request, so are these.
    if let Some(planner) = planners.iter().find(|planner| planner.chooses_algorithm()) {
        let given_s = choice.total_s;
        choice = planners::searched(choice, request.options.budget, request.seed)?;
        if choice.total_s < given_s || request.keeps_the_best().is_some() {
            choice.planner = planner.name();
        }
    }
    Ok((schedules[order].clone(), choice))
}

/// The best choices so far.
struct Best<'a> {
    /// The algorithm that a plan must keep.
    kept: Option<&'a str>,
    time_s: f64,
    /// By place, that is planner and algorithm.
    found: Vec<((usize, usize), Choice)>,
    refusal: Option<Error>,
}

impl Best<'_> {
    /// Above this a choice is slower than the best.
    fn limit_s(&self) -> f64 {
        self.time_s * (1.0 + ROUNDING)
    }

    fn try_planner(&mut self, planner: &dyn Planner, place: (usize, usize), problem: &Problem) {
        match planners::choose(planner, problem, self.limit_s()) {
            Ok(Some(choice)) if self.kept.is_some_and(|name| name != choice.problem.schedule().algorithm()) => {}
            Ok(Some(choice)) => {
                self.time_s = self.time_s.min(choice.total_s);
                self.found.push((place, choice));
            }
            Ok(None) => {}
            Err(error) => self.refuse(error),
        }
    }

    /// Keeps the first reason.
    fn refuse(&mut self, error: Error) {
        self.refusal.get_or_insert(error);
    }
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
