//! AllReduce: one pass over all ranks at least, and twice the bytes.
//!
//! Latency: what a rank contributes must reach all ranks, as in an AllGather; one pass can do (dissemination).
//!
//! Bytes: let q be a rank that knows the whole sum of a block first, in step t. The n−1 contributions of the others
//! came to it over distinct transfers, one out of each rank, which use links as one pass of a ReduceScatter does. Every
//! other rank received something in step t or later, after which it knew the sum; none of that is among those n−1,
//! whose transfers of step t all end at q. So n−1 more transfers use a link each.
//!
//! A single step sums up nothing on the way: every rank takes in the n−1 whole buffers of the others, over f(1, n−1)
//! links together at least. Few hops on one topology add up little on the way ([`pairs`](crate::pairs)). So a schedule
//! has one step and these bytes, or two steps at least on one topology, or more topologies.

use std::collections::BTreeMap;

use model::Collective;

use super::passes::{class, one_pass};
use crate::cutoffs::any_algorithm_all_reduce::MOST_HOPS;
use crate::pairs::least_uses;
use crate::rates::Rates;
use crate::spreading::{least_hops, least_usage, most_steps};
use crate::statement::{BoundSegment, Statement, largest};

const WHY: &str = "each rank's data has to reach all ranks, over hops as in an all-gather; every block is summed up \
     somewhere, over as many links as in a reduce-scatter, and then received by all others; one step alone sums up nothing";

pub(super) fn bound(rates: &Rates, buffer_s: f64) -> Statement {
    let use_s = buffer_s / f64::from(rates.ranks) / f64::from(rates.ports);
    let received_s = f64::from(rates.ranks - 1) * use_s;
    let passes = |rates: &Rates| one_pass("two-passes", WHY, Collective::AllReduce, rates, use_s, &[(1.0, received_s)]);
    let usage = |steps: u32| least_usage(rates.ports, steps, &[f64::from(rates.ranks - 1)])[0];
    let one_step = on_one_topology(rates, 1, 0, buffer_s / f64::from(rates.ports) * usage(1));
    let mut known = BTreeMap::new();
    let more_steps = (2..=most_steps(rates.ports, rates.ranks).max(2))
        .map(|steps| of_steps(rates, steps, use_s, received_s, &mut known));
    let several = passes(&Rates { least_changes: rates.least_changes.max(1), ..*rates });
    let cases = more_steps.chain([one_step, several]);
    let least = cases.min_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    largest(std::iter::once(passes(rates)).chain(least)).expect("there is the first")
}

/// The bound for this many steps, all on one topology; as many or more where they are the most that are told apart. The
/// least over the hops of all of them, with what is `known` of uses by hops: few add up little on the way, and with
/// many more the bytes of two passes are what is left.
fn of_steps(rates: &Rates, steps: u32, use_s: f64, received_s: f64, known: &mut BTreeMap<u32, Vec<f64>>) -> Statement {
    let most = most_steps(rates.ports, rates.ranks).max(2);
    let two_passes_s = use_s * least_usage(rates.ports, steps, &[f64::from(rates.ranks - 1)])[0] + received_s;
    let fewest = least_hops(rates.ports, f64::from(rates.ranks)).max(steps);
    let mut best = on_one_topology(rates, steps, MOST_HOPS.max(fewest), two_passes_s);
    if !rates.charges_hops || rates.ports == 1 {
        return on_one_topology(rates, steps, 0, two_passes_s);
    }
    for hops in fewest..MOST_HOPS {
        if on_one_topology(rates, steps, hops, two_passes_s).seconds() >= best.seconds() {
            break;
        }
        // A step of several hops serves no more pairs at once than as many of one hop.
        let uses = known.entry(hops).or_insert_with(|| least_uses(rates.ranks, rates.ports, hops));
        let uses = uses[if steps == most { hops } else { steps } as usize - 1];
        let statement = on_one_topology(rates, steps, hops, two_passes_s.max(use_s * uses));
        if statement.seconds() < best.seconds() {
            best = statement;
        }
    }
    best
}

/// The bound for a number of steps with a least number of hops together, all on one topology, that put this load on the
/// busiest links.
fn on_one_topology(rates: &Rates, steps: u32, hops: u32, transmission_s: f64) -> Statement {
    let fewest = least_hops(rates.ports, f64::from(rates.ranks)).max(steps).max(hops);
    let hops = if rates.charges_hops { fewest } else { steps };
    let propagation_s = rates.hop_s * f64::from(hops);
    let (propagation_s, transmission_s) = rates.charged(propagation_s, transmission_s);
    Statement {
        name: "two-passes",
        class: class(Collective::AllReduce, rates.ports),
        why: WHY,
        startup_s: rates.startup_s * f64::from(steps),
        propagation_s,
        transmission_s,
        reconfiguration_s: rates.change_s * f64::from(rates.first_changes + rates.least_changes),
        topologies: 1,
        steps,
        segments: vec![BoundSegment { steps, hops, growth: f64::from(rates.ranks) }],
    }
}
