//! A collective among some GPUs of a fabric: the fabric that its ranks have, and the one where other GPUs forward.

use std::sync::Arc;

use model::{Barrier, Error, Fabric, Initial, Link, Result, Shape, Topology, Translations};
use optics::Optics;

/// The fabrics of a collective among some GPUs.
pub(crate) struct Subset {
    /// The fabric of the ranks alone.
    pub own: Fabric,
    /// The whole fabric, whose first GPUs are the ranks; where other GPUs forward.
    pub whole: Option<Arc<Fabric>>,
}

/// The fabrics of the collective whose rank r is GPU `ranks[r]` of a fabric.
///
/// The ranks have all of their ports. An initial topology has the circuits between them that the fabric's has; those
/// that lead to other GPUs are used where `others_forward`. Circuits between two other GPUs always stay.
///
/// # Errors
/// A GPU that there is not or that comes twice, fewer than two of them, an optical layer that limits topologies, or
/// other GPUs that are to forward where no initial topology has circuits of theirs.
pub(crate) fn among(fabric: &Fabric, barrier: &Barrier, ranks: &[u32], others_forward: bool) -> Result<Subset> {
    let gpus = fabric.shape.gpus();
    if ranks.len() < 2 {
        return Err(Error::value("ranks", format!("{} GPU", ranks.len()), "at least two GPUs"));
    }
    if others_forward && fabric.initial.given().is_none() {
        let accepts = "an initial topology such as ring, whose circuits other GPUs have";
        return Err(Error::value("others_forward", format!("true with initial {}", fabric.initial_name()), accepts));
    }
    if ranks.iter().copied().eq(0..gpus) {
        return Ok(Subset { own: fabric.clone(), whole: None });
    }
    if fabric.electrical.is_some() {
        if let Some(fault) = fabric.shape.faults().all().first() {
            return Err(Error::value("failed", format!("`{fault}`"), "a fabric without electrical switches"));
        }
        let accepts = "all GPUs of a fabric with electrical islands";
        return Err(Error::value("ranks", format!("{} of {gpus} GPUs", ranks.len()), accepts));
    }
    let ports = fabric.shape.ports();
    let too_many =
        |_| Error::value("ranks", format!("{} GPUs", ranks.len()), format!("GPUs 0 to {}, each once", gpus - 1));
    let shape = Shape::new(ranks.len() as u32, &[], ports).map_err(too_many)?.among(gpus, ranks.to_vec())?;
    let positions = fabric.shape.positions();
    let shape = shape.with_faults(fabric.shape.faults().clone())?.at_positions(positions.cloned())?;
    let shape = shape.with_rates(fabric.shape.rates().cloned());
    // Rates of pairs are by rank, so that they come last.
    let rated = |own: Fabric, order: &[u32]| match fabric.shape.pairs() {
        Some(pairs) => own.with_pairs(pairs.among(order)),
        None => Ok(own),
    };
    let alike_pairs = fabric.shape.clone().with_pairs(None)?;
    if let Some(layer) = &fabric.optics
        && !Optics::parse(layer.spelling())?.holds_all()
    {
        let reason = "with `ranks` it takes a layer that holds all topologies, crossbar or parallel";
        return Err(Error::refused("optics", layer.spelling(), reason));
    }
    let mut place = vec![None; gpus as usize];
    for (rank, &gpu) in (0..).zip(ranks) {
        place[gpu as usize] = Some(rank);
    }
    let barrier_s = barrier.seconds("barrier", shape.gpus())?;
    let Initial::Topology(initial) = &fabric.initial else {
        return Ok(Subset { own: rated(Fabric { shape, barrier_s, ..fabric.clone() }, ranks)?, whole: None });
    };
    let among = alike_pairs.by_class(initial, |initial, _| {
        let inside = initial.expanded().into_iter().filter_map(|link| {
            let (src, dst) = (place[link.src as usize]?, place[link.dst as usize]?);
            Some(Link { src, dst, count: link.count })
        });
        let name = format!("{} among the ranks", initial.name());
        Ok(Topology::new(name, Translations::trivial(shape.gpus()), inside)?.with_found_symmetry())
    })?;
    let whole = (others_forward && ranks.len() < gpus as usize).then(|| {
        let mut order = ranks.to_vec();
        order.extend((0..gpus).filter(|&gpu| place[gpu as usize].is_none()));
        let mut at = vec![0; gpus as usize];
        for (rank, &gpu) in (0..).zip(&order) {
            at[gpu as usize] = rank;
        }
        let initial = alike_pairs.by_class(initial, |initial, _| {
            let moved = initial.expanded().into_iter().map(|link| Link {
                src: at[link.src as usize],
                dst: at[link.dst as usize],
                count: link.count,
            });
            Topology::new(initial.name(), Translations::trivial(gpus), moved)
        })?;
        let shape = Shape::new(gpus, &[], ports)?.among(gpus, order.clone())?;
        let shape = shape.with_faults(fabric.shape.faults().clone())?.at_positions(positions.cloned())?;
        let shape = shape.with_rates(fabric.shape.rates().cloned());
        let whole = Fabric { shape, barrier_s, initial: Initial::Topology(initial), ..fabric.clone() };
        Ok(Arc::new(rated(whole, &order)?))
    });
    let own = rated(Fabric { shape, barrier_s, initial: Initial::Topology(among), ..fabric.clone() }, ranks)?;
    Ok(Subset { own, whole: whole.transpose()? })
}
