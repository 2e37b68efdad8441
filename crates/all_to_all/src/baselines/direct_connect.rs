//! DirectConnect: one low-diameter topology for all flows at once, routed by maximum concurrent flow.

use model::{Arc, Error, Result, Routing, Topology, Traffic, Translations};
use profile::Network;

/// A topology under the whole All-to-All of equal blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectConnect {
    /// The circuits.
    pub topology: Topology,
    /// Hops of the longest path of the flow.
    pub hops: u32,
    /// Blocks over the busiest circuit: the flow takes R + T·load.
    pub load: f64,
}

/// The least load of all flows at once on `topology`: the linear program of the baseline, by column generation.
///
/// # Errors
/// A topology on which some rank does not reach every other.
pub fn direct_connect(topology: Topology) -> Result<DirectConnect> {
    let ranks = topology.ranks();
    let arcs = (1..ranks).map(|dst| Arc { src: 0, dst, weight: 1.0 });
    let traffic = Traffic::new(Translations::cyclic(ranks), arcs)?;
    let front = Network::new(&topology)
        .front(&traffic, Routing::ConcurrentFlow)
        .ok_or_else(|| Error::refused("topology", topology.name(), "some rank does not reach every other"))?;
    let point = front.cheapest(0.0, 1.0);
    Ok(DirectConnect { topology, hops: point.hops, load: point.load })
}
