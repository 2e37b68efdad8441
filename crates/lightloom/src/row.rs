//! A line of a comparison: a planner with what it found.

use model::{Error, Plan, Result, StepCost};
use planners::{Choice, Planner, Promise};

use crate::baseline_limits::BaselineLimits;

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the planner.
    pub planner: String,
    /// Whether the planner chooses the algorithm too, and so keeps the best of all planners' plans.
    pub keeps_the_best: bool,
    /// Whether the planner plans the collective that is asked for at all.
    pub is_for_collective: bool,
    /// Name of the algorithm.
    pub algorithm: String,
    /// The topology of a static plan, else empty.
    pub topology: String,
    /// The result of the planner, or why it found nothing.
    pub outcome: Result<PlannerOutcome>,
    /// The least time of its plan, s, where it is known to be slower than the best and was not solved to the end.
    pub at_least_s: Option<f64>,
}

impl Row {
    /// The line of a planner that was left out because of a better one, on `topology` if it keeps one.
    pub(crate) fn left_out(
        planner: &'static dyn Planner,
        algorithm: Option<&str>,
        topology: &str,
        limits: BaselineLimits,
        promise: Promise,
    ) -> Self {
        let outcome = Err(limits.reason(planner.name(), promise));
        Self { topology: topology.into(), at_least_s: Some(promise.least_s), ..row_of(planner, algorithm, outcome) }
    }

    pub(crate) fn time_s(&self) -> f64 {
        self.outcome.as_ref().map_or(f64::INFINITY, |outcome| outcome.total_s)
    }
}

/// The result of a planner.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannerOutcome {
    /// Completion time, s.
    pub total_s: f64,
    /// The terms of the time, each added up over the steps.
    pub cost: StepCost,
    /// Number of changes of topology, hidden ones included.
    pub reconfigurations: usize,
}

/// The line of a planner that keeps the best of all, which is this plan.
pub(crate) fn row_of_best(planner: &'static dyn Planner, plan: &Plan) -> Row {
    let cost = StepCost::sum(plan.steps.iter().map(|step| &step.cost));
    let (total_s, reconfigurations) = (plan.total_s(), plan.reconfigurations());
    Row {
        planner: planner.name().into(),
        keeps_the_best: true,
        is_for_collective: true,
        algorithm: plan.algorithm.clone(),
        topology: String::new(),
        outcome: Ok(PlannerOutcome { total_s, cost, reconfigurations }),
        at_least_s: None,
    }
}

/// The line of a choice, or why there is no choice with `algorithm`.
pub(crate) fn row_of(planner: &'static dyn Planner, algorithm: Option<&str>, choice: Result<Choice>) -> Row {
    let made = choice.as_ref().ok();
    let takes = planner.capabilities();
    let topology = made.filter(|_| takes.keeps_one_topology || takes.never_changes);
    let topology = topology.map(|choice| choice.problem.table.candidate(choice.candidates[0]).name().to_string());
    let algorithm = made.map(|choice| choice.problem.schedule().algorithm()).or(algorithm).unwrap_or_default();
    let outcome = choice.as_ref().map_err(Error::clone).and_then(|choice| {
        let (total_s, cost) = (choice.total_s, choice.cost()?);
        Ok(PlannerOutcome { total_s, cost, reconfigurations: choice.reconfigurations() })
    });
    Row {
        planner: planner.name().into(),
        keeps_the_best: takes.chooses_algorithm && !takes.never_changes,
        is_for_collective: true,
        algorithm: algorithm.into(),
        topology: topology.unwrap_or_default(),
        outcome,
        at_least_s: None,
    }
}
