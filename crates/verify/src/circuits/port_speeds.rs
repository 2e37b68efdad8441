//! Every circuit on ports of its rate.

use std::collections::BTreeMap;

use model::{Circuits, Plan};

use crate::report::{Check, Tally};
use crate::speeds::by_rate;

/// Counts, between every two GPUs, the connections between ports of each rate; `at` says which port of which GPU a port
/// of a switch is. `None` where ports are alike.
///
/// Costs O(connections · log connections).
pub(super) fn check(circuits: &Circuits, plan: &Plan, at: impl Fn(usize, u32) -> (u32, u32)) -> Option<Check> {
    let by_port_bps = plan.fabric.shape.rates()?.by_port_bps();
    // The place of a rate: how many different ones are faster.
    let place = |port: u32| {
        let own = by_port_bps[port as usize];
        let mut faster: Vec<u64> = by_port_bps.iter().filter(|rate| **rate > own).map(|rate| rate.to_bits()).collect();
        faster.sort_unstable();
        faster.dedup();
        faster.len()
    };
    let mut tally = Tally::new("port-rates");
    for (index, configuration) in circuits.configurations().iter().enumerate() {
        interruption::check();
        let mut found: BTreeMap<(u32, u32, usize), u32> = BTreeMap::new();
        for (switch, told) in configuration.switches.iter().enumerate() {
            for one in &told.connections {
                let ((src, out), (dst, into)) = (at(switch, one.ingress), at(switch, one.egress));
                tally.expect(place(out) == place(into), || {
                    format!(
                        "configuration {}: GPU {src}'s port {out} and GPU {dst}'s port {into} differ in rate",
                        index + 1
                    )
                });
                *found.entry((src, dst, place(out))).or_insert(0) += 1;
            }
        }
        for link in plan.topologies.get(configuration.topology).into_iter().flat_map(model::Topology::expanded) {
            let topology = &plan.topologies[configuration.topology];
            let ends = (plan.fabric.shape.gpu_of(link.src), plan.fabric.shape.gpu_of(link.dst));
            for (rate, wanted) in by_rate(topology, &link).into_iter().enumerate() {
                let has = found.get(&(ends.0, ends.1, rate)).copied().unwrap_or(0);
                tally.expect(has == wanted, || {
                    let (number, name) = (index + 1, topology.name());
                    format!(
                        "configuration {number}: {has} circuits from GPU {} to GPU {} on ports of rate {rate}, where \
                         {name} has {wanted}",
                        ends.0, ends.1
                    )
                });
            }
        }
    }
    Some(tally.into_check("comparison", "of circuits by rate with the rates of their ports"))
}
