//! Cheapest paths of at most h hops from one source, for every h at once (layered Bellman–Ford).

use model::{Rank, TrafficEntry};

use crate::quotient::{Adjacency, Distance};

/// A node reached more cheaply with one more hop than with any fewer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) node: Rank,
    /// Sum of link lengths.
    pub(crate) distance: f64,
    parent: u32,
    /// Orbit of the last link.
    orbit: u32,
}

const NONE: u32 = u32::MAX;

/// The search and its memory, which is kept from run to run.
#[derive(Debug)]
pub(crate) struct HopLimited {
    arrivals: Vec<Arrival>,
    /// First arrival of each layer, and the end of the last.
    layers: Vec<usize>,
    /// Cheapest arrival at each node so far.
    latest: Vec<u32>,
}

impl HopLimited {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { arrivals: Vec::new(), layers: Vec::new(), latest: vec![NONE; ranks] }
    }

    /// Searches from `source` with `lengths[orbit]` ≥ 0 for each link, up to `hops` links and leaving out
    /// paths longer than `farthest`. O(hops · links), less where few nodes improve from layer to layer.
    pub(crate) fn run(
        &mut self,
        adjacency: &Adjacency,
        lengths: &[f64],
        source: Rank,
        hops: Option<u32>,
        farthest: f64,
    ) {
        self.run_until(adjacency, lengths, source, hops, farthest, |_, _| true, |_, _| false);
    }

    /// [`HopLimited::run`] with a limit, for `arcs` of one source. With a single arc, GPUs that are too far from its
    /// end for the links that are left are passed over, which does not change the result for that end.
    pub(crate) fn run_to(
        &mut self,
        (adjacency, distance): (&Adjacency, impl Distance),
        lengths: &[f64],
        arcs: &[TrafficEntry],
        hops: u32,
        farthest: f64,
        is_enough: impl FnMut(u32, &[Arrival]) -> bool,
    ) {
        let source = arcs[0].src;
        match arcs {
            [arc] => {
                let leads = |node, left| distance(node, arc.dst).is_some_and(|distance| distance <= left);
                self.run_until(adjacency, lengths, source, Some(hops), farthest, leads, is_enough);
            }
            _ => self.run_until(adjacency, lengths, source, Some(hops), farthest, |_, _| true, is_enough),
        }
    }

    /// [`HopLimited::run`] over some GPUs, until `is_enough`. `leads` says whether a GPU matters, given how many links
    /// may follow it. `is_enough` is asked after every complete layer, the source's first, with its hops and arrivals.
    #[allow(clippy::too_many_arguments, reason = "two callers, and the two that say what each is")]
    fn run_until(
        &mut self,
        adjacency: &Adjacency,
        lengths: &[f64],
        source: Rank,
        hops: Option<u32>,
        farthest: f64,
        leads: impl Fn(Rank, u32) -> bool,
        mut is_enough: impl FnMut(u32, &[Arrival]) -> bool,
    ) {
        for arrival in &self.arrivals {
            self.latest[arrival.node as usize] = NONE;
        }
        self.arrivals.clear();
        self.layers.clear();
        self.layers.push(0);
        self.arrivals.push(Arrival { node: source, distance: 0.0, parent: NONE, orbit: NONE });
        self.latest[source as usize] = 0;
        loop {
            let (start, end) = (self.layers[self.layers.len() - 1], self.arrivals.len());
            self.layers.push(end);
            let layer = self.layers.len() as u32 - 2;
            if start == end || is_enough(layer, &self.arrivals[start..end]) || hops.is_some_and(|hops| layer >= hops) {
                break;
            }
            let left = hops.map_or(u32::MAX, |hops| hops - layer - 1);
            for index in start..end {
                self.extend(adjacency, lengths, index as u32, end, farthest, |node| leads(node, left));
            }
        }
    }

    fn extend(
        &mut self,
        adjacency: &Adjacency,
        lengths: &[f64],
        parent: u32,
        layer: usize,
        farthest: f64,
        leads: impl Fn(Rank) -> bool,
    ) {
        let from = self.arrivals[parent as usize];
        for head in adjacency.out(from.node) {
            let distance = from.distance + lengths[head.orbit as usize];
            if distance > farthest {
                continue;
            }
            let arrival = Arrival { node: head.dst, distance, parent, orbit: head.orbit };
            let latest = self.latest[head.dst as usize];
            // Lengths are not negative, so a walk that returns to a node is never strictly cheaper there:
            // what is kept are simple paths.
            if (latest == NONE || self.arrivals[latest as usize].distance > distance) && leads(head.dst) {
                if latest != NONE && latest as usize >= layer {
                    self.arrivals[latest as usize] = arrival;
                } else {
                    self.latest[head.dst as usize] = self.arrivals.len() as u32;
                    self.arrivals.push(arrival);
                }
            }
        }
    }

    /// The cheapest arrival at `node`, by index.
    pub(crate) fn cheapest(&self, node: Rank) -> Option<(u32, Arrival)> {
        let latest = self.latest[node as usize];
        (latest != NONE).then(|| (latest, self.arrivals[latest as usize]))
    }

    /// Number of arrivals in all: what a run has cost, but for the links of each.
    pub(crate) fn arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// Calls `visit` with the orbit of every link on the path of an arrival, last link first.
    pub(crate) fn visit(&self, index: u32, mut visit: impl FnMut(u32)) {
        let mut arrival = self.arrivals[index as usize];
        while arrival.parent != NONE {
            visit(arrival.orbit);
            arrival = self.arrivals[arrival.parent as usize];
        }
    }

    /// The path of an arrival: its nodes, source first, and the orbits of its links, in order.
    pub(crate) fn path(&self, mut index: u32) -> (Vec<Rank>, Vec<u32>) {
        let (mut nodes, mut orbits) = (Vec::new(), Vec::new());
        loop {
            let arrival = self.arrivals[index as usize];
            nodes.push(arrival.node);
            if arrival.parent == NONE {
                break;
            }
            orbits.push(arrival.orbit);
            index = arrival.parent;
        }
        nodes.reverse();
        orbits.reverse();
        (nodes, orbits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Topology, Translations};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_the_cheapest_walk_by_dynamic_programming(
            ranks in 2u32..9, seed in prop::collection::vec((0u32..9, 0u32..9, 0u32..5), 1..30), hops in 0u32..9,
        ) {
            let mut links: Vec<Link> = seed.iter()
                .map(|&(a, b, _)| Link { src: a % ranks, dst: b % ranks, count: 1 })
                .filter(|link| link.src != link.dst).collect();
            links.sort_unstable();
            links.dedup();
            let lengths: Vec<f64> = (0..links.len()).map(|i| f64::from(seed[i].2)).collect();
            let adjacency = Adjacency::new(&Topology::new("random", Translations::trivial(ranks), links.iter().copied()).unwrap());
            let mut table = vec![f64::INFINITY; ranks as usize];
            table[0] = 0.0;
            for _ in 0..hops {
                let before = table.clone();
                for (link, length) in links.iter().zip(&lengths) {
                    let through = before[link.src as usize] + length;
                    table[link.dst as usize] = table[link.dst as usize].min(through);
                }
            }
            let mut search = HopLimited::new(ranks as usize);
            search.run(&adjacency, &lengths, 0, Some(hops), f64::INFINITY);
            for node in 0..ranks {
                let found = search.cheapest(node);
                prop_assert_eq!(found.map_or(f64::INFINITY, |(_, arrival)| arrival.distance), table[node as usize]);
                if let Some((index, arrival)) = found {
                    let (nodes, orbits) = search.path(index);
                    prop_assert!(orbits.len() <= hops as usize && nodes.len() == orbits.len() + 1);
                    prop_assert_eq!(orbits.iter().map(|&o| lengths[o as usize]).sum::<f64>(), arrival.distance);
                    for (pair, &orbit) in nodes.windows(2).zip(&orbits) {
                        let link = links[orbit as usize];
                        prop_assert_eq!((link.src, link.dst), (pair[0], pair[1]));
                    }
                    let mut unique = nodes.clone();
                    unique.sort_unstable();
                    unique.dedup();
                    prop_assert_eq!(unique.len(), nodes.len());
                }
            }
        }
    }
}
