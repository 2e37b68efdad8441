//! Blocks of different sizes (§4.4): the same strategies, with ranks given to nodes so that large flows share
//! rounds.
//!
//! A slot lasts as long as its largest block. A flow of many chunks goes through its round once for each; with chunks
//! sent by index that is the same as one block of their number of chunks.

use std::collections::BTreeMap;

use model::{Error, Initial, Link, Rank, ReconfigurationDelay, Result, Shape, Topology, Translations, sum_seconds};

use crate::{Prices, Round, Stage, Strategy, bases, degree_one};

/// Number of strategies whose ranks are relabelled: the cheapest ones without relabelling.
pub(crate) const RELABELLED: usize = 3;
/// Most flows that all swaps of one strategy look at, a fraction of a second of work.
const LOOKS: u64 = 1 << 26;

/// Blocks to send and what they take.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// Bytes, `[src][dst]`, as many rows as ranks; the diagonal stays where it is.
    pub matrix: &'a [Vec<f64>],
    /// Seconds for a block of this many bytes over one hop.
    pub hop_s: &'a dyn Fn(f64) -> f64,
}

/// The strategy of least price for these blocks, over all numbers of topologies, with ranks relabelled. Flows without
/// bytes, and rounds and topologies without flows, are left out. It is invariant under no group.
///
/// Every strategy is priced in O(n²); for the best few, pairs of ranks are swapped as long as that lowers the
/// price.
///
/// # Errors
/// No error for a shape that exists and a matrix that sends something.
pub fn best_for_blocks(
    shape: &Shape,
    blocks: &Blocks,
    reconfiguration: &ReconfigurationDelay,
    initial: &Initial,
) -> Result<Strategy> {
    let prices = Prices { hop_s: 0.0, reconfiguration, initial };
    let ranks = shape.gpus();
    let in_order: Vec<usize> = (0..ranks as usize).collect();
    // The cheapest so far, cheapest first.
    let mut shortlist: Vec<(f64, Strategy)> = Vec::new();
    let mut consider = |strategy: Strategy| {
        let price_s = Flat::new(&strategy).slots_s(blocks, &in_order) + strategy.price_s(&prices);
        shortlist.push((price_s, strategy));
        shortlist.sort_by(|a, b| a.0.total_cmp(&b.0));
        shortlist.truncate(RELABELLED);
    };
    each_strategy(shape, &mut consider)?;
    let mut best: Option<(f64, Strategy)> = None;
    for (_, strategy) in shortlist {
        let flat = Flat::new(&strategy);
        let mut names = in_order.clone();
        flat.relabel(blocks, &mut names);
        let relabelled = renamed(&strategy, &names, blocks.matrix)?.starting_from(initial);
        let price_s = flat.slots_s(blocks, &names) + relabelled.price_s(&prices);
        if best.as_ref().is_none_or(|(least_s, _)| price_s < *least_s) {
            best = Some((price_s, relabelled));
        }
    }
    best.map(|(_, strategy)| strategy)
        .ok_or_else(|| Error::infeasible("topology", "no base topology connects all ranks"))
}

/// Visits the strategies of every number of topologies, one for each base.
///
/// # Errors
/// No error for a shape that exists.
pub(crate) fn each_strategy(shape: &Shape, visit: &mut dyn FnMut(Strategy)) -> Result<()> {
    let ranks = shape.gpus();
    let ports = shape.ports().min(ranks - 1);
    if ports > 1 {
        return bases::every(ranks, ports, |sequences| {
            sequences.iter().for_each(|contractions| visit(contractions.strategy()));
            Ok(true)
        });
    }
    let order = degree_one::shifts(ranks).order;
    for count in 1..=order.len() {
        visit(degree_one::of_shifts(ranks, &order[..count])?);
    }
    Ok(())
}

/// Every flow of every round with its hops, without symmetry.
pub(crate) struct Flat {
    rounds: Vec<Vec<(usize, usize, usize)>>,
}

