//! Collectives composed of phases, each with a topology of its own.
//!
//! ```text
//! ranks, ports ─▶ library of phases ─┐
//! fabric, size ──▶ prices ───────────┴─▶ program over the divisors of n ─▶ steps and topologies
//! ```
//!
//! The papers fix the algorithm and choose topologies for it, or fix the family of topologies. Here both are chosen
//! together: the ranks are given coordinates, n = r₁·r₂·…, and in each phase the ranks along one coordinate exchange
//! all that they have, on a topology along that coordinate that suits it. [`compositions`] finds the best spans, kinds
//! and circuits for the numbers of a fabric.

pub use crate::cutoffs::whole_crate::{MOST_ALL_TO_ALL_RANKS, MOST_RANKS};

mod all_reduce;
mod all_to_all;
mod at_once;
mod broadcast;
mod by_ports;
mod cayley_trees;
mod chunk_rounds;
mod circulants;
mod composition;
mod coordinates;
mod cutoffs;
mod digit_phases;
mod digits;
mod doubling;
mod flood;
mod flood_lengths;
mod following;
mod gaps;
mod gather;
mod levels;
mod library;
mod narrow_graphs;
mod one_pass;
mod outward_trees;
mod pareto_set;
mod phase;
mod pipeline;
mod prices;
mod radices;
mod relative;
mod root_collectives;
pub mod synthesis;
mod unequal;
mod windows;

/// Names of the algorithms that are made here, and what they mean.
pub const ALGORITHMS: [(&str, &str); 2] = [(ALGORITHM, composition::MEANING), (SYNTHESIZED, chunk_rounds::MEANING)];

/// Names of the topologies that are made here, and what they mean.
pub const NAMES: [(&str, &str); 5] =
    [coordinates::NAME, topologies::metacyclic::NAME, one_pass::NAME, unequal::NAME, broadcast::NAME];

use model::{Chunks, Collective, CostSettings, Error, Fabric, Initial, Result, Topology};

use flood::Whole;
use library::Library;
use prices::Prices;

pub use by_ports::by_ports;
pub use chunk_rounds::{Chunked, SYNTHESIZED};
pub use composition::{ALGORITHM, Composition};
pub use following::following;
pub use library::Libraries;
pub use narrow_graphs::narrow;
pub use unequal::compositions as unequal_compositions;
pub use unequal::on_start as unequal_on_start;
pub use unequal::pursuit::{Better, Given, GivenPath, Pursuit};
pub use unequal::serves_at_any_time;
pub use unequal::waiting as unequal_waiting;

/// The best compositions for a buffer of `size_bytes` by the additive cost, most promising first: of the collective
/// whose data `chunks` are, from their root where they have one. Results for the fabric's ranks and ports are kept in
/// `libraries`.
///
/// # Errors
/// More ranks than the collective is composed for.
pub fn compositions(
    libraries: &Libraries,
    chunks: &Chunks,
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
) -> Result<Vec<Composition>> {
    let collective = chunks.collective();
    let ranks = fabric.shape.gpus();
    let refuse = |reason: String| Err(Error::refused("planner", "weave", reason));
    let most = if collective == Collective::AllToAll { MOST_ALL_TO_ALL_RANKS } else { MOST_RANKS };
    if ranks > most {
        return refuse(format!("it composes {} for at most {most} GPUs, not {ranks}", collective.name()));
    }
    let prices = Prices::new(fabric, size_bytes);
    if let Some(root) = chunks.root() {
        return root_collectives::compose(&libraries.broadcasts, collective, fabric, &prices, root);
    }
    let library = &libraries.of(ranks, fabric.shape.ports(), settings.routing);
    let mut found = of_phases(collective, library, &prices, fabric)?;
    found.extend(on_ring(collective, fabric, &prices)?);
    for whole in whole_topologies(library, collective, fabric) {
        found.extend(at_once::compose(collective, whole.topology())?);
        found.extend(flood::compose(collective, &whole, &prices)?);
    }
    Ok(found)
}

