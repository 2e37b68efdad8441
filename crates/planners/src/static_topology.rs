//! One topology for the whole collective: HARVEST's *static* baseline (§6.1).

use model::{Error, Result, sum_seconds};

use crate::{Choice, Planner, Problem};

/// See the module.
pub struct Static;

impl Planner for Static {
    fn name(&self) -> &'static str {
        "static"
    }

    fn summary(&self) -> &'static str {
        "one topology throughout: the one named, or the best of a list (ring, tori, generalised Kautz)"
    }

    fn source(&self) -> &'static str {
        "HARVEST §6.1, static baseline"
    }

    fn choose(&self, problem: &Problem) -> Result<Choice> {
        let all: Vec<usize> = (0..problem.table.candidates()).collect();
        let allowed = if problem.static_candidates.is_empty() { &all } else { &problem.static_candidates };
        let change = problem.change();
        let mut best: Option<(f64, usize)> = None;
        let mut refusal = Error::infeasible("topology", "no static topology was given");
        for &candidate in allowed {
            match time_on(problem, candidate) {
                Ok(time_s) => {
                    let first_s =
                        problem.start.map_or(0.0, |s| change.between(problem.table.candidates(), s, candidate));
                    if best.is_none_or(|(so_far, _)| time_s + first_s < so_far) {
                        best = Some((time_s + first_s, candidate));
                    }
                }
                Err(error) => refusal = error,
            }
        }
        let (total_s, candidate) = best.ok_or(refusal)?;
        let candidates = vec![candidate; problem.table.steps()];
        Ok(Choice { planner: self.name(), problem: problem.clone(), candidates, total_s })
    }
}

/// Completion time of every step on one candidate, without any reconfiguration.
fn time_on(problem: &Problem, candidate: usize) -> Result<f64> {
    let steps: Result<Vec<f64>> = (0..problem.table.steps())
        .map(|step| problem.step_cost(step, candidate).map(|(cost, _, _)| cost.total_s()))
        .collect();
    Ok(sum_seconds(steps?))
}
