//! The prices of hops and load in the steps of an interval, and the cost of these steps on a topology that serves them
//! all.

use fronts::RoutingNetwork;
use model::{Routing, Traffic};

/// A step of the interval that one topology is to serve.
#[derive(Debug, Clone, Copy)]
pub struct PricedStep<'a> {
    /// The traffic of the step: sources, destinations and weights.
    pub traffic: &'a Traffic,
    /// Price of a hop (δ), s.
    pub hop_s: f64,
    /// Price of a unit of load (β·m_i), s.
    pub load_s: f64,
}

impl PricedStep<'_> {
    /// The least of δ·hops + β·m_i·load under concurrent flow, s; `None` when some transfer has no path.
    pub fn cost_s(&self, network: &RoutingNetwork) -> Option<f64> {
        let point = network.front(self.traffic, Routing::ConcurrentFlow)?.cheapest(self.hop_s, self.load_s);
        Some(self.of(point.hops, point.load))
    }

    /// Lower bound on the cost of any routing, s, in O(arcs) when distances are known; `None` as for the cost.
    pub fn estimate_s(&self, network: &RoutingNetwork) -> Option<f64> {
        let estimate = network.estimate(self.traffic, Routing::ConcurrentFlow)?;
        Some(self.of(estimate.hops, estimate.load))
    }

    /// The cost of this many hops and this load, s.
    pub(crate) fn of(&self, hops: u32, load: f64) -> f64 {
        self.hop_s * f64::from(hops) + self.load_s * load
    }
}
