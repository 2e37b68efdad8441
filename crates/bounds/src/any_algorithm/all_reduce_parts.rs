//! The collectives that an AllReduce contains, whose bounds hold for it.
//!
//! Where all ranks but one contribute zeros, an AllReduce is a Broadcast from that one; where one rank alone needs the
//! sum, a Reduce. Both take no longer on the same topologies.

use model::{Collective, CostSettings, Fabric, Initial, Topology};

use crate::cutoffs::any_algorithm_all_reduce_parts::{HOPS_TO_FARTHEST, RECEIVED};
use crate::known_topology::{KnownTopology, MOST_DISTANCES};
use crate::rates::Rates;
use crate::spreading::least_hops;

/// The collectives whose bounds may be larger than one of `own_s` seconds. A Reduce is a Broadcast backwards, and has
/// the same bound where circuits turned round are the same.
pub(super) fn worth_a_look(
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
    own_s: f64,
) -> &'static [Collective] {
    let is_plain = fabric.optics.is_none() && fabric.electrical.is_none() && fabric.shape.circuits_are_alike();
    if !is_plain || !fabric.shape.faults().is_empty() {
        return &[Collective::Broadcast, Collective::Reduce];
    }
    let rates = Rates::new(fabric, settings);
    let free_s = broadcast_s(&rates, size_bytes, fabric.initial == Initial::Repeated);
    match &fabric.initial {
        // There is at most one more change, to the first topology that a free start has.
        Initial::Topology(start) if own_s < (free_s + rates.change_s).min(on_start_s(&rates, size_bytes, start)) => {
            &[Collective::Broadcast, Collective::Reduce]
        }
        Initial::Free | Initial::Repeated if own_s < free_s => &[Collective::Broadcast],
        _ => &[],
    }
}

/// Seconds that the bound of a Broadcast from a free start does not exceed: the quicker of two ways to reach all ranks,
/// in doubling steps on one topology, on which data that leave late have hops left, and with a topology for each step.
fn broadcast_s(rates: &Rates, size_bytes: u64, is_repeated: bool) -> f64 {
    let ranks = f64::from(rates.ranks);
    let received_s = rates.byte_s * size_bytes as f64 / f64::from(rates.ports);
    let steps = ranks.log2().ceil();
    let hops = steps.max(HOPS_TO_FARTHEST * f64::from(least_hops(rates.ports, ranks)));
    let staying_s = rates.startup_s * steps + rates.hop_s * hops + RECEIVED * received_s;
    let one_each = (ranks.ln() / f64::from(rates.ports + 1).ln() - 1e-9).ceil();
    let changes = 2.0 * one_each + f64::from(u8::from(is_repeated));
    let topologies = 2.0 * one_each + 1.0;
    let changing_s = rates.startup_s * topologies + rates.hop_s * one_each + received_s + rates.change_s * changes;
    staying_s.min(changing_s)
}

/// Seconds that the bound of a Broadcast stays below on the topology of the start: the time of the buffer in the best
/// number of chunks, one behind the other along trees that share no circuit and are no deeper than the diameter.
fn on_start_s(rates: &Rates, size_bytes: u64, start: &Topology) -> f64 {
    let known = KnownTopology::new(start);
    let Some(distances) = known.distances(MOST_DISTANCES) else { return f64::INFINITY };
    let depth_s = (rates.startup_s + rates.hop_s) * f64::from(distances.diameter);
    let received_s = rates.byte_s * size_bytes as f64 / known.fewest_into().min(known.fewest_out());
    // D + k - 1 steps of α + δ + βm/k, with the best k.
    depth_s + received_s + 2.0 * (depth_s * received_s).sqrt()
}
