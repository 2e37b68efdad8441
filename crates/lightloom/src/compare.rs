//! The same problem by every planner and baseline, side by side.

use model::{Bound, Error, Result, Schedule};
use planners::{Choice, Problem};
use rayon::prelude::*;

use crate::Request;

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the planner.
    pub planner: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// The topology of a static plan, else empty.
    pub topology: String,
    /// What it found, or why it found nothing.
    pub outcome: Result<Outcome>,
}

/// What a planner found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Completion time, s.
    pub total_s: f64,
    /// Number of charged changes of topology.
    pub reconfigurations: usize,
    /// Bound for the steps that the planner runs.
    pub bound: Bound,
}

/// All lines, fastest first, those without a time last.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The lines.
    pub rows: Vec<Row>,
    /// No line is below this, s.
    pub lower_bound_s: f64,
    /// The class of schedules that the bound holds for.
    pub bound_class: String,
}

/// Every algorithm that the request leaves open, by every planner, and by the static planner on each of its
/// topologies.
///
/// # Errors
/// Wrong input; a planner that cannot serve the problem is a row, not an error.
pub fn compare(request: &Request) -> Result<Comparison> {
    let planners = match &request.planner {
        Some(_) => request.planners()?,
        None => planners::REGISTRY.to_vec(),
    };
    request.size_bytes()?;
    let (schedules, refusals) = request.schedules()?;
    let problems: Vec<Problem> =
        schedules.into_par_iter().map(|schedule: Schedule| request.problem(schedule)).collect::<Result<_>>()?;
    let mut rows: Vec<Row> = problems
        .par_iter()
        .flat_map_iter(|problem| planners.iter().flat_map(|planner| rows_of(problem, *planner)))
        .collect();
    for (algorithm, error) in refusals {
        rows.push(Row {
            planner: String::new(),
            algorithm: algorithm.into(),
            topology: String::new(),
            outcome: Err(error),
        });
    }
    let time = |row: &Row| row.outcome.as_ref().map_or(f64::INFINITY, |outcome| outcome.total_s);
    rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let bounds = rows.iter().filter_map(|row| row.outcome.as_ref().ok()).map(|outcome| &outcome.bound);
    match bounds.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).cloned() {
        Some(least) => {
            let bound_class = match problems.len() {
                1 => least.class,
                _ => format!("the algorithms compared; least for {}", least.class),
            };
            Ok(Comparison { rows, lower_bound_s: least.seconds, bound_class })
        }
        None => Err(rows
            .into_iter()
            .find_map(|row| row.outcome.err())
            .unwrap_or_else(|| Error::infeasible("algorithm", "no algorithm serves this problem"))),
    }
}

fn rows_of(problem: &Problem, planner: &'static dyn planners::Planner) -> Vec<Row> {
    let algorithm = problem.schedule().algorithm();
    let row = |problem: &Problem, topology: &str| Row {
        planner: planner.name().into(),
        algorithm: algorithm.into(),
        topology: topology.into(),
        outcome: planner.choose(problem).map(|choice: Choice| Outcome {
            total_s: choice.total_s,
            reconfigurations: choice.reconfigurations(),
            bound: choice.bound(),
        }),
    };
    if planner.name() != "static" {
        return vec![row(problem, "")];
    }
    let all: Vec<usize> = (0..problem.table.candidates()).collect();
    let listed = if problem.static_candidates.is_empty() { &all } else { &problem.static_candidates };
    listed
        .iter()
        .map(|&candidate| {
            let mut only = problem.clone();
            only.static_candidates = vec![candidate];
            row(&only, problem.table.candidate(candidate).name())
        })
        .collect()
}
