//! Generalised Kautz graphs, whose diameter is the least for their degree, or one more.

use model::{Collective, Result, Shape, Topology};

use crate::cutoffs::narrow_graphs::MOST_FOR_ALL;

/// The generalised Kautz graph with all ports in use, where these are fewer than ranks.
///
/// # Errors
/// One port.
pub fn narrow(shape: &Shape) -> Result<Topology> {
    let kautz = topologies::build("kautz", shape)?;
    let every_port = u64::from(shape.gpus()) * u64::from(shape.ports());
    let is_full = kautz.circuits() == every_port || shape.ports() >= shape.gpus();
    if is_full { Ok(kautz) } else { topologies::build("rewired-kautz", shape) }
}

/// The graphs that are tried for a collective of blocks, the Kautz graph first; none for one port. More circuits change
/// the shortest paths among which flows are split, so that neither it nor the one with all ports is the better
/// everywhere; nor is a graph or it turned round, on which a ReduceScatter is an AllGather.
pub(crate) fn for_collective(collective: Collective, shape: &Shape) -> Vec<Topology> {
    let Ok(kautz) = topologies::build("kautz", shape) else { return Vec::new() };
    let mut graphs = vec![kautz];
    if shape.gpus() <= MOST_FOR_ALL
        && let Ok(full) = narrow(shape)
    {
        let turns = matches!(collective, Collective::AllGather | Collective::ReduceScatter);
        let turned = if turns { full.reversed().ok() } else { None };
        for graph in std::iter::once(full).chain(turned) {
            if !graphs.iter().any(|other| other.same_links(&graph)) {
                graphs.push(graph);
            }
        }
    }
    graphs
}
