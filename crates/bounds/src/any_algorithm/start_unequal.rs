//! An All-to-All of blocks of different sizes that stays on the topology at the start; of equal blocks, on a topology
//! of few ranks that are not alike.
//!
//! Its hops are at least those of the farthest pair that exchanges anything. All steps together route the blocks over
//! the topology's circuits, on paths of at most the hops of all steps, so that no [prices of
//! circuits](crate::link_prices) under which they would cost more than the circuits hold are exceeded. Equal prices for
//! all circuits, for those out of one rank, and for those into one are among them.

use std::collections::BTreeMap;

use model::{BreadthFirst, Collective, Piece, Rank, Topology, UNREACHABLE};

use super::start::staying;
use crate::cutoffs::any_algorithm_start_unequal::{MOST_PRICED, MOST_UNEVEN};
use crate::known_topology::KnownTopology;
use crate::link_prices::PricedLinks;
use crate::rates::Rates;
use crate::statement::Statement;

/// Whether prices are looked for where blocks are equal.
pub(super) fn is_priced(topology: &Topology) -> bool {
    topology.ranks() <= MOST_UNEVEN && !topology.symmetry().is_transitive()
}

/// A block from every rank to every other.
pub(super) fn equal_blocks(ranks: u32) -> Vec<Piece> {
    let share = 1.0 / f64::from(ranks);
    (0..ranks).flat_map(|src| (0..ranks).map(move |dst| Piece { src, dst, share })).collect()
}

/// By sender and receiver, the part of m that goes from one to the other.
type Shares = BTreeMap<Rank, BTreeMap<Rank, f64>>;

/// The bound where nothing is ever changed; `None` where some pair that exchanges bytes has no path.
pub(super) fn stays_unequal(pieces: &[Piece], topology: &Topology, rates: &Rates, buffer_s: f64) -> Option<Statement> {
    let mut sent: Shares = BTreeMap::new();
    for piece in pieces.iter().filter(|piece| piece.src != piece.dst) {
        *sent.entry(piece.src).or_default().entry(piece.dst).or_insert(0.0) += piece.share;
    }
    let (hops, load) = by_distances(&sent, topology)?;
    let (at_hops, beyond) = match rates.ranks <= MOST_PRICED && !sent.is_empty() {
        true => {
            let priced = PricedLinks::new(topology);
            let beyond = priced.least_load(&sent, None);
            (priced.least_load(&sent, Some(hops)).max(beyond), beyond)
        }
        false => (0.0, 0.0),
    };
    let with = |hops: u32, priced: f64| staying(Collective::AllToAll, rates, 1, hops, buffer_s * load.max(priced));
    let ways = [with(hops, at_hops), with(hops + 1, beyond)];
    ways.into_iter().min_by(|a, b| a.seconds().total_cmp(&b.seconds()))
}

/// Hops of the farthest pair, and the load that equal prices make: of all circuits, of those out of a rank, of those
/// into it.
fn by_distances(sent: &Shares, topology: &Topology) -> Option<(u32, f64)> {
    let known = KnownTopology::new(topology);
    let mut search = BreadthFirst::new(topology.ranks() as usize);
    let (mut farthest, mut occupied, mut load) = (0, 0.0, 0.0_f64);
    let mut received = vec![0.0; topology.ranks() as usize];
    for (&src, blocks) in sent {
        let distances = known.from(&mut search, src);
        for (&dst, &share) in blocks {
            let hops = distances[dst as usize];
            if hops == UNREACHABLE {
                return None;
            }
            farthest = farthest.max(hops);
            occupied += share * f64::from(hops);
            received[dst as usize] += share;
        }
        load = load.max(blocks.values().sum::<f64>() / known.circuits_out_of(src));
    }
    let receivers = (0..).zip(&received).filter(|(_, share)| **share > 0.0);
    let load = receivers.map(|(rank, share)| share / known.circuits_into(rank)).fold(load, f64::max);
    Some((farthest, load.max(occupied / known.circuits())))
}
