//! The bases for more than one port, side by side (§4.2).
//!
//! The paper has circulants and generalised Kautz graphs. A Kautz graph looks different from every rank, so that its
//! flows are as many as pairs of ranks, too many for more than some hundreds. A Cayley digraph of Z_m ⋊ Z_k
//! ([`topologies::metacyclic`]) is nearly as narrow and alike from every rank, and moving all ranks of an orbit of m is
//! a symmetry of its strategies: k·(n − 1) flows in place of n·(n − 1). Above [`MOST_OF_PAPER`] ranks it is a base as
//! well.

use model::{Result, Shape, Translations};
use topologies::metacyclic;

use crate::cutoffs::bases::{
    MOST_CAYLEY_FLOWS, MOST_CAYLEY_PACKED, MOST_FLOWS, MOST_OF_PAPER, MOST_ORBITS, MOST_PACKED, MOST_PACKING,
};
use crate::{Contractions, circulant};

/// Numbers of topologies in a row at which another base may cost no less than circulants before it is left: it pays
/// for few topologies and many ranks, if at all.
const PATIENCE: u32 = 4;

/// Topologies over which this many flows are packed, from one on to the last, for this effort.
fn topologies_for(flows: u64, effort: u64) -> u64 {
    let packed_until = |topologies: u64| flows * topologies * (topologies + 1) / 2;
    (1..).take_while(|&topologies| packed_until(topologies) <= effort).last().unwrap_or(0)
}

/// Topologies of the longest sequence on a generalised Kautz base that is made for these ranks and ports, for the
/// effort that it takes; `None` where no limit is set.
fn most_kautz_topologies(ranks: u32, ports: u32) -> Option<u64> {
    let flows = u64::from(ranks) * u64::from(ranks - 1);
    if flows > MOST_FLOWS {
        return Some(0);
    }
    let is_limited = flows * u64::from(ranks) / u64::from(ports).pow(2) > MOST_PACKING;
    is_limited.then(|| topologies_for(flows, MOST_PACKED))
}

/// Most orbits of ranks of a Cayley base.
fn most_orbits(ranks: u32) -> u32 {
    MOST_ORBITS.min(MOST_CAYLEY_FLOWS / ranks)
}

/// Topologies of the longest sequence on a Cayley base, where there is one.
fn most_cayley_topologies(ranks: u32) -> u64 {
    let orbits = most_orbits(ranks);
    if ranks <= MOST_OF_PAPER || orbits < 2 {
        return 0;
    }
    topologies_for(u64::from(orbits) * u64::from(ranks - 1), MOST_CAYLEY_PACKED)
}

/// Strategies for this many ranks and ports that are not looked at, for the effort that they take, in words.
pub fn left_out(ranks: u32, ports: u32) -> Option<String> {
    // One port has shifts, and ranks that are all a hop apart need one topology.
    if ports < 2 || ports + 1 >= ranks {
        return None;
    }
    let has_cayley = most_cayley_topologies(ranks) > 0 && metacyclic::exists(ranks, ports, most_orbits(ranks));
    // As many topologies give every flow its own circuit.
    let all = u64::from((ranks - 1).div_ceil(ports));
    let most_cayley = has_cayley.then(|| most_cayley_topologies(ranks)).filter(|&most| most < all);
    let graphs = [("generalised Kautz", most_kautz_topologies(ranks, ports)), ("Cayley", most_cayley)];
    let said = |(name, most): (&str, Option<u64>)| {
        Some(match most? {
            0 => format!("sequences that begin with a {name} graph, which are not searched for this many GPUs"),
            most => format!(
                "sequences of more than {most} topologies that begin with a {name} graph, which take too long to search"
            ),
        })
    };
    let said: Vec<String> = graphs.into_iter().filter_map(said).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// The generalised Kautz base (fig. 9) with its one-topology strategy in hand, 2 ≤ `ports` < `ranks`.
///
/// # Errors
/// No error for such ports.
pub fn kautz(ranks: u32, ports: u32) -> Result<Contractions> {
    let base = topologies::build("kautz", &Shape::new(ranks, &[], ports)?)?;
    Contractions::new(base, Translations::trivial(ranks), ports)
}

/// The Cayley base with its one-topology strategy in hand; `None` for few ranks, more than 2^16, and where there is no
/// such digraph, as for a prime number of ranks.
///
/// # Errors
/// No error for 2 ≤ `ports` < `ranks`.
pub fn cayley(ranks: u32, ports: u32) -> Result<Option<Contractions>> {
    if most_cayley_topologies(ranks) == 0 {
        return Ok(None);
    }
    let Some(found) = metacyclic::best_of_wheels(ranks, ports, most_orbits(ranks))? else { return Ok(None) };
    // Generators that were drawn may have led to the same rank.
    if found.topology.links().iter().any(|link| link.count > 1) {
        return Ok(None);
    }
    let symmetry = found.topology.symmetry().clone();
    Contractions::new(found.topology, symmetry, ports).map(Some)
}

/// A base other than the circulants, with the most topologies of its sequence and how often in a row it was no better.
struct Other {
    sequence: Contractions,
    most: u64,
    behind: u32,
}

/// Visits the strategies of all bases with one topology, two, and so on, until every flow has its own circuit
/// or `visit` says that topologies in such numbers are not worth it: it is given the strategies of all bases with
/// the same number of topologies. Bases other than circulants take part unless [`left_out`] names them.
///
/// # Errors
/// No error for 2 ≤ `ports` < `ranks`, but the errors of `visit`.
pub(crate) fn every(ranks: u32, ports: u32, mut visit: impl FnMut(&[&Contractions]) -> Result<bool>) -> Result<()> {
    let mut circulants = circulant(ranks, ports)?;
    let most_kautz = most_kautz_topologies(ranks, ports).unwrap_or(u64::MAX);
    let kautz = if most_kautz > 0 { Some(kautz(ranks, ports)?) } else { None };
    let bases = [(kautz, most_kautz), (cayley(ranks, ports)?, most_cayley_topologies(ranks))].into_iter();
    let mut others: Vec<Other> =
        bases.filter_map(|(base, most)| Some(Other { sequence: base?, most, behind: 0 })).collect();
    loop {
        let all: Vec<&Contractions> =
            [&circulants].into_iter().chain(others.iter().map(|other| &other.sequence)).collect();
        if !visit(&all)? {
            break;
        }
        for other in &mut others {
            let is_ahead = other.sequence.hops() < circulants.hops();
            other.behind = if is_ahead { 0 } else { other.behind + 1 };
        }
        // Circulants end with one hop for every flow in the fewest topologies, which no other base improves on.
        if !circulants.contract()? {
            break;
        }
        others.retain(|other| other.behind < PATIENCE && (other.sequence.topologies() as u64) < other.most);
        let mut kept = Vec::with_capacity(others.len());
        for mut other in others {
            if other.sequence.contract()? {
                kept.push(other);
            }
        }
        others = kept;
    }
    Ok(())
}
