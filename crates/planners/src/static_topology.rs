//! One topology for the whole collective: HARVEST's *static* baseline (§6.1).

use model::{Error, Result, sum_seconds};

use crate::{Choice, Planner, Problem, Rates};

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

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let all: Vec<usize> = (0..problem.table.candidates()).collect();
        let allowed = if problem.static_candidates.is_empty() { &all } else { &problem.static_candidates };
        let change = problem.change();
        let first_s =
            |candidate| problem.start.map_or(0.0, |start| change.between(problem.table.candidates(), start, candidate));
        // Cheapest promise first: a candidate whose lower bound is no better than the best so far needs no flows.
        let rates = problem.rates();
        let mut promises: Vec<(f64, usize)> = allowed
            .iter()
            .map(|&candidate| (first_s(candidate) + promise(problem, &rates, candidate), candidate))
            .collect();
        promises.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<(f64, usize)> = None;
        if promises.iter().all(|(promised_s, _)| promised_s.is_infinite()) {
            return Err(refusal(problem, allowed));
        }
        for (promised_s, candidate) in promises {
            if promised_s > limit_s || best.is_some_and(|(so_far, _)| promised_s >= so_far) {
                break;
            }
            let total_s = first_s(candidate) + time_on(problem, candidate)?;
            if best.is_none_or(|(so_far, _)| total_s < so_far) {
                best = Some((total_s, candidate));
            }
        }
        let best = best.filter(|(total_s, _)| *total_s <= limit_s);
        Ok(best.map(|(total_s, candidate)| {
            let candidates = vec![candidate; problem.table.steps()];
            Choice { planner: self.name(), problem: problem.clone(), candidates, total_s }
        }))
    }
}

/// A lower bound on the completion time on one candidate, from what is known without flows.
fn promise(problem: &Problem, rates: &Rates, candidate: usize) -> f64 {
    (0..problem.table.steps())
        .map(|step| {
            let known = problem.table.estimates(problem.table.pattern_of_step(step));
            rates.startup_s + rates.hop_s * known.hops[candidate] + rates.load_s[step] * known.loads[candidate]
        })
        .sum()
}

/// Why none of the candidates serves.
fn refusal(problem: &Problem, allowed: &[usize]) -> Error {
    let without_path = |&candidate: &usize| {
        let serves =
            |step: &usize| problem.table.estimates(problem.table.pattern_of_step(*step)).hops[candidate].is_finite();
        let step = (0..problem.table.steps()).find(|step| !serves(step))?;
        let name = problem.table.candidate(candidate).name();
        Some(Error::refused("topology", name, format!("some transfer of step {} has no path on it", step + 1)))
    };
    allowed
        .iter()
        .find_map(without_path)
        .unwrap_or_else(|| Error::infeasible("topology", "no static topology was given"))
}

/// Completion time of every step on one candidate, without any reconfiguration.
fn time_on(problem: &Problem, candidate: usize) -> Result<f64> {
    let table = &problem.table;
    table.compute_fronts((0..table.patterns().len()).map(|pattern| (pattern, candidate)));
    let steps: Result<Vec<f64>> = (0..problem.table.steps())
        .map(|step| problem.step_cost(step, candidate).map(|(cost, _, _)| cost.total_s()))
        .collect();
    Ok(sum_seconds(steps?))
}
