//! Collectives with a root: Broadcast; Scatter, in which the root sends each share straight to its rank, all at once;
//! and the two backwards on the circuits turned round, Reduce and Gather.

use model::{Chunks, Collective, Fabric, Initial, Op, Rank, Result, Step, Topology, Transfer, Translations};

use crate::broadcast::{self, Broadcasts};
use crate::composition::Composition;
use crate::prices::Prices;

/// The cheapest from or to `root` by estimate, the first the cheapest.
///
/// # Errors
/// The errors of making topologies and steps.
pub(crate) fn compose(
    kept: &Broadcasts,
    collective: Collective,
    fabric: &Fabric,
    prices: &Prices,
    root: Rank,
) -> Result<Vec<Composition>> {
    match collective {
        Collective::Broadcast => broadcast::compose(kept, fabric, prices, root),
        Collective::Reduce => {
            let initial = match &fabric.initial {
                Initial::Topology(start) => Initial::Topology(start.reversed()?),
                other => other.clone(),
            };
            backwards(&broadcast::compose(kept, &Fabric { initial, ..fabric.clone() }, prices, root)?)
        }
        _ => {
            let shape = &fabric.shape;
            let start = fabric.initial.given().filter(|start| !start.links().is_empty()).cloned();
            let several = shape.ports() > 1 && shape.gpus() > shape.ports() + 1;
            let own = if several { crate::narrow(shape) } else { topologies::build("ring", shape) };
            start.into_iter().map(Ok).chain([own]).map(|topology| at_once(collective, &topology?, root)).collect()
        }
    }
}

/// The cheapest that stay on the topology at the start.
///
/// # Errors
/// The errors of [`compose`].
pub(crate) fn on_start(
    kept: &Broadcasts,
    collective: Collective,
    start: &Topology,
    prices: &Prices,
    root: Rank,
) -> Result<Vec<Composition>> {
    match collective {
        Collective::Broadcast => broadcast::on_start(kept, start, prices, root),
        Collective::Reduce => backwards(&broadcast::on_start(kept, &start.reversed()?, prices, root)?),
        _ if start.links().is_empty() => Ok(Vec::new()),
        _ => Ok(vec![at_once(collective, start, root)?]),
    }
}

/// A Scatter or Gather in one step, over paths of the topology.
fn at_once(collective: Collective, topology: &Topology, root: Rank) -> Result<Composition> {
    let chunks = Chunks::rooted(collective, topology.ranks(), root, 1)?;
    let transfers = (0..topology.ranks()).filter(|&other| other != root).map(|other| {
        let (src, dst) = if collective == Collective::Scatter { (root, other) } else { (other, root) };
        Transfer { src, dst, op: Op::Copy, chunks: vec![chunks.owned(other, 0)] }
    });
    let step = Step::new(Translations::trivial(topology.ranks()), transfers, &chunks)?;
    Composition::new(chunks, vec![step], vec![topology.clone()])
}

fn backwards(broadcasts: &[Composition]) -> Result<Vec<Composition>> {
    broadcasts.iter().filter_map(|broadcast| broadcast.reversed().transpose()).collect()
}
