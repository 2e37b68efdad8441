//! The same problem by every planner and baseline, side by side.

use model::{Bound, Error, Result, Schedule};
use planners::{Choice, Planner, Problem};
use rayon::prelude::*;

use crate::Request;
use crate::request::open_planners;

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

impl Row {
    fn time_s(&self) -> f64 {
        self.outcome.as_ref().map_or(f64::INFINITY, |outcome| outcome.total_s)
    }
}

/// What a planner found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Completion time, s.
    pub total_s: f64,
    /// Number of changes of topology, hidden ones included.
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
    let open = request.planner.is_none();
    // Topologies that are named for the static planner leave the others in the comparison.
    let mut planners = request.planners()?;
    if open {
        planners = open_planners().filter(|planner| request.admit(*planner).is_ok()).collect();
    }
    let (choosing, planners): (Vec<_>, Vec<_>) = planners.into_iter().partition(|planner| planner.chooses_algorithm());
    request.size_bytes()?;
    let (schedules, refusals) = request.schedules()?;
    let problems: Vec<Problem> =
        schedules.into_par_iter().map(|schedule: Schedule| request.problem(schedule)).collect::<Result<_>>()?;
    let mut rows: Vec<Row> = problems
        .par_iter()
        .flat_map(|problem| planners.par_iter().flat_map(|planner| rows_of(problem, *planner)))
        .collect();
    for planner in choosing {
        rows.push(row_of_all(request, planner));
    }
    if open {
        for (planner, error) in open_planners().filter_map(|p| request.admit(p).err().map(|e| (p.name(), e))) {
            let (planner, algorithm, topology) = (planner.into(), String::new(), String::new());
            rows.push(Row { planner, algorithm, topology, outcome: Err(error) });
        }
    }
    for (algorithm, error) in refusals {
        rows.push(Row {
            planner: String::new(),
            algorithm: algorithm.into(),
            topology: String::new(),
            outcome: Err(error),
        });
    }
    rows.sort_by(|a, b| a.time_s().total_cmp(&b.time_s()));
    let bounds = rows.iter().filter_map(|row| row.outcome.as_ref().ok()).map(|outcome| &outcome.bound);
    // Planners may run other steps than they were given, of the same collective.
    let any = problems.first().map(Problem::any_algorithm_bound);
    match bounds.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).cloned() {
        Some(least) => {
            let bound_class = match problems.len() {
                1 => least.class,
                _ if any.is_some_and(|any| any.class == least.class) => least.class,
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

/// The best of every planner that takes one schedule and the request, on the problem that leaves all candidates open.
pub(crate) fn baselines(request: &Request, problem: &Problem) -> Vec<Row> {
    let planners = open_planners().filter(|planner| request.admit(*planner).is_ok());
    let planners: Vec<_> = planners.filter(|planner| !planner.chooses_algorithm()).collect();
    let mut rows: Vec<Row> = planners.par_iter().map(|planner| row_of(problem, *planner)).collect();
    rows.retain(|row| row.outcome.is_ok());
    rows.sort_by(|a, b| a.time_s().total_cmp(&b.time_s()));
    rows
}

/// The line of a planner that chooses the algorithm too.
fn row_of_all(request: &Request, planner: &'static dyn Planner) -> Row {
    let named = Request { planner: Some(planner.name().into()), ..request.clone() };
    let choice = crate::best_choice(&named).map(|(_, choice)| choice);
    let algorithm = choice.as_ref().map_or("", |choice| choice.problem.schedule().algorithm()).into();
    let outcome = choice.map(|choice| outcome(&choice));
    Row { planner: planner.name().into(), algorithm, topology: String::new(), outcome }
}

/// The figures of a choice.
fn outcome(choice: &Choice) -> Outcome {
    Outcome { total_s: choice.total_s, reconfigurations: choice.reconfigurations(), bound: choice.bound() }
}

fn rows_of(problem: &Problem, planner: &'static dyn Planner) -> Vec<Row> {
    if planner.name() != "static" {
        return vec![row_of(problem, planner)];
    }
    let all: Vec<usize> = (0..problem.table.candidates()).collect();
    let listed = if problem.static_candidates.is_empty() { &all } else { &problem.static_candidates };
    let only = |&candidate: &usize| {
        let mut only = problem.clone();
        only.static_candidates = vec![candidate];
        // A topology that cannot serve is named all the same.
        Row { topology: problem.table.candidate(candidate).name().into(), ..row_of(&only, planner) }
    };
    listed.par_iter().map(only).collect()
}

fn row_of(problem: &Problem, planner: &'static dyn Planner) -> Row {
    let choice = planners::choose(planner, problem, f64::INFINITY).and_then(|choice| {
        choice.ok_or_else(|| Error::infeasible("planner", format!("{} finds no finite time", planner.name())))
    });
    let topology = match &choice {
        Ok(choice) if planner.name() == "static" => choice.problem.table.candidate(choice.candidates[0]).name().into(),
        _ => String::new(),
    };
    Row {
        planner: planner.name().into(),
        algorithm: choice.as_ref().map_or(problem, |choice| &choice.problem).schedule().algorithm().into(),
        topology,
        outcome: choice.map(|choice: Choice| Outcome {
            total_s: choice.total_s,
            reconfigurations: choice.reconfigurations(),
            bound: choice.bound(),
        }),
    }
}
