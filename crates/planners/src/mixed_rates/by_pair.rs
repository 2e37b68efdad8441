//! Plans for circuits whose rate and hop delay are those of the pair of GPUs that they join.
//!
//! A problem gives its topologies these rates, so that planners choose from their tables by them. Closed forms and
//! compositions of planners are for circuits that are alike. So a planner also plans for alike circuits, of each rate
//! in turn, with the least and the longest hop delay, and for the fast pairs alone, the others counting as broken;
//! every choice is priced on the fabric as it is:
//!
//! ```text
//! the problem itself             ─┐
//! all pairs of one rate, in turn ─┼─▶ the topologies at the rates of their pairs ─▶ the fastest choice
//! only pairs of at least a rate  ─┘
//! ```
//!
//! A planner that chooses the algorithm too also looks for one whose parts fit the rates, on topologies that stay.

use model::{Fabric, Fault, Faults, PairRates, Result, Topology};

use super::adaptation::moved_to;
use super::best_of::{faster, stays_on};
use super::composed_in_units::{self, OF_SMALL_DIAMETER, composes};
use super::near;
use crate::around_faults::MENDED;
use crate::cutoffs::mixed_rates::{MOST_GPUS_OF_FAST_PAIRS, MOST_THRESHOLDS, QUICKER};
use crate::{Choice, Planner, Problem, alike_ports, around_faults, pipeline};

/// A planner's choice on circuits with the rates of their pairs; `None` where no choice takes a finite time.
///
/// # Errors
/// As [`Planner::choose_within`].
pub(super) fn choose(planner: &dyn Planner, problem: &Problem, pairs: &PairRates) -> Result<Option<Choice>> {
    let mut best: Option<Choice> = None;
    let mut refusal = None;
    let mut bases: Vec<Topology> = Vec::new();
    let mut offer = |found: Result<Option<Choice>>| match found
        .and_then(|choice| choice.map(|choice| as_it_is(&choice, problem)).transpose())
    {
        Ok(found) => {
            bases.extend(found.iter().filter_map(stays_on));
            best = faster(best.take(), found);
        }
        Err(error) => drop(refusal.get_or_insert(error)),
    };
    offer(pipeline::choose(planner, problem, f64::INFINITY));
    let shape = &problem.fabric.shape;
    let mut charged = vec![problem.clone()];
    charged.extend(with_longest_hops(problem, pairs));
    if composes(planner, problem) {
        for quicker in QUICKER.iter().filter_map(|part| with_quicker_changes(problem, *part)) {
            offer(pipeline::choose(planner, &quicker, f64::INFINITY));
            charged.push(quicker);
        }
    }
    let rates_bps = few(pairs.rates_bps());
    for (problem, &rate_bps) in charged.iter().flat_map(|one| rates_bps.iter().map(move |rate_bps| (one, rate_bps))) {
        interruption::check();
        let alike = match alike_ports::problem(planner, problem, shape.ports(), rate_bps) {
            Ok(alike) => alike,
            Err(error) => {
                offer(Err(error));
                continue;
            }
        };
        offer(pipeline::choose(planner, &alike, f64::INFINITY));
        if let Some(fast) = on_fast_pairs(&alike, pairs)? {
            offer(around_faults::choose(planner, &fast, f64::INFINITY));
        }
    }
    if composes(planner, problem) {
        let small = OF_SMALL_DIAMETER.iter().filter_map(|name| topologies::build(name, shape).ok());
        bases.extend(small.map(|base| shape.rated(base)));
        let composed = composed_in_units::on_each(planner.name(), problem, &topologies::candidates::dedupe(bases))?;
        best = composed.into_iter().fold(best, |best, found| faster(best, Some(found)));
    }
    match (best, refusal) {
        (None, Some(refusal)) => Err(refusal),
        (best, _) => Ok(best),
    }
}

