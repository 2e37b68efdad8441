//! Communications one after the other: the shortest path over (communication, port split, topologies).
//!
//! A state is a split of the ports and a topology of each family that has ports. A communication on its family's ports
//! is free of charge where its first topology is there; else all ports change to any wanted circuits, at a charge of
//! the reconfiguration delay less the time since the communication before. The path is closed: the iteration's last
//! state is the first of the next.

use std::collections::BTreeMap;

use crate::cutoffs::series::MOST_WORK;
use crate::library::{Entry, Library, TopologyId};
use crate::ports::width;
use crate::splits::Split;

/// A communication of the sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Turn {
    pub(crate) kind: usize,
    pub(crate) family: usize,
    /// Time from the end of the communication before to the earliest begin of this one, s.
    pub(crate) idle_s: f64,
}

/// Ports and entry of each communication.
type Chosen = Vec<((u32, u32), Entry)>;

/// The result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) chosen: Chosen,
    /// Communication and what is not hidden of the changes, s.
    pub(crate) cost_s: f64,
    /// Whether it is proved that no closed path is shorter.
    pub(crate) is_shortest: bool,
}

/// The states of a split.
struct Block {
    split: Split,
    /// For each family, its topologies, and how far apart the states of two of them are.
    topologies: Vec<(Vec<TopologyId>, usize)>,
    first: usize,
    states: usize,
}

/// An entry between two topologies of a block, by their places.
type Arc = (usize, usize, f64, usize);

/// The search.
struct Search<'a> {
    library: &'a Library<'a>,
    turns: &'a [Turn],
    blocks: Vec<Block>,
    states: usize,
    /// By kind and block.
    arcs: BTreeMap<(usize, usize), Vec<Arc>>,
}

/// One run from given states.
struct Run {
    /// Cost at the end, by state, s.
    cost_s: Vec<f64>,
    /// By turn and state: the arc, and whether everything changed.
    back: Vec<Vec<(u16, bool)>>,
    /// By turn: the cheapest state before it.
    cheapest: Vec<usize>,
}

/// The shortest closed path; `None` where no split serves all communications.
pub(crate) fn shortest(library: &Library<'_>, families: usize, splits: &[Split], turns: &[Turn]) -> Option<Found> {
    let search = Search::new(library, families, splits, turns);
    if search.states == 0 || turns.is_empty() {
        return None;
    }
    let relaxed = search.run(None)?;
    let end = cheapest(&relaxed.cost_s)?;
    let (chosen, start) = search.trace(&relaxed, end);
    if start == end {
        return Some(Found { chosen, cost_s: relaxed.cost_s[end], is_shortest: true });
    }
    let all = search.states.saturating_mul(search.work()) <= MOST_WORK;
    let starts: Vec<usize> = if all { (0..search.states).collect() } else { vec![end, start] };
    let mut best: Option<(f64, usize, Run)> = None;
    for start in starts {
        let Some(run) = search.run(Some(start)) else { continue };
        let cost_s = run.cost_s[start];
        if cost_s.is_finite() && best.as_ref().is_none_or(|(best_s, ..)| cost_s < *best_s) {
            best = Some((cost_s, start, run));
        }
    }
    let (cost_s, end, run) = best?;
    let is_shortest = all || cost_s <= relaxed.cost_s[cheapest(&relaxed.cost_s)?] * (1.0 + 1e-12);
    Some(Found { chosen: search.trace(&run, end).0, cost_s, is_shortest })
}

fn cheapest(cost_s: &[f64]) -> Option<usize> {
    (0..cost_s.len()).filter(|&state| cost_s[state].is_finite()).min_by(|&a, &b| cost_s[a].total_cmp(&cost_s[b]))
}

