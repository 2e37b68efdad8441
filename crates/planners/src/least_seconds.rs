//! The least time of the steps of a schedule, known without a look at any topology.

use std::collections::BTreeSet;

use model::{CostSettings, Fabric, Overlap, Propagation, Schedule, Step};

/// Simulated times are of whole bytes and femtoseconds, and sums are rounded.
const ROUNDING: f64 = 1e-6;

/// Lower bound on the time of any plan of these steps: startups, one hop a step, and what the busiest rank of a step
/// sends or receives over all its ports; where no rank has a peer twice, changes of topology or longer ways to most
/// peers. O(arcs).
pub fn least_seconds(schedule: &Schedule, fabric: &Fabric, settings: CostSettings, size_bytes: u64) -> f64 {
    let hop_s = match (settings.overlap, settings.propagation) {
        (Overlap::Additive, Propagation::Hops) => fabric.hop_delay_s,
        _ => 0.0,
    };
    let port_s = fabric.byte_s() * size_bytes as f64 / f64::from(fabric.shape.ports());
    let of_step = |step: &Step| fabric.startup_s + hop_s + port_s * step.share() * step.traffic().node_load();
    let one_by_one = schedule.steps().iter().map(of_step).sum::<f64>();
    let additive = settings.overlap == Overlap::Additive;
    let of_peers = || changes_or_hops(schedule, fabric, hop_s, port_s);
    let least_s = if additive && has_new_peers(schedule) { one_by_one.max(of_peers()) } else { one_by_one };
    least_s * (1.0 - ROUNDING)
}

/// Whether every rank sends to one rank in each step, to another one in every step.
fn has_new_peers(schedule: &Schedule) -> bool {
    let Some(first) = schedule.steps().first() else { return false };
    let symmetry = first.traffic().symmetry();
    let mut peers = BTreeSet::new();
    symmetry.is_transitive()
        && schedule.steps().iter().map(Step::traffic).all(|traffic| {
            traffic.symmetry() == symmetry && matches!(traffic.arcs(), [arc] if arc.src == 0 && peers.insert(arc.dst))
        })
}

/// The least time of steps of new peers, with any runs of them on one topology. On one topology of d ports at most d^h
/// peers of a rank are h hops away; a step takes no fewer hops than the way of any rank, and no less load than the ways
/// of all ranks over all circuits.
fn changes_or_hops(schedule: &Schedule, fabric: &Fabric, hop_s: f64, port_s: f64) -> f64 {
    let steps = schedule.steps().len();
    let share = schedule.steps().iter().map(Step::share).fold(f64::INFINITY, f64::min);
    let of_hop_s = hop_s + port_s * share;
    let sums = sums_of_hops(steps, u64::from(fabric.shape.ports()));
    let change_s = fabric.reconfiguration.lower_bound_s();
    // Sums of hops rise faster and faster, so that runs of equal length take least.
    let of_runs = |runs: usize| {
        let (length, longer) = (steps / runs, steps % runs);
        let hops = (runs - longer) as u64 * sums[length] + longer as u64 * sums[(length + 1).min(steps)];
        (runs - 1) as f64 * change_s + hops as f64 * of_hop_s
    };
    fabric.startup_s * steps as f64 + (1..=steps).map(of_runs).fold(f64::INFINITY, f64::min)
}

/// By number of peers up to `most`, the sum of their distances at least.
fn sums_of_hops(most: usize, ports: u64) -> Vec<u64> {
    let (mut sums, mut hops, mut left) = (vec![0], 0, 0);
    let mut at_distance = 1u64;
    for peers in 1..=most {
        if left == 0 {
            hops += 1;
            at_distance = at_distance.saturating_mul(ports);
            left = at_distance;
        }
        left -= 1;
        sums.push(sums[peers - 1] + hops);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One port: the k-th peer is k hops away. Two ports: two at one hop, four at two, the seventh at three.
    #[test]
    fn distances_add_up_as_on_a_tree() {
        assert_eq!(sums_of_hops(4, 1), [0, 1, 3, 6, 10]);
        assert_eq!(sums_of_hops(7, 2), [0, 1, 2, 4, 6, 8, 10, 13]);
    }
}
