//! Generalised Kautz graphs, whose diameter is the least for their degree, or one more.

use model::{Collective, Result, Shape, Topology};

use crate::cutoffs::narrow_graphs::MOST_FOR_BOTH;

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

/// The graphs that are tried for a collective of blocks; none for one port. An AllGather on one is a ReduceScatter on
/// it turned round, and neither way is the better everywhere; nor is an AllReduce with all ports, since shortest paths
/// among which flows are split change.
pub(crate) fn for_collective(collective: Collective, shape: &Shape) -> Vec<Topology> {
    let Ok(full) = narrow(shape) else { return Vec::new() };
    let other = match collective {
        Collective::AllGather | Collective::ReduceScatter => full.reversed().ok(),
        Collective::AllReduce => topologies::build("kautz", shape).ok(),
        _ => None,
    };
    let other = other.filter(|other| !other.same_links(&full));
    match other {
        Some(other) if shape.gpus() <= MOST_FOR_BOTH => vec![full, other],
        Some(kautz) if collective == Collective::AllReduce => vec![kautz],
        _ => vec![full],
    }
}
