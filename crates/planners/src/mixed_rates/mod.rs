//! Plans for ports of different rates.
//!
//! A planner plans for ports that are alike: for the fastest alone, for all of them at the rate of the slowest, for
//! what is between, and for all at the mean rate. Every choice is then moved onto the ports as they are:
//!
//! ```text
//! choice for alike ports ─▶ circuits dealt out to the ports of each rate, in several ways   (port_assignment.rs)
//!                        ─▶ for each run of steps on one topology the way that takes least
//! ```
//!
//! A planner that chooses the algorithm too also looks for one whose parts fit the rates, on topologies that stay
//! (`composed_in_units.rs`).
//!
//! Which circuits are on the fast ports is so chosen for the bytes that the steps bring over them. From a free start no
//! plan is slower than that of the fastest ports alone, nor than that of all ports at the rate of the slowest.
//!
//! Where the rate is that of a pair of GPUs, `by_pair.rs` makes the plans; where something is broken too, `failed.rs`
//! moves plans for what works around it.

mod adaptation;
mod best_of;
mod by_pair;
mod composed_in_units;
mod edge_colouring;
mod failed;
mod link_bytes;
mod near;
mod port_assignment;

use interruption::Interruptible;
use model::{Error, Initial, PortRates, Result, Topology};
use rayon::prelude::*;

use crate::cutoffs::mixed_rates::{MOST_THRESHOLDS, MOST_WAYS};
use crate::planners::from_known_starts;
use crate::{Choice, Planner, Problem, alike_ports, around_faults, pipeline};

use adaptation::moved;
use best_of::{faster, fastest_of, stays_on};
use composed_in_units::{OF_SMALL_DIAMETER, composes};

pub use port_assignment::as_it_starts;

/// A planner's choice on the circuits of the problem: on ports or pairs of different rates, or around what is broken,
/// where there are such ([`around_faults::choose`]).
///
/// # Errors
/// As [`Planner::choose_within`].
pub fn choose(planner: &dyn Planner, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
    let shape = &problem.fabric.shape;
    let is_plain = shape.unlike_rates().is_none() && shape.faults().is_empty();
    if is_plain || !planner.capabilities().keeps_one_topology {
        return on_these_circuits(planner, problem, limit_s);
    }
    // Where circuits are alike and all work, another topology may be the fastest than where they are not.
    let on = |&candidate: &usize| {
        let only = Problem { static_candidates: vec![candidate], ..problem.clone() };
        on_these_circuits(planner, &only, limit_s)
    };
    let found: Vec<Result<Option<Choice>>> = problem.allowed().par_iter().interruptible().map(on).collect();
    fastest_of(found)
}

/// A planner's choice, planned in one way for all topologies that it may use.
///
/// # Errors
/// As [`Planner::choose_within`].
fn on_these_circuits(planner: &dyn Planner, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
    let shape = &problem.fabric.shape;
    if shape.unlike_rates().is_none() {
        return around_faults::choose(planner, problem, limit_s);
    }
    if shape.faults().is_empty() {
        return Ok(where_all_works(planner, problem)?.filter(|choice| choice.total_s <= limit_s));
    }
    failed::choose(planner, problem, limit_s, where_all_works)
}

/// A planner's choice on ports or pairs of different rates, or on circuits that are alike, all of which work.
///
/// # Errors
/// As [`Planner::choose_within`].
fn where_all_works(planner: &dyn Planner, problem: &Problem) -> Result<Option<Choice>> {
    if let Some(pairs) = problem.fabric.shape.pairs() {
        return by_pair::choose(planner, problem, pairs);
    }
    let Some(rates) = problem.fabric.shape.rates() else {
        return pipeline::choose(planner, problem, f64::INFINITY);
    };
    let takes = planner.capabilities();
    let composes = composes(planner, problem);
    let mut best: Option<Choice> = None;
    let mut refusal = None;
    let mut bases: Vec<Topology> = Vec::new();
    for (ports, bandwidth_bps) in alike(rates) {
        interruption::check();
        // What is faster on alike ports need not be so on those of different rates, so that nothing is given up early.
        let own = alike_ports::problem(planner, problem, ports, bandwidth_bps);
        let found = own.as_ref().map_err(Error::clone).and_then(|own| {
            let choice = around_faults::choose(planner, own, f64::INFINITY)?;
            choice.map(|choice| moved(&choice, problem, rates)).transpose()
        });
        bases.extend(found.iter().flatten().filter_map(stays_on));
        match found {
            Ok(found) => best = faster(best, found),
            Err(error) => drop(refusal.get_or_insert(error)),
        }
        if composes && !takes.never_changes && problem.fabric.initial == Initial::Free {
            let started = own.and_then(|own| from_known_starts(&own, f64::INFINITY));
            // Some transfer may have no path on them.
            let started = started.and_then(|choice| choice.map(|choice| moved(&choice, problem, rates)).transpose());
            best = faster(best, started.ok().flatten());
        }
    }
    if composes {
        for name in OF_SMALL_DIAMETER {
            let Ok(base) = topologies::build(name, &problem.fabric.shape) else { continue };
            let ways = port_assignment::all(&base, rates, &vec![0.0; base.links().len()])?;
            bases.extend(ways.into_iter().take(MOST_WAYS));
        }
        let bases = topologies::candidates::dedupe(bases);
        let composed = composed_in_units::on_each(planner.name(), problem, &bases)?;
        best = composed.into_iter().fold(best, |best, found| faster(best, Some(found)));
    }
    match (best, refusal) {
        (None, Some(refusal)) => Err(refusal),
        (best, _) => Ok(best),
    }
}

/// Numbers of ports that are alike, with their rate in bit/s, for which planners plan in place of these rates.
pub fn alike(rates: &PortRates) -> Vec<(u32, f64)> {
    let classes = rates.classes();
    let mut ports = 0;
    let mut all: Vec<(u32, f64)> = Vec::new();
    for class in &classes {
        ports += class.ports.len() as u32;
        all.push((ports, class.rate_bps));
    }
    if all.len() > MOST_THRESHOLDS {
        all.drain(MOST_THRESHOLDS - 1..all.len() - 1);
    }
    let sum_bps: f64 = rates.by_port_bps().iter().sum();
    all.push((ports, sum_bps / f64::from(ports)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_count_as_alike_down_to_each_rate() {
        let rates = |bps: &[f64]| PortRates::new("bandwidth", bps, bps.len() as u32).unwrap().unwrap();
        assert_eq!(alike(&rates(&[4.0, 8.0, 4.0])), [(1, 8.0), (3, 4.0), (3, 16.0 / 3.0)]);
        let many: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(alike(&rates(&many)), [(1, 9.0), (2, 8.0), (3, 7.0), (9, 1.0), (9, 5.0)]);
    }
}
