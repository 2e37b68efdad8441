//! Schedules that the verifier makes itself, so that a lower bound which is not one is found out: no bound for any
//! algorithm is above the time of an algorithm, however plain.
//!
//! The schedules run on one topology throughout: that at the start, or one of the plan's, after a change to it. Nothing
//! here is shared with planners or bounds: links, breadth-first distances and the loads of circuits are found anew.
//!
//! - *All at once*: every block goes to each of its receivers in one step, over shortest paths, at each rank split by
//!   circuits.
//! - *Hop by hop*: in step k a block goes from the ranks k − 1 hops from its owner to those k hops from it, from all
//!   that are near, split by circuits.
//!
//! A ReduceScatter is an AllGather backwards, over circuits turned around; a Reduce and a Gather are so a Broadcast and
//! a Scatter. An AllReduce is a ReduceScatter and an AllGather, or all at once.

use std::collections::BTreeMap;

use model::{Collective, Fabric, Overlap, Plan, Propagation, Rank, Topology};

use crate::changes::Charge;
use crate::cutoffs::bound_own_schedules::{MOST_TOPOLOGIES, MOST_WORK};
use crate::fibres;
use crate::speeds::Speeds;

/// Amounts by pair of ranks, from and to.
type ByPair = BTreeMap<(usize, usize), f64>;

/// Costs of a step: its hops, and its loads as fractions of the buffer m.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OwnStep {
    /// Links on the longest path.
    hops: u32,
    /// Load of the busiest circuit.
    load: f64,
    /// The largest transfer.
    largest: f64,
}

/// Amounts of m that each rank sends to each.
type Sent = BTreeMap<Rank, BTreeMap<Rank, f64>>;

/// Links into every rank, with their circuits, slower ones as parts of one, and out of it.
struct Graph {
    into: Vec<Vec<(usize, f64)>>,
    out: Vec<Vec<usize>>,
}

/// Seconds of the fastest of the verifier's own schedules for what the plan does; `None` where none is made: for many
/// GPUs, where packets overlap hop delays with queueing, where other GPUs forward, and where some rank cannot reach some other.
pub(super) fn fastest_s(plan: &Plan) -> Option<f64> {
    if plan.settings.overlap == Overlap::Pipelined || plan.chunks.forwarding() > 0 {
        return None;
    }
    let start = plan.fabric.initial.given();
    let mut seconds: Vec<f64> = start.into_iter().filter_map(|start| on(plan, start)).collect();
    for topology in plan.topologies.iter().take(MOST_TOPOLOGIES) {
        let charge = |start| Charge::of(&plan.fabric, (start, topology), 0, 0.0).seconds;
        seconds.extend(on(plan, topology).map(|takes_s| start.map_or(0.0, charge) + takes_s));
    }
    seconds.into_iter().min_by(f64::total_cmp)
}

/// Seconds of the fastest on a topology that stays.
fn on(plan: &Plan, topology: &Topology) -> Option<f64> {
    let links = topology.expanded();
    let ranks = topology.ranks() as usize;
    if links.len() * ranks > MOST_WORK {
        return None;
    }
    let speeds = Speeds::of(&plan.fabric.shape);
    let (mut onward, mut turned) = (Graph::of(ranks), Graph::of(ranks));
    for link in links {
        let capacity = speeds.capacity(topology, link.src, link.dst);
        onward.add(link.src as usize, link.dst as usize, capacity);
        turned.add(link.dst as usize, link.src as usize, capacity);
    }
    let hop_s = fibres::hop_s(plan, topology);
    let seconds = |steps: Vec<OwnStep>| steps.into_iter().map(|step| step_s(plan, hop_s, step)).sum::<f64>();
    let least = |ways: [Option<Vec<OwnStep>>; 2]| ways.into_iter().flatten().map(seconds).min_by(f64::total_cmp);
    let all: Vec<Rank> = (0..topology.ranks()).collect();
    let block = 1.0 / ranks as f64;
    let spread = |graph: &Graph, from: &[Rank], share: f64| {
        least([graph.at_once(&to_all(from, ranks, share)), graph.hop_by_hop(from, share)])
    };
    match plan.collective() {
        Collective::AllGather => spread(&onward, &all, block),
        Collective::ReduceScatter => spread(&turned, &all, block),
        Collective::AllReduce => {
            let both = Some(spread(&turned, &all, block)? + spread(&onward, &all, block)?);
            let at_once = least([onward.at_once(&to_all(&all, ranks, 1.0)), None]);
            both.into_iter().chain(at_once).min_by(f64::total_cmp)
        }
        Collective::AllToAll => least([onward.at_once(&exchanged(plan, block)), None]),
        Collective::Broadcast => spread(&onward, &[plan.chunks.root()?], 1.0),
        Collective::Reduce => spread(&turned, &[plan.chunks.root()?], 1.0),
        Collective::Gather => least([turned.at_once(&to_all(&[plan.chunks.root()?], ranks, block)), None]),
        Collective::Scatter => least([onward.at_once(&to_all(&[plan.chunks.root()?], ranks, block)), None]),
    }
}

