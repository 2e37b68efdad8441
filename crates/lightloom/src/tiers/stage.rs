//! Stages: what is sent together, over circuits and through electrical switches.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{Chunks, Result};
use model::{Electrical, Fabric, Op, Rank, RoutedEntry, RoutedPath, Routes, Step, Topology, Transfer, Translations};

/// A transfer with its paths.
#[derive(Debug, Clone)]
pub(super) struct Move {
    pub(super) transfer: Transfer,
    pub(super) paths: Vec<RoutedPath>,
}

impl Move {
    /// Chunks from GPU to GPU of an island, through its switch.
    pub(super) fn inside(src: Rank, dst: Rank, op: Op, mut chunks: Vec<u32>) -> Self {
        chunks.sort_unstable();
        Self {
            transfer: Transfer { src, dst, op, chunks },
            paths: vec![RoutedPath { share: 1.0, nodes: vec![src, dst] }],
        }
    }
}

/// Moves that start together, one of each orbit of the group of all stages.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    /// The topology that it needs; `None` where all goes through switches.
    pub(super) topology: Option<usize>,
    pub(super) moves: Vec<Move>,
}

/// The loads of a stage on both tiers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loads {
    /// Hops of the longest path.
    pub(super) hops: u32,
    /// The longest sum of hop delays, s.
    pub(super) delay_s: f64,
    /// Weight on the busiest circuit.
    pub(super) circuit: f64,
    /// Weight out of or into the busiest GPU through its switch.
    pub(super) switch: f64,
}

impl Loads {
    /// The loads of arcs with their weights, invariant under `group`.
    pub(super) fn of<'a>(
        fabric: &Fabric,
        electrical: &Electrical,
        topology: &Topology,
        group: &Translations,
        arcs: impl Iterator<Item = (&'a [RoutedPath], f64)>,
    ) -> Self {
        let circuits: BTreeMap<(Rank, Rank), u32> =
            topology.links_under(group).into_iter().map(|link| ((link.src, link.dst), link.count)).collect();
        let mut on_circuit: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
        let mut at_gpu = [vec![0.0; group.orbits() as usize], vec![0.0; group.orbits() as usize]];
        let mut found = Self::default();
        for (paths, weight) in arcs {
            interruption::check();
            for path in paths {
                let mut delay_s = 0.0;
                for hop in path.nodes.windows(2) {
                    let (src, element) = group.canonical(hop[0]);
                    let pair = (src, group.apply(group.inverse(element), hop[1]));
                    if circuits.contains_key(&pair) {
                        delay_s += fabric.hop_delay_s;
                        *on_circuit.entry(pair).or_insert(0.0) += weight * path.share;
                    } else {
                        delay_s += electrical.hop_delay_s;
                        at_gpu[0][group.orbit(hop[0]) as usize] += weight * path.share;
                        at_gpu[1][group.orbit(hop[1]) as usize] += weight * path.share;
                    }
                }
                found.hops = found.hops.max(path.nodes.len() as u32 - 1);
                found.delay_s = found.delay_s.max(delay_s);
            }
        }
        found.circuit = on_circuit.iter().map(|(pair, load)| load / f64::from(circuits[pair])).fold(0.0, f64::max);
        found.switch = at_gpu.into_iter().flatten().fold(0.0, f64::max);
        found
    }

    /// Seconds that `bytes` for a weight of 1 take on the busier tier.
    pub(super) fn transmission_s(&self, fabric: &Fabric, electrical: &Electrical, bytes: f64) -> f64 {
        (fabric.byte_s() * bytes * self.circuit).max(electrical.byte_s() * bytes * self.switch)
    }
}

/// The traffic from one GPU to another: its total, and its parts by path.
type Carried<'a> = (f64, BTreeMap<&'a [Rank], f64>);

/// Moves of several stages, each of some pieces of its chunks, as one step with its routes. Piece c of a chunk that is
/// cut in `pieces` is chunk `chunk·pieces + c`.
///
/// # Errors
/// No moves.
pub(super) fn step_of<'a>(
    stages: impl Iterator<Item = (&'a Stage, Range<u32>)>,
    (group, chunks, pieces): (&Translations, &Chunks, u32),
) -> Result<(Step, Routes)> {
    let mut transfers: BTreeMap<(Rank, Rank, Op), Vec<u32>> = BTreeMap::new();
    let mut carried: BTreeMap<(Rank, Rank), Carried> = BTreeMap::new();
    for (stage, moved) in stages {
        for Move { transfer, paths } in &stage.moves {
            let Transfer { src, dst, op, chunks: sent } = transfer;
            let pieces_of = |chunk: &u32| {
                let first = chunk * pieces;
                moved.clone().map(move |piece| first + piece)
            };
            transfers.entry((*src, *dst, *op)).or_default().extend(sent.iter().flat_map(pieces_of));
            let amount = sent.len() as f64 * f64::from(moved.len() as u32);
            let (all, by_path) = carried.entry((*src, *dst)).or_default();
            *all += amount;
            for path in paths {
                *by_path.entry(&path.nodes).or_insert(0.0) += amount * path.share;
            }
        }
    }
    let made = transfers.into_iter().map(|((src, dst, op), chunks)| Transfer { src, dst, op, chunks });
    let step = Step::new(group.clone(), made, chunks)?;
    let arcs = carried.into_iter().map(|((src, dst), (all, by_path))| RoutedEntry {
        src,
        dst,
        paths: by_path
            .into_iter()
            .map(|(nodes, amount)| RoutedPath { share: amount / all, nodes: nodes.to_vec() })
            .collect(),
    });
    let routes = Routes { symmetry: group.clone(), arcs: arcs.collect() };
    Ok((step, routes))
}
