//! Charges of the relaxations, from a fabric and the cost settings.

use model::{CostSettings, Fabric, Initial, Overlap, Propagation, WorkingPorts};

/// The least seconds of the parts that every schedule has: startups, hops, changes and bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) ranks: u32,
    pub(crate) ports: u32,
    /// α, and the barrier.
    pub(crate) startup_s: f64,
    /// δ.
    pub(crate) hop_s: f64,
    /// β.
    pub(crate) byte_s: f64,
    /// The least that a change of topology costs.
    pub(crate) change_s: f64,
    /// Changes before the first step, with any first topology.
    pub(crate) first_changes: u32,
    /// Changes after that, in any schedule.
    pub(crate) least_changes: u32,
    /// Whether δ is charged for every hop, and not by load.
    pub(crate) charges_hops: bool,
    /// Whether a step takes the larger of its hop delays and its bytes, not both.
    pub(crate) overlaps: bool,
}

impl Rates {
    pub(crate) fn new(fabric: &Fabric, settings: CostSettings) -> Self {
        // A fabric that starts dark must be changed before anything is sent.
        let dark = matches!(&fabric.initial, Initial::Topology(topology) if topology.links().is_empty());
        let overlaps = settings.overlap == Overlap::Pipelined;
        let propagation = settings.of_packets().propagation;
        Self {
            ranks: fabric.shape.gpus(),
            // No topology has more circuits at a rank than ports of some rank work.
            ports: WorkingPorts::of(&fabric.shape).most().max(1),
            startup_s: fabric.per_step_s(),
            hop_s: fabric.hop_delay_s,
            byte_s: fabric.byte_s(),
            change_s: fabric.reconfiguration.lower_bound_s(),
            first_changes: u32::from(dark),
            least_changes: 0,
            charges_hops: propagation == Propagation::Hops,
            overlaps,
        }
    }

    /// The charged part of hop delays and bytes: both, or the larger where they overlap.
    pub(crate) fn charged(&self, propagation_s: f64, transmission_s: f64) -> (f64, f64) {
        match (self.overlaps, propagation_s > transmission_s) {
            (true, true) => (propagation_s, 0.0),
            (true, false) => (0.0, transmission_s),
            (false, _) => (propagation_s, transmission_s),
        }
    }

    /// Shares of hop delays and of bytes that may be charged together. A step that takes the larger of the two takes
    /// every weighted mean of them.
    pub(crate) fn mixes(&self) -> &'static [(f64, f64)] {
        const BOTH: &[(f64, f64)] = &[(1.0, 1.0)];
        const MEANS: &[(f64, f64)] = &[(1.0, 0.0), (0.75, 0.25), (0.5, 0.5), (0.25, 0.75), (0.0, 1.0)];
        if self.overlaps { MEANS } else { BOTH }
    }
}
