//! A fabric that starts on some topology: a schedule stays on it throughout, or changes once at least.
//!
//! Staying, the hops of all steps together are at least its diameter, since something of every rank must reach every
//! other; its circuits carry, in the mean, every use of a link that the collective needs; and the circuits of the rank
//! that has fewest carry what every rank sends and receives.

use model::{Collective, Topology};
use profile::RoutingNetwork;

use super::passes::class;
use crate::rates::Rates;
use crate::spreading::{least_usage, most_steps};
use crate::statement::Statement;

/// What is known of the topology at the start.
struct Start {
    diameter: u32,
    /// Σ distance over all pairs.
    distances: f64,
    circuits: f64,
    /// Circuits out of the rank that has fewest, and into.
    fewest: f64,
}

impl Start {
    /// `None` where some rank cannot reach some other. O(n · orbits).
    fn of(topology: &Topology) -> Option<Self> {
        let network = RoutingNetwork::new(topology);
        let (ranks, symmetry) = (topology.ranks(), topology.symmetry());
        let (mut diameter, mut distances) = (0, 0.0);
        for src in symmetry.representatives() {
            for dst in (0..ranks).filter(|dst| *dst != src) {
                let distance = network.distance(src, dst)?;
                diameter = diameter.max(distance);
                distances += f64::from(distance) * f64::from(symmetry.order());
            }
        }
        let (mut out, mut into) = (vec![0; ranks as usize], vec![0; ranks as usize]);
        for link in topology.expanded() {
            out[link.src as usize] += link.count;
            into[link.dst as usize] += link.count;
        }
        let fewest = f64::from(out.into_iter().chain(into).min().unwrap_or(0));
        Some(Self { diameter, distances, circuits: topology.circuits() as f64, fewest })
    }
}

/// The bound for equal blocks where nothing is ever changed; `None` where that serves no algorithm.
pub(super) fn stays(collective: Collective, topology: &Topology, rates: &Rates, buffer_s: f64) -> Option<Statement> {
    let start = Start::of(topology)?;
    let others = f64::from(rates.ranks - 1);
    let block_s = buffer_s / f64::from(rates.ranks);
    let most = if collective == Collective::AllToAll { 1 } else { most_steps(rates.ports, rates.ranks).max(2) };
    let with_steps = |steps: u32| {
        // By all blocks.
        let uses = match collective {
            Collective::AllToAll => start.distances,
            // One step sums up nothing on the way.
            Collective::AllReduce if steps == 1 => f64::from(rates.ranks) * start.distances,
            Collective::AllReduce => f64::from(rates.ranks) * (usage(rates, steps) + others),
            _ => f64::from(rates.ranks) * usage(rates, steps),
        };
        let transmission_s = block_s * f64::max(uses / start.circuits, others / start.fewest);
        let hops = if rates.charges_hops { start.diameter.max(steps) } else { steps };
        let propagation_s = rates.hop_s * f64::from(hops);
        let (propagation_s, transmission_s) = rates.charged(propagation_s, transmission_s);
        Statement {
            name: "staying",
            class: class(collective, rates.ports),
            why: "without leaving the initial topology: as many hops as its diameter, and all bytes on its circuits",
            startup_s: rates.startup_s * f64::from(steps),
            propagation_s,
            transmission_s,
            reconfiguration_s: 0.0,
            topologies: 1,
            steps,
            segments: Vec::new(),
        }
    };
    (1..=most).map(with_steps).min_by(|a, b| a.seconds().total_cmp(&b.seconds()))
}

/// Uses of links by one block that reaches all ranks in so many steps.
fn usage(rates: &Rates, steps: u32) -> f64 {
    least_usage(rates.ports, steps, &[f64::from(rates.ranks - 1)])[0]
}
