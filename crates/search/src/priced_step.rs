//! What the steps of an interval pay for hops and load, and what they cost on a topology that serves them all.

use model::{Routing, Traffic};
use profile::RoutingNetwork;

/// A step of the interval that one topology is to serve.
#[derive(Debug, Clone, Copy)]
pub struct PricedStep<'a> {
    /// Who sends to whom.
    pub traffic: &'a Traffic,
    /// What a hop costs (δ), s.
    pub hop_s: f64,
    /// What a unit of load costs (β·m_i), s.
    pub load_s: f64,
}

impl PricedStep<'_> {
    /// The least of δ·hops + β·m_i·load under concurrent flow, s; `None` when some transfer has no path.
    pub fn cost_s(&self, network: &RoutingNetwork) -> Option<f64> {
        let point = network.front(self.traffic, Routing::ConcurrentFlow)?.cheapest(self.hop_s, self.load_s);
        Some(self.of(point.hops, point.load))
    }

    /// No routing costs less than this, s, in O(arcs) when distances are known; `None` as for the cost.
    pub fn estimate_s(&self, network: &RoutingNetwork) -> Option<f64> {
        let estimate = network.estimate(self.traffic, Routing::ConcurrentFlow)?;
        Some(self.of(estimate.hops, estimate.load))
    }

    /// What so many hops and this load cost, s.
    pub(crate) fn of(&self, hops: u32, load: f64) -> f64 {
        self.hop_s * f64::from(hops) + self.load_s * load
    }
}
