//! One request at many sizes and delays: the best of the papers' planners and baselines beside the best of all.
//!
//! Schedules, candidates and profiles do not depend on sizes and delays, so all points of a grid share them.

use model::{Bound, Error, ReconfigurationDelay, Result};
use planners::{Choice, Planner, Problem};

use crate::Request;
use crate::request::open_planners;

/// One request, prepared for many sizes and delays.
pub struct Grid {
    /// A problem for every algorithm.
    problems: Vec<Problem>,
    /// Planners that are given an algorithm: the papers' and the baselines.
    given: Vec<&'static dyn Planner>,
    /// Planners that choose it.
    choosing: Vec<&'static dyn Planner>,
    /// What the latter are given.
    open: Problem,
    /// Of searches.
    seed: u64,
}

/// A plan's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Name of the planner.
    pub planner: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Completion time, s.
    pub total_s: f64,
    /// Number of charged changes of topology.
    pub reconfigurations: usize,
}

/// What a point of a grid shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The best of the planners that are given an algorithm, over all algorithms.
    pub given: Figures,
    /// The best of these and of the planners that choose the algorithm.
    pub best: Figures,
    /// No algorithm is faster, whatever is reconfigured when.
    pub bound: Bound,
}

impl Grid {
    /// Prepares the request; its size and reconfiguration delay are replaced at every point.
    ///
    /// # Errors
    /// Wrong input, or no algorithm for the request.
    pub fn new(request: &Request) -> Result<Self> {
        let (schedules, refusals) = request.schedules()?;
        let Some(first) = schedules.first().cloned() else {
            let none = || Error::infeasible("algorithm", "no algorithm serves this problem");
            return Err(refusals.into_iter().next().map_or_else(none, |(_, error)| error));
        };
        let admitted = open_planners().filter(|planner| request.admit(*planner).is_ok());
        let (choosing, given) = admitted.partition(|planner| planner.chooses_algorithm());
        let open = request.problem_without_candidates(first)?;
        let problems = schedules.into_iter().map(|schedule| request.problem(schedule)).collect::<Result<_>>()?;
        Ok(Self { problems, given, choosing, open, seed: request.seed })
    }

    /// The verdict for a buffer of `size_bytes` and a reconfiguration delay.
    ///
    /// # Errors
    /// When no planner serves the problem.
    pub fn judge(&self, size_bytes: u64, delay: ReconfigurationDelay) -> Result<Verdict> {
        let at = |problem: &Problem| {
            let mut problem = problem.clone();
            problem.size_bytes = size_bytes;
            problem.fabric.reconfiguration = delay;
            problem
        };
        let mut best: Option<Choice> = None;
        for problem in self.problems.iter().map(at) {
            best = faster(best, &problem, &self.given);
        }
        let given = best.as_ref().map(figures);
        let best = faster(best, &at(&self.open), &self.choosing);
        let best = best.map(|choice| planners::searched(choice, None, self.seed)).transpose()?;
        match (given, best) {
            (Some(given), Some(best)) => Ok(Verdict { given, best: figures(&best), bound: best.bound() }),
            _ => Err(Error::infeasible("planner", "no planner serves this problem")),
        }
    }
}

/// The best of `best` and what the planners find.
fn faster(mut best: Option<Choice>, problem: &Problem, planners: &[&'static dyn Planner]) -> Option<Choice> {
    for planner in planners {
        let limit_s = best.as_ref().map_or(f64::INFINITY, |choice| choice.total_s);
        // One that cannot serve the problem is not in the running.
        if let Ok(Some(choice)) = planners::choose(*planner, problem, limit_s)
            && choice.total_s < limit_s
        {
            best = Some(choice);
        }
    }
    best
}

fn figures(choice: &Choice) -> Figures {
    Figures {
        planner: choice.planner.into(),
        algorithm: choice.problem.schedule().algorithm().into(),
        total_s: choice.total_s,
        reconfigurations: choice.reconfigurations(),
    }
}