/// Seconds of a step on a topology whose hops take `hop_s`.
fn step_s(plan: &Plan, hop_s: f64, step: OwnStep) -> f64 {
    let fabric: &Fabric = &plan.fabric;
    let delayed = match plan.settings.propagation {
        Propagation::Hops => f64::from(step.hops),
        Propagation::InverseThroughput => f64::from(fabric.shape.ports()) * step.load / step.largest,
    };
    let bytes = plan.size_bytes as f64 * step.load;
    fabric.barrier_s + fabric.startup_s + hop_s * delayed + 8.0 / fabric.bandwidth_bps * bytes
}

/// This amount from each of some ranks to every other.
fn to_all(from: &[Rank], ranks: usize, share: f64) -> Sent {
    let others = |src: Rank| (0..ranks as Rank).filter(|dst| *dst != src).map(|dst| (dst, share)).collect();
    from.iter().map(|&src| (src, others(src))).collect()
}

/// The amounts that an All-to-All brings from rank to rank.
fn exchanged(plan: &Plan, block: f64) -> Sent {
    let Some(pieces) = plan.chunks.as_pieces() else {
        let ranks = plan.chunks.ranks();
        return to_all(&(0..ranks).collect::<Vec<_>>(), ranks as usize, block);
    };
    let mut sent = Sent::new();
    for piece in pieces.iter().filter(|piece| piece.src != piece.dst) {
        *sent.entry(piece.src).or_default().entry(piece.dst).or_insert(0.0) += piece.share;
    }
    sent
}

impl Graph {
    fn of(ranks: usize) -> Self {
        Self { into: vec![Vec::new(); ranks], out: vec![Vec::new(); ranks] }
    }

    fn add(&mut self, src: usize, dst: usize, circuits: f64) {
        self.into[dst].push((src, circuits));
        self.out[src].push(dst);
    }

