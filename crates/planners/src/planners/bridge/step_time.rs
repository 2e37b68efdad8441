//! The time of a step on a candidate.

use crate::{Problem, Rates};

/// Time of a step on a candidate, s; infinite where it has no path. Flows only where one is not obvious.
pub(super) fn step_s(problem: &Problem, rates: &Rates, step: usize, candidate: usize) -> f64 {
    let known = problem.table.estimates(problem.table.pattern_of_step(step));
    if known.hops[candidate].is_infinite() {
        return f64::INFINITY;
    }
    if known.exact[candidate] {
        return rates.of(step, candidate, known.hops[candidate] as u32, known.loads[candidate]);
    }
    problem.step_cost(step, candidate).map_or(f64::INFINITY, |(cost, ..)| cost.total_s())
}