/// The [`compositions`] that only this start of the fabric leads to; none from a free or a dark one.
///
/// # Errors
/// The errors of [`compositions`].
pub fn on_start(
    libraries: &Libraries,
    chunks: &Chunks,
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
) -> Result<Vec<Composition>> {
    let Initial::Topology(start) = &fabric.initial else { return Ok(Vec::new()) };
    let collective = chunks.collective();
    let prices = Prices::new(fabric, size_bytes);
    if let Some(root) = chunks.root() {
        return root_collectives::on_start(&libraries.broadcasts, collective, start, &prices, root);
    }
    let mut found = Vec::new();
    if prices.ring().is_some() {
        let library = &libraries.of(fabric.shape.gpus(), fabric.shape.ports(), settings.routing);
        found.extend(of_phases(collective, library, &prices, fabric)?);
        found.extend(on_ring(collective, fabric, &prices)?);
    }
    if !start.links().is_empty() {
        found.extend(at_once::compose(collective, start)?);
        found.extend(flood::compose(collective, &Whole::Any(start.clone()), &prices)?);
    }
    Ok(found)
}

/// The composition that stays on the ring at the start, for any number of ranks.
fn on_ring(collective: Collective, fabric: &Fabric, prices: &Prices) -> Result<Option<Composition>> {
    match (&fabric.initial, prices.ring()) {
        (Initial::Topology(ring), Some(circuits)) => gaps::compose(collective, ring, circuits, prices),
        _ => Ok(None),
    }
}

/// The best along coordinates, and of an AllReduce in one pass too.
fn of_phases(collective: Collective, library: &Library, prices: &Prices, fabric: &Fabric) -> Result<Vec<Composition>> {
    let (ranks, ports) = (fabric.shape.gpus(), fabric.shape.ports());
    Ok(match collective {
        Collective::AllGather | Collective::ReduceScatter => {
            vec![gather::compose(collective, library, prices, ranks)?]
        }
        Collective::AllReduce => {
            let (least_s, mut phases) = all_reduce::compose(library, prices, ranks)?;
            phases.extend(one_pass::compose(library.walks(), prices, ranks, least_s)?);
            phases
        }
        Collective::AllToAll => vec![all_to_all::compose(library, prices, ranks, ports)?],
        Collective::Broadcast | Collective::Reduce | Collective::Gather | Collective::Scatter => Vec::new(),
    })
}

/// The collective in chunks over `topology`, which stays; `None` for one without blocks of ranks, where some rank
/// cannot be reached, or where ranks are too many.
pub fn chunked(
    libraries: &Libraries,
    collective: Collective,
    topology: &Topology,
    fabric: &Fabric,
    size_bytes: u64,
) -> Option<Chunked> {
    Chunked::new(&libraries.spreads, collective, topology, fabric, size_bytes)
}

/// Topologies of a fabric on which a collective of blocks of ranks may stay from its first step to its last.
pub fn staying(
    libraries: &Libraries,
    collective: Collective,
    fabric: &Fabric,
    settings: CostSettings,
) -> Vec<Topology> {
    if collective.has_root() {
        return Vec::new();
    }
    let library = &libraries.of(fabric.shape.gpus(), fabric.shape.ports(), settings.routing);
    whole_topologies(library, collective, fabric).iter().map(|whole| whole.topology().clone()).collect()
}

/// Topologies on which all ranks exchange without coordinates: the one at the start; a generalised Kautz graph, whose
/// diameter is the least for its degree, or one more; a Cayley digraph, which loads its links evenly. One port makes
/// only rings.
fn whole_topologies(library: &Library, collective: Collective, fabric: &Fabric) -> Vec<Whole> {
    let mut topologies = Vec::new();
    if let Initial::Topology(initial) = &fabric.initial
        && !initial.links().is_empty()
    {
        topologies.push(Whole::Any(initial.clone()));
    }
    let shape = &fabric.shape;
    if shape.ports() > 1 && shape.gpus() > shape.ports() + 1 {
        topologies.extend(narrow_graphs::for_collective(collective, shape).into_iter().map(Whole::Any));
        topologies.extend(library.cayley(collective).cloned().map(Whole::Cayley));
    }
    topologies
}