    /// Ranks by their hops from `source`, level by level.
    fn levels(&self, source: usize) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.out.len()];
        seen[source] = true;
        let mut levels = vec![vec![source]];
        loop {
            let mut next = Vec::new();
            for &rank in &levels[levels.len() - 1] {
                for &other in &self.out[rank] {
                    if !std::mem::replace(&mut seen[other], true) {
                        next.push(other);
                    }
                }
            }
            if next.is_empty() {
                return levels;
            }
            levels.push(next);
        }
    }

    /// By rank its level; `usize::MAX` where no path leads.
    fn depths(&self, levels: &[Vec<usize>]) -> Vec<usize> {
        let mut depths = vec![usize::MAX; self.out.len()];
        levels.iter().enumerate().for_each(|(depth, level)| level.iter().for_each(|&rank| depths[rank] = depth));
        depths
    }

    /// Ranks just before `rank` on shortest paths, and the circuits of all of them together.
    fn before<'g>(&'g self, rank: usize, depths: &'g [usize]) -> (impl Iterator<Item = (usize, f64)> + 'g, f64) {
        let near = move || self.into[rank].iter().copied().filter(move |(from, _)| depths[*from] < depths[rank]);
        (near(), near().map(|(_, circuits)| circuits).sum())
    }

    /// `None` where some receiver has no path.
    fn at_once(&self, sent: &Sent) -> Option<Vec<OwnStep>> {
        // The load of each circuit of a link.
        let mut loads: ByPair = BTreeMap::new();
        let (mut hops, mut largest) = (0, 0.0);
        for (&src, receivers) in sent {
            let levels = self.levels(src as usize);
            let depths = self.depths(&levels);
            let mut passing = vec![0.0; self.out.len()];
            for (&dst, &share) in receivers {
                if depths[dst as usize] == usize::MAX {
                    return None;
                }
                hops = hops.max(depths[dst as usize] as u32);
                largest = f64::max(largest, share);
                passing[dst as usize] = share;
            }
            for &rank in levels.iter().skip(1).rev().flatten() {
                let (near, circuits) = self.before(rank, &depths);
                let each = passing[rank] / circuits;
                for (from, count) in near {
                    *loads.entry((from, rank)).or_insert(0.0) += each;
                    passing[from] += each * count;
                }
            }
        }
        let load = loads.into_values().fold(0.0, f64::max);
        (load > 0.0).then(|| vec![OwnStep { hops, load, largest }])
    }

    /// `None` where a block does not reach all ranks.
    fn hop_by_hop(&self, owners: &[Rank], share: f64) -> Option<Vec<OwnStep>> {
        let mut steps: Vec<(ByPair, ByPair)> = Vec::new();
        for &owner in owners {
            let levels = self.levels(owner as usize);
            let depths = self.depths(&levels);
            if depths.contains(&usize::MAX) {
                return None;
            }
            steps.resize(steps.len().max(levels.len() - 1), Default::default());
            for ((loads, transfers), level) in steps.iter_mut().zip(&levels[1..]) {
                for &rank in level {
                    let (near, circuits) = self.before(rank, &depths);
                    for (from, count) in near {
                        *loads.entry((from, rank)).or_insert(0.0) += share / circuits;
                        *transfers.entry((from, rank)).or_insert(0.0) += share * count / circuits;
                    }
                }
            }
        }
        let most = |carried: BTreeMap<_, f64>| carried.into_values().fold(0.0, f64::max);
        Some(steps.into_iter().map(|(loads, all)| OwnStep { hops: 1, load: most(loads), largest: most(all) }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 → 1, 1 → 0, 1 ⇒ 2, 2 → 0, 2 → 1.
    fn uneven() -> Graph {
        let mut graph = Graph::of(3);
        for (src, dst, circuits) in [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 2.0), (2, 0, 1.0), (2, 1, 1.0)] {
            graph.add(src, dst, circuits);
        }
        graph
    }

    #[test]
    fn steps_on_an_uneven_graph_are_those_by_hand() {
        let share = 1.0 / 3.0;
        // All at once 0 sends two blocks over its one circuit; hop by hop its neighbour passes one on, over two.
        let at_once = uneven().at_once(&to_all(&[0, 1, 2], 3, share)).unwrap();
        assert_eq!(at_once, [OwnStep { hops: 2, load: 2.0 * share, largest: share }]);
        let hop_by_hop = uneven().hop_by_hop(&[0, 1, 2], share).unwrap();
        assert_eq!(
            hop_by_hop,
            [(share, share), (share / 2.0, share)].map(|(load, largest)| OwnStep { hops: 1, load, largest })
        );
    }

    #[test]
    fn what_has_no_path_has_no_schedule() {
        let mut graph = Graph::of(3);
        graph.add(0, 1, 1.0);
        assert_eq!(graph.hop_by_hop(&[0], 1.0), None);
        assert_eq!(graph.at_once(&to_all(&[0], 3, 1.0)), None);
        assert!(graph.at_once(&Sent::from([(0, BTreeMap::from([(1, 1.0)]))])).is_some());
    }
}
