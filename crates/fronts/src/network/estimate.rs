//! Hops and a lower bound on the load, from distances and circuits alone.

use model::{Routing, Traffic, TrafficEntry};

use super::RoutingNetwork;
use crate::front::Estimate;

impl RoutingNetwork {
    /// Hops and a lower bound on the load of any routing of `traffic`: what its arcs occupy at least, over
    /// all circuits; and what a GPU sends or receives, over its circuits. `None` when an arc has no path or
    /// the ranks differ.
    ///
    /// O(arcs under the common symmetry) with distances known, and the logarithm of their number more where
    /// weights differ; nothing is allocated where the pair has one symmetry that leaves one orbit of GPUs.
    pub fn estimate(&self, traffic: &Traffic, _routing: Routing) -> Option<Estimate> {
        let symmetry = self.topology.symmetry();
        if traffic.symmetry() == symmetry {
            return self.estimate_arcs(traffic.arcs().iter().copied(), symmetry.order());
        }
        if traffic.ranks() != self.topology.ranks() {
            return None;
        }
        let common = symmetry.meet(traffic.symmetry());
        if !traffic.is_uniform() {
            return self.estimate_arcs(traffic.arcs_under(&common).into_iter(), common.order());
        }
        // Whole numbers add up to the same in any order, so arcs may stand anywhere in their orbit.
        let cosets = traffic.symmetry().cosets(&common);
        let moved = |coset: u32, arc: &TrafficEntry| {
            let by = |rank| traffic.symmetry().apply(coset, rank);
            TrafficEntry { src: by(arc.src), dst: by(arc.dst), weight: arc.weight }
        };
        let arcs = cosets.iter().flat_map(|&coset| traffic.arcs().iter().map(move |arc| moved(coset, arc)));
        self.estimate_arcs(arcs, common.order())
    }

    /// `arcs`: one per orbit of a group of `order` elements.
    fn estimate_arcs(&self, arcs: impl Iterator<Item = TrafficEntry> + Clone, order: u32) -> Option<Estimate> {
        let (mut hops, mut occupied) = (0, 0.0);
        for arc in interruption::checked(arcs.clone()) {
            let distance = self.distance(arc.src, arc.dst)?;
            hops = hops.max(distance);
            occupied += arc.weight * f64::from(distance);
        }
        let volume = occupied * f64::from(order) / self.circuits;
        // With one orbit of links they all carry the same on any paths, and the least on shortest paths.
        let exact = order == self.topology.symmetry().order() && self.topology.links().len() == 1;
        let load = if self.orbits.len() == 1 || exact { volume } else { volume.max(self.busiest_port(arcs, order)) };
        Some(Estimate { hops, load, exact })
    }

    /// The most that a GPU sends or receives over its circuits, on average over the GPUs of its orbit.
    fn busiest_port(&self, arcs: impl Iterator<Item = TrafficEntry>, order: u32) -> f64 {
        let symmetry = self.topology.symmetry();
        let mut traffic = vec![(0.0, 0.0); self.orbits.len()];
        for arc in arcs {
            traffic[symmetry.orbit(arc.src) as usize].0 += arc.weight;
            traffic[symmetry.orbit(arc.dst) as usize].1 += arc.weight;
        }
        // An orbit of GPUs under the topology's symmetry holds this many under the common one.
        let share = f64::from(order) / f64::from(symmetry.order());
        let over = |sent: f64, circuits: f64| if circuits > 0.0 { sent * share / circuits } else { 0.0 };
        self.orbits
            .iter()
            .zip(traffic)
            .map(|(orbit, (sent, received))| over(sent, orbit.circuits_out).max(over(received, orbit.circuits_in)))
            .fold(0.0, f64::max)
    }
}