/// The problem where every hop takes the longest delay of any pair; `None` where all take as long.
fn with_longest_hops(problem: &Problem, pairs: &PairRates) -> Option<Problem> {
    let hop_delay_s = pairs.longest_hop_delay_s();
    let fabric = Fabric { hop_delay_s, ..problem.fabric.clone() };
    (hop_delay_s > problem.fabric.hop_delay_s).then(|| Problem { fabric, ..problem.clone() })
}

/// The problem where changes take this part of their time: algorithms composed for it have more topologies, on which
/// bytes keep to fast pairs. `None` where no constant is charged.
fn with_quicker_changes(problem: &Problem, part: f64) -> Option<Problem> {
    let policy = &problem.fabric.reconfiguration;
    let delay_s = policy.constant_s().filter(|delay_s| *delay_s > 0.0)?;
    let fabric = Fabric { reconfiguration: policy.with_fixed_s(part * delay_s), ..problem.fabric.clone() };
    Some(Problem { fabric, ..problem.clone() })
}

/// The fastest rates and the slowest.
fn few(mut rates_bps: Vec<f64>) -> Vec<f64> {
    if rates_bps.len() > MOST_THRESHOLDS {
        rates_bps.drain(MOST_THRESHOLDS - 1..rates_bps.len() - 1);
    }
    rates_bps
}

/// The problem on a fabric where the pairs of a lower rate cannot be joined; `None` where no pair has a lower rate,
/// where the start may join such pairs, or where GPUs are many.
///
/// # Errors
/// The errors of [`Problem::sharing`].
fn on_fast_pairs(alike: &Problem, pairs: &PairRates) -> Result<Option<Problem>> {
    let (gpus, least_bps) = (pairs.gpus(), alike.fabric.bandwidth_bps);
    if gpus > MOST_GPUS_OF_FAST_PAIRS || alike.fabric.initial.given().is_some() {
        return Ok(None);
    }
    let all = (0..gpus).flat_map(|one| (one + 1..gpus).map(move |other| (one, other)));
    let slow = all.filter(|&(one, other)| pairs.rate_bps(one, other) < least_bps);
    let slow: Faults = slow.map(|(one, other)| Fault::Link(one, other)).collect();
    if slow.is_empty() {
        return Ok(None);
    }
    let fabric = Fabric { shape: alike.fabric.shape.clone().with_faults(slow)?, ..alike.fabric.clone() };
    let candidates = (0..alike.table.candidates()).map(|one| alike.table.candidate(one).clone()).collect();
    let (cache, schedule) = (alike.cache.clone(), alike.schedule().clone());
    let mut own = Problem::sharing(cache, schedule, fabric, alike.settings, alike.size_bytes, candidates)?;
    own.static_candidates.clone_from(&alike.static_candidates);
    own.options = alike.options.clone();
    Ok(Some(own))
}

/// A choice on the fabric of a problem, whose circuits have the rates of their pairs: each run of steps with all of
/// them, or with the near ones alone. Topologies that were mended for pairs that count as broken are named for that,
/// since nothing is broken.
///
/// # Errors
/// When some transfer of a step has no path on its topology.
fn as_it_is(choice: &Choice, problem: &Problem) -> Result<Choice> {
    let shape = &problem.fabric.shape;
    let leaves_pairs_out = !choice.problem.fabric.shape.faults().is_empty();
    moved_to(choice, problem, |topology, _| {
        let rated = shape.rated(topology.clone().on_any_ports());
        let name = topology.name().strip_suffix(MENDED).filter(|_| leaves_pairs_out);
        let rated = match name {
            Some(name) => rated.renamed(format!("{name}, on fast pairs")),
            None => rated,
        };
        // Routes that are given may need all circuits.
        let nearer = match shape.pairs() {
            Some(pairs) if !choice.problem.table.has_given_routes() => near::circuits(&rated, pairs)?,
            _ => Vec::new(),
        };
        Ok(std::iter::once(rated).chain(nearer).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_rates_the_fastest_and_the_slowest_are_tried() {
        assert_eq!(few(vec![9.0, 8.0]), [9.0, 8.0]);
        assert_eq!(few((1..=9).rev().map(f64::from).collect()), [9.0, 8.0, 7.0, 1.0]);
    }
}
