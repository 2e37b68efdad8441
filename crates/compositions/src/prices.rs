//! The costs of phases on a fabric.

use model::{Fabric, Initial, Topology};

use crate::phase::Phase;
use crate::relative::{Circuits, Sums};

/// The fabric's numbers, as far as a choice of phases needs them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prices {
    startup_s: f64,
    hop_s: f64,
    /// β times the bytes of one rank's block, m/n.
    block_s: f64,
    /// About what a change of topology costs: exact where it depends neither on the circuits nor on the step.
    pub(crate) change_s: f64,
    /// Circuits of the ring that is in force before the first step.
    ring: Option<Circuits>,
    /// Whether some topology is in force before the first step.
    given: bool,
}

impl Prices {
    pub(crate) fn new(fabric: &Fabric, size_bytes: u64) -> Self {
        let (n, ports) = (fabric.shape.gpus(), fabric.shape.ports());
        let (ring, given) = match &fabric.initial {
            Initial::Free | Initial::Repeated => (None, false),
            Initial::Topology(topology) => (as_ring(topology), true),
        };
        Self {
            startup_s: fabric.per_step_s(),
            hop_s: fabric.hop_delay_s,
            block_s: fabric.byte_s() * size_bytes as f64 / f64::from(n),
            change_s: fabric.reconfiguration.of_all_ports_s(u64::from(n) * u64::from(ports)),
            ring,
            given,
        }
    }

    /// Seconds of a phase whose ranks have `blocks` blocks each before it.
    pub(crate) fn phase_s(&self, phase: &Phase, blocks: f64) -> f64 {
        self.sums_s(&phase.sums, blocks)
    }

    /// Seconds of steps with these sums, amounts being of `blocks` blocks.
    pub(crate) fn sums_s(&self, sums: &Sums, blocks: f64) -> f64 {
        self.startup_s * f64::from(sums.steps) + self.hop_s * sums.hops + self.block_s * blocks * sums.amount
    }

    /// Seconds of a step of one hop whose busiest circuit carries one transfer, without its bytes.
    pub(crate) fn one_hop_s(&self) -> f64 {
        self.startup_s + self.hop_s
    }

    /// Seconds of a step of this many hops whose busiest circuit carries this many blocks.
    pub(crate) fn step_s(&self, hops: f64, blocks: f64) -> f64 {
        self.startup_s + self.hop_s * hops + self.block_s * blocks
    }

    /// Seconds of a rank's block on one circuit.
    pub(crate) fn block_s(&self) -> f64 {
        self.block_s
    }

    /// Seconds to set up the first topology where it is not the one in force.
    pub(crate) fn first_change_s(&self) -> f64 {
        if self.given { self.change_s } else { 0.0 }
    }

    /// The circuits of the ring that is in force before the first step.
    pub(crate) fn ring(&self) -> Option<&Circuits> {
        self.ring.as_ref()
    }

    /// Whether the ring in force has these circuits.
    pub(crate) fn starts_on(&self, phase: &Phase) -> bool {
        self.ring.as_ref() == Some(&phase.circuits)
    }
}

#[cfg(test)]
impl Prices {
    /// For a buffer on links of 800 Gbit/s that start free, a hop taking 500 ns.
    pub(crate) fn in_a_test(gpus: u32, ports: u32, size_bytes: u64, startup_s: f64) -> Self {
        let fabric = Fabric {
            shape: model::Shape::new(gpus, &[], ports).unwrap(),
            bandwidth_bps: 8e11,
            startup_s,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: model::ReconfigurationPolicy::constant(1e-5),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        };
        Self::new(&fabric, size_bytes)
    }
}

/// The circuits of a ring of all ranks, one-way or two-way.
fn as_ring(topology: &Topology) -> Option<Circuits> {
    let n = i64::from(topology.ranks());
    let from_0 = |link: &&model::Link| link.src == 0;
    let expanded = topology.expanded();
    let mut circuits: Circuits = Vec::new();
    for link in expanded.iter().filter(from_0) {
        let ahead = if i64::from(link.dst) == n - 1 && n > 2 { -1 } else { i64::from(link.dst) };
        if ahead.abs() != 1 {
            return None;
        }
        circuits.push((ahead, link.count));
    }
    circuits.sort_by_key(|(ahead, _)| std::cmp::Reverse(*ahead));
    let same = |link: &model::Link| {
        let ahead = (i64::from(link.dst) - i64::from(link.src)).rem_euclid(n);
        circuits.iter().any(|(way, count)| way.rem_euclid(n) == ahead && *count == link.count)
    };
    expanded.iter().all(same).then_some(circuits)
}
