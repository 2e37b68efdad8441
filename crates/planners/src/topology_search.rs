//! Topologies beyond a choice's candidates: all circulants, and local search where there is time for it.
//!
//! For every run of steps that a choice keeps one topology for, for every two runs that follow each other and for all
//! steps together, the best topologies that the crate `search` finds join the choice's own, and the best sequence
//! of them is looked for again. So a choice only becomes faster.

use std::ops::Range;
use std::time::Duration;

use model::{CostSettings, Overlap, Propagation, Result, Routing, Shape, Step, Topology};
use search::{Circulants, PricedStep, SearchLimits, local_search};

use crate::cutoffs::topology_search::{
    MOST_CIRCULANTS, MOST_CIRCULANTS_IN_BUDGET, MOST_EVALUATIONS, MOST_MESSAGES, MOST_RANKS, MOST_STEPS,
    MOST_UNEQUAL_MESSAGES,
};
use crate::{Choice, StateSearch};

/// The choice on the best topologies that can be found; local search takes `budget`, circulants what they need. One
/// port makes only rings, which are candidates already, so that only local search may find more there.
///
/// # Errors
/// No error for a choice that a planner made.
pub fn searched(choice: Choice, budget: Option<Duration>, seed: u64) -> Result<Choice> {
    let problem = &choice.problem;
    let settings = problem.settings;
    let shape = &problem.fabric.shape;
    if !is_searchable(&choice, budget) {
        return Ok(choice);
    }
    let rates = problem.rates();
    let steps: Vec<PricedStep> = problem
        .schedule()
        .steps()
        .iter()
        .zip(&rates.load_s)
        .map(|(step, &load_s)| PricedStep { traffic: step.traffic(), hop_s: rates.hop_s, load_s })
        .collect();
    let most = if budget.is_some() { MOST_CIRCULANTS_IN_BUDGET } else { MOST_CIRCULANTS };
    // Too many ranks for any circulant: nothing is found.
    let Ok(circulants) = Circulants::new(shape.gpus(), shape.ports(), &steps, most) else { return Ok(choice) };
    let circulants = circulants.sharing(&problem.cache.fronts);
    if budget.is_none() && !circulants.is_exhaustive() {
        return Ok(choice);
    }
    let intervals = intervals(&choice.candidates);
    let mut found: Vec<Topology> = Vec::new();
    for interval in &intervals {
        found.extend(circulants.best(interval.clone(), 1).into_iter().map(|(topology, _)| topology));
        if let Some(budget) = budget {
            let budget = Some(budget / intervals.len() as u32);
            let limits = SearchLimits { seed, evaluations: MOST_EVALUATIONS, budget };
            found.extend(local_search(&circulants, interval.clone(), limits)?.map(|(topology, _)| topology));
        }
    }
    let mut used = choice.candidates.clone();
    used.sort_unstable();
    used.dedup();
    let own = used.into_iter().map(|candidate| problem.table.candidate(candidate).clone());
    let candidates = topologies::candidates::dedupe(own.chain(found).collect());
    let schedule = problem.schedule().clone();
    let wider = problem.with(schedule, settings, candidates)?;
    let mut search = StateSearch::new(&wider.table);
    let better_s = choice.total_s * (1.0 - 1e-9);
    match search.run(&wider.rates(), &wider.charges(), wider.before(), better_s)? {
        Some(total_s) => {
            let candidates = search.path().to_vec();
            Ok(Choice { problem: wider, candidates, total_s, ..choice })
        }
        None => Ok(choice),
    }
}

/// Whether [`searched`] looks for topologies of a choice at all.
pub fn is_searchable(choice: &Choice, budget: Option<Duration>) -> bool {
    let CostSettings { routing, propagation, overlap } = choice.problem.settings;
    let priced = (routing, propagation, overlap) == (Routing::ConcurrentFlow, Propagation::Hops, Overlap::Additive)
        && choice.problem.fabric.shape.faults().is_empty()
        && choice.problem.fabric.shape.unlike_rates().is_none();
    let steps = choice.problem.schedule().steps();
    let is_unequal = choice.problem.schedule().chunks().as_pieces().is_some();
    let takes_long = |step: &Step| {
        let (traffic, messages) = (step.traffic(), step.traffic().arcs().len());
        (traffic.is_uniform() && messages > MOST_MESSAGES) || (is_unequal && messages > MOST_UNEQUAL_MESSAGES)
    };
    // Where routes were made with the topologies, these were searched already.
    priced
        && !choice.problem.table.has_given_routes()
        && serves(&choice.problem.fabric.shape, budget)
        && choice.candidates.len() <= MOST_STEPS
        && (budget.is_some() || !steps.iter().any(takes_long))
}

/// Whether [`searched`] finds topologies for any steps on a fabric of this shape.
pub fn serves(shape: &Shape, budget: Option<Duration>) -> bool {
    budget.is_some() || (shape.gpus() <= MOST_RANKS && shape.ports() > 1)
}

/// The runs of equal candidates, pairs of runs that follow each other, and all steps.
fn intervals(candidates: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for run in candidates.chunk_by(|a, b| a == b) {
        let from = runs.last().map_or(0, |last| last.end);
        runs.push(from..from + run.len());
    }
    let pairs = runs.windows(2).map(|pair| pair[0].start..pair[1].end);
    let mut all: Vec<Range<usize>> =
        runs.iter().cloned().chain(pairs).chain(std::iter::once(0..candidates.len())).collect();
    all.sort_by_key(|interval| (interval.start, interval.end));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_pairs_and_the_whole_are_looked_at() {
        assert_eq!(intervals(&[4, 4, 2, 2, 2, 7]), [0..2, 0..5, 0..6, 2..5, 2..6, 5..6]);
        assert_eq!(intervals(&[1, 1]), std::iter::once(0..2).collect::<Vec<_>>());
    }
}
