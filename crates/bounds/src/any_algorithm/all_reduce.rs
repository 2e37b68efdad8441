//! AllReduce: one pass over all ranks at least, and twice the bytes.
//!
//! Latency: what a rank contributes must reach all ranks, as in an AllGather; one pass can do (dissemination).
//!
//! Bytes: let q be a rank that knows the whole sum of a block first, in step t. The n−1 contributions of the others came
//! to it over distinct transfers, one out of each rank, which use links as one pass of a ReduceScatter does. Every other
//! rank received something in step t or later, after which it knew the sum; none of that is among those n−1, whose
//! transfers of step t all end at q. So n−1 more transfers use a link each.
//!
//! One step alone sums up nothing on the way: every rank takes in the n−1 whole buffers of the others, over f(1, n−1) links
//! together at least. So a schedule has one step and these bytes, or two steps at least on one topology, or more topologies.

use model::Collective;

use super::passes::{class, one_pass};
use crate::rates::Rates;
use crate::spreading::{least_hops, least_usage, most_steps};
use crate::statement::{BoundSegment, Statement, largest};

const WHY: &str = "what a rank contributes has to reach all ranks, over hops as in an all-gather; every block is summed up \
     somewhere, over as many links as in a reduce-scatter, and then received by all others; one step alone sums up nothing";

pub(super) fn bound(rates: &Rates, buffer_s: f64) -> Statement {
    let use_s = buffer_s / f64::from(rates.ranks) / f64::from(rates.ports);
    let received_s = f64::from(rates.ranks - 1) * use_s;
    let passes = |rates: &Rates| one_pass("two-passes", WHY, Collective::AllReduce, rates, use_s, &[(1.0, received_s)]);
    let usage = |steps: u32| least_usage(rates.ports, steps, &[f64::from(rates.ranks - 1)])[0];
    let one_step = on_one_topology(rates, 1, buffer_s / f64::from(rates.ports) * usage(1));
    let more_steps = (2..=most_steps(rates.ports, rates.ranks).max(2))
        .map(|steps| on_one_topology(rates, steps, use_s * usage(steps) + received_s));
    let several = passes(&Rates { least_changes: rates.least_changes.max(1), ..*rates });
    let cases = more_steps.chain([one_step, several]);
    let least = cases.min_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    largest(std::iter::once(passes(rates)).chain(least)).expect("there is the first")
}

/// The bound for so many steps, all on one topology, that put so much on the busiest links.
fn on_one_topology(rates: &Rates, steps: u32, transmission_s: f64) -> Statement {
    let hops = if rates.charges_hops { least_hops(rates.ports, f64::from(rates.ranks)).max(steps) } else { steps };
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
