//! A flow through several steps as a composition: blocks cut into the parts that travel by the same steps.
//!
//! A part of a block is sent in a step from the rank where it waits to the one where it waits next or stays. Within the
//! step it may take several hops, on the paths that the flow has between these ranks.

use std::collections::BTreeMap;

use model::{Chunks, Op, Piece, Rank, Result, RoutedEntry, RoutedPath, Routes, Step, Transfer, Translations};

use super::flow::{Flow, Path};
use super::layers::Layers;
use crate::composition::Composition;
use crate::unequal::demand::Demand;
use crate::unequal::wiring::Wiring;

/// A part's way in one step: the step, and the ranks that it passes.
type Leg = (usize, Vec<Rank>);

/// Transfers of a step: the numbers of the pieces that go from one rank to another.
type Sent = BTreeMap<(Rank, Rank), Vec<u32>>;

/// Bytes over m of a step by path, by the ends of the path.
type Shares = BTreeMap<(Rank, Rank), BTreeMap<Vec<Rank>, f64>>;

/// The composition of a flow on these topologies, one a step; steps that carry nothing are left out.
///
/// # Errors
/// No error for a flow of the demand.
pub(super) fn composition(demand: &Demand, wirings: &[Wiring], flow: &Flow) -> Result<Composition> {
    let ranks = demand.ranks();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut sent: Vec<Sent> = vec![Sent::new(); wirings.len()];
    let mut shares: Vec<Shares> = vec![Shares::new(); wirings.len()];
    for (pair, paths) in flow.paths.iter().enumerate() {
        interruption::check();
        let (src, dst) = ((pair / ranks) as Rank, (pair % ranks) as Rank);
        if src == dst && demand.share(src, dst) > 0.0 {
            pieces.push(Piece { src, dst, share: demand.share(src, dst) });
        }
        let mut parts: BTreeMap<Vec<(usize, Rank, Rank)>, f64> = BTreeMap::new();
        for path in paths {
            let legs = legs(&flow.layers, path);
            let ends = |(step, nodes): &Leg| (*step, nodes[0], nodes[nodes.len() - 1]);
            *parts.entry(legs.iter().map(ends).collect()).or_default() += path.share;
            for (step, nodes) in legs {
                let of_ends = shares[step].entry((nodes[0], nodes[nodes.len() - 1])).or_default();
                *of_ends.entry(nodes).or_default() += path.share;
            }
        }
        for (legs, share) in parts {
            for (step, from, to) in legs {
                sent[step].entry((from, to)).or_default().push(pieces.len() as u32);
            }
            pieces.push(Piece { src, dst, share });
        }
    }
    let chunks = Chunks::pieces(ranks as u32, pieces)?;
    let (mut steps, mut topologies, mut routes) = (Vec::new(), Vec::new(), Vec::new());
    for ((wiring, sent), shares) in wirings.iter().zip(sent).zip(shares).filter(|((_, sent), _)| !sent.is_empty()) {
        let transfer = |((src, dst), chunks)| Transfer { src, dst, op: Op::Copy, chunks };
        steps.push(Step::new(Translations::trivial(ranks as u32), sent.into_iter().map(transfer), &chunks)?);
        topologies.push(wiring.topology(&format!("for-matrix-{}", steps.len()))?);
        routes.push(routed(ranks, shares));
    }
    Ok(Composition { routes, ..Composition::new(chunks, steps, topologies)? })
}

/// A path step by step.
fn legs(layers: &Layers, path: &Path) -> Vec<Leg> {
    let mut legs: Vec<Leg> = Vec::new();
    for &link in path.links.iter().rev() {
        let edge = layers.edges[link as usize];
        match legs.last_mut() {
            Some((step, nodes)) if *step == edge.step as usize => nodes.push(edge.head),
            _ => legs.push((edge.step as usize, vec![edge.tail, edge.head])),
        }
    }
    legs
}

/// The routes of a step, every pair of ends with its paths.
fn routed(ranks: usize, shares: Shares) -> Routes {
    let entry = |((src, dst), paths): ((Rank, Rank), BTreeMap<Vec<Rank>, f64>)| {
        let all: f64 = paths.values().sum();
        let paths = paths.into_iter().map(|(nodes, share)| RoutedPath { share: share / all, nodes }).collect();
        RoutedEntry { src, dst, paths }
    };
    Routes { symmetry: Translations::trivial(ranks as u32), arcs: shares.into_iter().map(entry).collect() }
}
