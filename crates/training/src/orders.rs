//! The order of an iteration's nodes, once their plans and ports are chosen: rules of priority, exchanges along the
//! chain of waits, and all orders where there are few.

mod branching;
mod exchanges;
mod machines;
mod paths;
mod rules;

use branching::{Branching, MOST_NODES};
use machines::{machines, one_at_a_time_s, period_s};
use paths::Paths;

use crate::cutoffs::orders::FEW;
use crate::timeline::{Problem, Rule, Timeline};

/// Nodes that the search of a good order may place, for an iteration that has most to gain by it: once for each choice
/// of plans and ports, and for the best choice.
const PLACED: [usize; 2] = [400, 60_000];

/// An order, and what is known of all others.
#[derive(Debug, Clone)]
pub(crate) struct Ordered {
    pub(crate) timeline: Timeline,
    /// Lower bound on the time of any order, s.
    pub(crate) bound_s: f64,
    /// Whether this one is the fastest.
    pub(crate) is_best: bool,
}

/// A good order, found with little effort.
pub(crate) fn quickly(problem: &Problem<'_>) -> Option<Timeline> {
    let paths = Paths::of(problem);
    let rules = rules_of(problem, &paths);
    if problem.jobs.jobs.len() > FEW {
        return problem.by_rule(&rules[0]);
    }
    let machines = machines(problem);
    let bound_s = bound_s(problem, &paths, &machines);
    let mut best: Option<Timeline> = None;
    for rule in &rules {
        best = fastest(best.into_iter().chain(problem.by_rule(rule)));
        if best.as_ref().is_some_and(|best| best.is_least(bound_s)) {
            return best;
        }
    }
    if problem.jobs.jobs.len() > MOST_NODES || problem.limits.is_some() {
        return best;
    }
    Branching::new(*problem, &paths, &machines, bound_s, best).run(PLACED[0]).0
}

/// The best order that can be found, from one that is known.
pub(crate) fn improved(problem: &Problem<'_>, known: Timeline) -> Ordered {
    let paths = Paths::of(problem);
    let machines = machines(problem);
    let bound_s = bound_s(problem, &paths, &machines);
    let found = rules_of(problem, &paths).into_iter().filter_map(|rule| problem.by_rule(&rule));
    let mut best = fastest(std::iter::once(known.clone()).chain(found)).unwrap_or(known);
    // Where each node waits for the one before there is one order.
    let mut is_best = best.is_least(bound_s);
    let searches = problem.limits.is_none();
    is_best |= searches && problem.jobs.in_series().is_some();
    if !is_best && searches {
        best = exchanges::improved(problem, best);
        is_best = best.is_least(bound_s);
    }
    if !is_best && searches && problem.jobs.jobs.len() <= MOST_NODES {
        let branching = Branching::new(*problem, &paths, &machines, bound_s, Some(best.clone()));
        let (found, complete) = branching.run(PLACED[1]);
        (best, is_best) = (found.unwrap_or(best), complete);
    }
    let bound_s = bound_s.min(best.total_s);
    Ordered { timeline: best, bound_s, is_best }
}

/// The rules that are tried. Where the optical layer limits circuits, communications are placed by their starts: what
/// is lit then is known.
fn rules_of(problem: &Problem<'_>, paths: &Paths) -> Vec<Rule> {
    let mut rules = rules::rules(problem, paths);
    rules.retain(|rule| rule.earliest_first || problem.limits.is_none());
    rules
}

/// The first of the fastest.
fn fastest(timelines: impl Iterator<Item = Timeline>) -> Option<Timeline> {
    timelines.min_by(|a, b| a.total_s.total_cmp(&b.total_s))
}

/// Lower bound on the time of any order: the longest path; each machine by itself, over all iterations, and in one of
/// them with the longest paths before and behind its turns.
fn bound_s(problem: &Problem<'_>, paths: &Paths, machines: &[machines::Machine]) -> f64 {
    let of_machine = |machine: &machines::Machine| {
        let in_one_s = one_at_a_time_s(problem, machine, |_| true, &paths.before_s, &paths.behind_s);
        in_one_s.max(period_s(problem, machine))
    };
    machines.iter().map(of_machine).fold(paths.longest_s(problem), f64::max)
}

#[cfg(test)]
mod tests;
