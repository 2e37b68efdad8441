//! The cost of ways, step by step, before they are priced as plans.

use model::{CostSettings, Fabric, Propagation};

use super::way::Estimate;

/// The estimated cost of a way.
pub(crate) struct Prices {
    pub(crate) startup_s: f64,
    pub(crate) hop_s: f64,
    /// β·m.
    pub(crate) buffer_s: f64,
    pub(crate) change_s: f64,
    is_given: bool,
}

impl Prices {
    pub(crate) fn new(fabric: &Fabric, settings: CostSettings, size_bytes: u64) -> Self {
        let circuits = u64::from(fabric.shape.gpus()) * u64::from(fabric.shape.ports());
        Self {
            startup_s: fabric.startup_s,
            hop_s: match settings.propagation {
                Propagation::Hops => fabric.hop_delay_s,
                Propagation::InverseThroughput => 0.0,
            },
            buffer_s: fabric.byte_s() * size_bytes as f64,
            change_s: fabric.reconfiguration.of_all_ports_s(circuits),
            is_given: fabric.initial.given().is_some(),
        }
    }

    pub(crate) fn seconds(&self, from_start: bool, estimate: &Estimate) -> f64 {
        let steps = estimate.steps();
        let changes = steps - usize::from(!self.is_given || (from_start && estimate.hops[0] > 0));
        self.startup_s * steps as f64 + self.change_s * changes as f64 + self.buffer_s * estimate.weighed(self.hop())
    }

    /// The worth of a hop in load over m.
    pub(crate) fn hop(&self) -> f64 {
        self.hop_s / self.buffer_s
    }

    /// Lower bound for every way of this many steps.
    pub(crate) fn least_s(&self, steps: usize) -> f64 {
        (self.startup_s + self.hop_s) * steps as f64 + self.change_s * (steps - 1) as f64
    }
}