impl Flat {
    pub(crate) fn new(strategy: &Strategy) -> Self {
        let group = &strategy.symmetry;
        let flow = |element: u32, path: &[Rank]| {
            let end = |node: Rank| group.apply(element, node) as usize;
            (end(path[0]), end(path[path.len() - 1]), path.len() - 1)
        };
        let elements = group.elements();
        let flat = |round: &Round| {
            let orbits = round.paths.iter().flat_map(|path| elements.iter().map(move |&element| flow(element, path)));
            orbits.collect()
        };
        Self { rounds: strategy.rounds().map(flat).collect() }
    }

    /// Seconds of all slots where rank `names[v]` is at node v.
    pub(crate) fn slots_s(&self, blocks: &Blocks, names: &[usize]) -> f64 {
        let mut largest = Vec::new();
        let mut slots = Vec::new();
        for round in &self.rounds {
            largest.clear();
            for &(src, dst, hops) in round {
                if largest.len() < hops {
                    largest.resize(hops, 0.0);
                }
                let bytes = blocks.matrix[names[src]][names[dst]];
                largest[hops - 1] = f64::max(largest[hops - 1], bytes);
            }
            // A block is under way in every slot up to its last hop.
            let mut moving = 0.0;
            for &bytes in largest.iter().rev() {
                moving = f64::max(moving, bytes);
                if moving > 0.0 {
                    slots.push((blocks.hop_s)(moving));
                }
            }
        }
        sum_seconds(slots)
    }

    /// Swaps the two ranks whose swap saves most, again and again, as long as one saves time.
    pub(crate) fn relabel(&self, blocks: &Blocks, names: &mut [usize]) {
        let flows: u64 = self.rounds.iter().map(|round| round.len() as u64).sum();
        let mut tries = LOOKS / flows.max(1);
        let mut least_s = self.slots_s(blocks, names);
        while tries > 0 {
            let mut best = None;
            for a in 0..names.len() {
                interruption::check();
                for b in a + 1..names.len() {
                    if tries > 0 {
                        tries -= 1;
                        names.swap(a, b);
                        let slots_s = self.slots_s(blocks, names);
                        names.swap(a, b);
                        // A gain that is only rounding could go back and forth.
                        if slots_s < least_s * (1.0 - 1e-12) {
                            (least_s, best) = (slots_s, Some((a, b)));
                        }
                    }
                }
            }
            let Some((a, b)) = best else { return };
            names.swap(a, b);
        }
    }
}

/// The strategy without the flows that have no bytes in `matrix[src][dst]`, and without rounds and topologies that are
/// then empty. It is invariant under no group. O(n² · hops).
///
/// # Errors
/// No error for a matrix with a row and a column per rank.
pub fn without_empty_flows(strategy: &Strategy, matrix: &[Vec<f64>]) -> Result<Strategy> {
    let in_order: Vec<usize> = (0..strategy.ranks() as usize).collect();
    renamed(strategy, &in_order, matrix)
}

/// The strategy with rank `names[v]` at node v, without flows that have no bytes.
pub(crate) fn renamed(strategy: &Strategy, names: &[usize], matrix: &[Vec<f64>]) -> Result<Strategy> {
    let group = &strategy.symmetry;
    let symmetry = Translations::trivial(strategy.ranks());
    let name = |node: Rank| names[node as usize] as Rank;
    let mut stages = Vec::new();
    for stage in &strategy.stages {
        let links = stage.topology.expanded().into_iter();
        let links = links.map(|link| Link { src: name(link.src), dst: name(link.dst), count: link.count });
        let topology = Topology::new(stage.topology.name(), symmetry.clone(), links)?.with_found_symmetry();
        let mut rounds = Vec::new();
        for round in &stage.rounds {
            let mut paths: BTreeMap<(Rank, Rank), Vec<Rank>> = BTreeMap::new();
            for element in group.elements() {
                interruption::check();
                for path in &round.paths {
                    let path: Vec<Rank> = path.iter().map(|&node| name(group.apply(element, node))).collect();
                    let ends = (path[0], path[path.len() - 1]);
                    if matrix[ends.0 as usize][ends.1 as usize] > 0.0 {
                        paths.insert(ends, path);
                    }
                }
            }
            if !paths.is_empty() {
                rounds.push(Round { paths: paths.into_values().collect() });
            }
        }
        if !rounds.is_empty() {
            stages.push(Stage { topology, rounds });
        }
    }
    Ok(Strategy { symmetry, stages })
}