impl<'a> Search<'a> {
    fn new(library: &'a Library<'a>, families: usize, splits: &[Split], turns: &'a [Turn]) -> Self {
        let mut search = Self { library, turns, blocks: Vec::new(), states: 0, arcs: BTreeMap::new() };
        for split in splits {
            let mut states = 1;
            let mut topologies = Vec::with_capacity(families);
            for (family, &ports) in split.iter().enumerate() {
                let known = if width(ports) == 0 { Vec::new() } else { library.topologies(family, ports) };
                let stride = states;
                states *= known.len().max(1);
                topologies.push((known, stride));
            }
            search.blocks.push(Block { split: split.clone(), topologies, first: search.states, states });
            search.states += states;
        }
        let kinds: std::collections::BTreeSet<(usize, usize)> =
            turns.iter().map(|turn| (turn.kind, turn.family)).collect();
        for (kind, family) in kinds {
            for (index, block) in search.blocks.iter().enumerate() {
                interruption::check();
                let range = block.split[family];
                let (known, _) = &block.topologies[family];
                let place = |id: TopologyId| known.iter().position(|known| *known == id);
                let entries = library.entries(kind, range).iter().enumerate();
                let arcs = entries
                    .filter(|(_, entry)| range.1 > range.0 && !entry.through)
                    .filter_map(|(at, entry)| Some((place(entry.first)?, place(entry.last)?, entry.duration_s, at)));
                search.arcs.insert((kind, index), arcs.collect());
            }
        }
        search
    }

    /// Steps of one run.
    fn work(&self) -> usize {
        let of_turn = |turn: &Turn| -> usize {
            let of_block = |(index, block): (usize, &Block)| {
                let topologies = block.topologies[turn.family].0.len().max(1);
                self.arcs[&(turn.kind, index)].len() * block.states / topologies
            };
            self.states + self.blocks.iter().enumerate().map(of_block).sum::<usize>()
        };
        self.turns.iter().map(of_turn).sum()
    }

    /// The costs from one state, or from all; `None` where some communication cannot be served.
    fn run(&self, start: Option<usize>) -> Option<Run> {
        let mut cost_s = vec![if start.is_none() { 0.0 } else { f64::INFINITY }; self.states];
        if let Some(start) = start {
            cost_s[start] = 0.0;
        }
        let (mut back, mut cheapest_states) = (Vec::new(), Vec::new());
        for turn in self.turns {
            interruption::check();
            let lowest = cheapest(&cost_s)?;
            let changed_s = cost_s[lowest] + (self.library.group_plans.delay_s - turn.idle_s).max(0.0);
            let mut next_s = vec![f64::INFINITY; self.states];
            let mut came = vec![(u16::MAX, false); self.states];
            for (index, block) in self.blocks.iter().enumerate() {
                let (known, stride) = &block.topologies[turn.family];
                let outer = stride * known.len().max(1);
                for (at, &(first, last, duration_s, _)) in self.arcs[&(turn.kind, index)].iter().enumerate() {
                    for high in (0..block.states).step_by(outer) {
                        for low in 0..*stride {
                            let base = block.first + high + low;
                            let kept_s = cost_s[base + first * stride];
                            let changes = changed_s < kept_s;
                            let reached_s = kept_s.min(changed_s) + duration_s;
                            let to = base + last * stride;
                            if reached_s < next_s[to] {
                                next_s[to] = reached_s;
                                came[to] = (at as u16, changes);
                            }
                        }
                    }
                }
            }
            cost_s = next_s;
            back.push(came);
            cheapest_states.push(lowest);
        }
        cheapest(&cost_s)?;
        Some(Run { cost_s, back, cheapest: cheapest_states })
    }

    /// The choices on the way to a state, and where the way began.
    fn trace(&self, run: &Run, end: usize) -> (Chosen, usize) {
        let mut chosen = Vec::with_capacity(self.turns.len());
        let mut state = end;
        for (at, turn) in self.turns.iter().enumerate().rev() {
            let index = self.blocks.partition_point(|block| block.first <= state) - 1;
            let block = &self.blocks[index];
            let (arc, changed) = run.back[at][state];
            let (first, last, _, entry) = self.arcs[&(turn.kind, index)][usize::from(arc)];
            let range = block.split[turn.family];
            chosen.push((range, self.library.entries(turn.kind, range)[entry]));
            let stride = block.topologies[turn.family].1;
            state = if changed { run.cheapest[at] } else { state - last * stride + first * stride };
        }
        chosen.reverse();
        (chosen, state)
    }
}

#[cfg(test)]
mod tests;
