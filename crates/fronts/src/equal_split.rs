//! Every shortest path of an arc carries the same share (ECMP over all shortest paths).
//!
//! Paths are counted in the multigraph of circuits: a path over a link of c parallel circuits is c paths.
//! A GPU's share of the paths is a ratio of counts in one layer of the breadth-first search, so counts are
//! kept relative to the largest of their layer and never overflow.

use model::{Rank, RoutedEntry, RoutedPath, Routes, TrafficEntry};

use crate::cutoffs::equal_split::MOST_PATHS;
use crate::front::Point;
use crate::quotient::{Distance, Quotient};

/// The links from the source of `arcs` to each destination, by orbit; `None` where some arc has no link of its own. No
/// other path is as short.
fn own_circuits(quotient: &Quotient, arcs: &[TrafficEntry]) -> Option<Vec<u32>> {
    let heads = quotient.adjacency.out(arcs.first()?.src);
    arcs.iter().map(|arc| heads.iter().find(|head| head.dst == arc.dst).map(|head| head.orbit)).collect()
}

/// The one point of the front. `hops`: the largest shortest distance of the arcs, all of which have a path.
/// O(links) per source, but for those whose arcs all have links of their own.
pub(crate) fn point(distance: impl Distance, quotient: &Quotient, hops: u32) -> Point {
    let mut carried = vec![0.0; quotient.adjacency.capacities.len()];
    let mut places = vec![NOWHERE; quotient.adjacency.ranks()];
    for arcs in quotient.sources() {
        interruption::check();
        if let Some(circuits) = own_circuits(quotient, arcs) {
            arcs.iter().zip(circuits).for_each(|(arc, orbit)| carried[orbit as usize] += arc.weight);
            continue;
        }
        let paths = ShortestPaths::new(distance, quotient, arcs, &mut places);
        for (_, link, traffic) in paths.flow(arcs) {
            carried[link as usize] += traffic;
        }
    }
    let load = quotient.largest_load(&carried);
    Point { hops, load, lower: load }
}

/// Paths that load every link as [`point`] has it: all shortest paths of each arc where there are at most
/// 1024 of them.
pub(crate) fn routes(distance: impl Distance, quotient: &Quotient) -> Routes {
    let mut arcs = Vec::with_capacity(quotient.arcs.len());
    let mut places = vec![NOWHERE; quotient.adjacency.ranks()];
    for from in quotient.sources() {
        interruption::check();
        if own_circuits(quotient, from).is_some() {
            let path = |arc: &TrafficEntry| RoutedPath { share: 1.0, nodes: vec![arc.src, arc.dst] };
            arcs.extend(from.iter().map(|arc| RoutedEntry { src: arc.src, dst: arc.dst, paths: vec![path(arc)] }));
            continue;
        }
        let shortest = ShortestPaths::new(distance, quotient, from, &mut places);
        for arc in from {
            interruption::check();
            let paths = shortest.list(arc.dst).unwrap_or_else(|| shortest.decompose(arc));
            arcs.push(RoutedEntry { src: arc.src, dst: arc.dst, paths });
        }
    }
    Routes { symmetry: quotient.symmetry.clone(), arcs }
}

/// A link by which shortest paths reach a GPU, and what part of them uses it.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Place of the GPU that it comes from.
    from: u32,
    orbit: u32,
    part: f64,
}

/// Place of GPUs that no path of interest passes.
const NOWHERE: u32 = u32::MAX;

/// The shortest paths from one source.
struct ShortestPaths<'a> {
    /// GPUs by distance; the source has place 0.
    order: Vec<Rank>,
    /// By GPU, its place in `order`; a buffer that is used again, and left as it was.
    places: &'a mut [u32],
    /// By place, the last links of the shortest paths to the GPU.
    entries: Vec<Vec<Entry>>,
}

impl Drop for ShortestPaths<'_> {
    fn drop(&mut self) {
        for &rank in &self.order {
            self.places[rank as usize] = NOWHERE;
        }
    }
}

impl<'a> ShortestPaths<'a> {
    /// The shortest paths to the ends of `arcs`, which leave the same source: O(links up to the farthest), and where
    /// there is one arc, O(its paths' links).
    fn new(distance: impl Distance, quotient: &Quotient, arcs: &[TrafficEntry], places: &'a mut [u32]) -> Self {
        let adjacency = &*quotient.adjacency;
        let source = arcs[0].src;
        // With a single arc, GPUs that are not on its paths are passed over.
        let only = if let [arc] = arcs { distance(source, arc.dst).map(|hops| (arc.dst, hops)) } else { None };
        let is_on_the_way = |rank: Rank, hops: u32| match only {
            Some((dst, all)) => distance(rank, dst).is_some_and(|left| hops + left == all),
            None => true,
        };
        let farthest = arcs.iter().filter_map(|arc| distance(source, arc.dst)).max().unwrap_or(0);
        places[source as usize] = 0;
        let (mut order, mut entries, mut count) = (vec![source], vec![Vec::new()], vec![1.0]);
        let (mut layer, mut hops) = (0..1, 0);
        while !layer.is_empty() {
            let largest = count[layer.clone()].iter().copied().fold(0.0, f64::max);
            for place in layer.clone() {
                entries[place].iter_mut().for_each(|entry: &mut Entry| entry.part /= count[place]);
                count[place] /= largest;
            }
            if hops == farthest {
                break;
            }
            hops += 1;
            for place in layer.clone() {
                for head in adjacency.out(order[place]) {
                    if places[head.dst as usize] == NOWHERE && is_on_the_way(head.dst, hops) {
                        places[head.dst as usize] = order.len() as u32;
                        order.push(head.dst);
                    }
                }
            }
            let next = layer.end..order.len();
            order[next.clone()].sort_unstable();
            for place in next.clone() {
                places[order[place] as usize] = place as u32;
            }
            entries.resize(order.len(), Vec::new());
            count.resize(order.len(), 0.0);
            for from in layer {
                for head in adjacency.out(order[from]) {
                    let place = places[head.dst as usize] as usize;
                    if next.contains(&place) {
                        let part = count[from] * adjacency.capacities[head.orbit as usize];
                        count[place] += part;
                        entries[place].push(Entry { from: from as u32, orbit: head.orbit, part });
                    }
                }
            }
            layer = next;
        }
        Self { order, places, entries }
    }

    fn place(&self, rank: Rank) -> usize {
        self.places[rank as usize] as usize
    }

    /// (destination, orbit, traffic) of every link that the traffic of `arcs` uses, farthest first.
    fn flow(&self, arcs: &[TrafficEntry]) -> Vec<(Rank, u32, f64)> {
        let mut through = vec![0.0; self.entries.len()];
        for arc in arcs {
            through[self.place(arc.dst)] += arc.weight;
        }
        let mut links = Vec::new();
        for (place, &rank) in self.order.iter().enumerate().rev() {
            let traffic = through[place];
            if traffic > 0.0 {
                for entry in &self.entries[place] {
                    through[entry.from as usize] += traffic * entry.part;
                    links.push((rank, entry.orbit, traffic * entry.part));
                }
            }
        }
        links
    }

    /// Every shortest path to `dst`; `None` when there are too many.
    fn list(&self, dst: Rank) -> Option<Vec<RoutedPath>> {
        let mut paths = Vec::new();
        let mut open = vec![(vec![dst], 1.0)];
        while let Some((mut nodes, share)) = open.pop() {
            let last = nodes[nodes.len() - 1];
            if last == self.order[0] {
                nodes.reverse();
                paths.push(RoutedPath { share, nodes });
                continue;
            }
            for entry in &self.entries[self.place(last)] {
                let mut longer = nodes.clone();
                longer.push(self.order[entry.from as usize]);
                open.push((longer, share * entry.part));
            }
            if open.len() + paths.len() > MOST_PATHS {
                return None;
            }
        }
        paths.sort_unstable_by(|a, b| a.nodes.cmp(&b.nodes));
        Some(paths)
    }

    /// A few shortest paths of `arc` that load each link as all its shortest paths would: the widest last link first,
    /// until nothing is left.
    fn decompose(&self, arc: &TrafficEntry) -> Vec<RoutedPath> {
        let mut left: Vec<Vec<f64>> = self.entries.iter().map(|entries| vec![0.0; entries.len()]).collect();
        let mut through = vec![0.0; self.entries.len()];
        through[self.place(arc.dst)] = 1.0;
        for place in (0..self.order.len()).rev() {
            for (entry, left) in self.entries[place].iter().zip(&mut left[place]) {
                *left = through[place] * entry.part;
                through[entry.from as usize] += *left;
            }
        }
        let links: usize = left.iter().map(Vec::len).sum();
        let mut paths = Vec::new();
        // Each path empties a link, so there are no more paths than links.
        for _ in 0..links {
            let (mut nodes, mut taken, mut share) = (vec![arc.dst], Vec::new(), f64::INFINITY);
            let mut place = self.place(arc.dst);
            while let Some((index, width)) = widest(&left[place]) {
                share = share.min(width);
                taken.push((place, index));
                place = self.entries[place][index].from as usize;
                nodes.push(self.order[place]);
            }
            if share <= 1e-15 || !share.is_finite() {
                break;
            }
            for (place, index) in taken {
                left[place][index] -= share;
            }
            nodes.reverse();
            paths.push(RoutedPath { share, nodes });
        }
        let sum: f64 = paths.iter().map(|path| path.share).sum();
        paths.iter_mut().for_each(|path| path.share /= sum);
        paths.sort_unstable_by(|a, b| a.nodes.cmp(&b.nodes));
        paths
    }
}

fn widest(left: &[f64]) -> Option<(usize, f64)> {
    left.iter().copied().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoutingNetwork;
    use model::{Link, Routing, Topology, Traffic, Translations};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// All shortest walks from `src` to `dst` in the multigraph, circuits told apart.
    fn all_paths(links: &[Link], hops: u32, src: Rank, dst: Rank) -> Vec<Vec<(Rank, Rank)>> {
        if hops == 0 {
            return if src == dst { vec![Vec::new()] } else { Vec::new() };
        }
        let mut found = Vec::new();
        for link in links.iter().filter(|link| link.src == src) {
            for rest in all_paths(links, hops - 1, link.dst, dst) {
                let path: Vec<(Rank, Rank)> = [(link.src, link.dst)].into_iter().chain(rest).collect();
                found.extend(std::iter::repeat_n(path, link.count as usize));
            }
        }
        found
    }

    proptest! {
        #[test]
        fn every_shortest_path_carries_the_same(
            n in 3u32..8, links in prop::collection::vec((0u32..8, 0u32..8, 1u32..4), 1..24), src in 0u32..8, dst in 0u32..8,
        ) {
            let none = Translations::trivial(n);
            let links = links.iter().map(|&(a, b, count)| Link { src: a % n, dst: b % n, count }).filter(|l| l.src != l.dst);
            let topology = Topology::new("random", none.clone(), links).unwrap();
            let network = RoutingNetwork::new(&topology);
            let (src, dst) = (src % n, dst % n);
            if let Some(hops) = network.distance(src, dst).filter(|&hops| hops > 0) {
                let traffic = Traffic::new(none, [TrafficEntry { src, dst, weight: 1.0 }]).unwrap();
                let paths = all_paths(topology.links(), hops, src, dst);
                let mut carried: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
                let mut shares: BTreeMap<Vec<Rank>, f64> = BTreeMap::new();
                for path in &paths {
                    let nodes = [src].into_iter().chain(path.iter().map(|link| link.1)).collect();
                    *shares.entry(nodes).or_insert(0.0) += 1.0 / paths.len() as f64;
                    for link in path {
                        *carried.entry(*link).or_insert(0.0) += 1.0 / paths.len() as f64;
                    }
                }
                let load = topology.links().iter()
                    .map(|link| carried.get(&(link.src, link.dst)).unwrap_or(&0.0) / f64::from(link.count))
                    .fold(0.0, f64::max);
                let (routes, point) = network.routes(&traffic, Routing::EqualSplit, hops).unwrap();
                prop_assert!((point.load - load).abs() < 1e-12, "{} and {load}", point.load);
                prop_assert_eq!(routes.arcs[0].paths.len(), shares.len());
                for path in &routes.arcs[0].paths {
                    prop_assert!((path.share - shares[&path.nodes]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn too_many_paths_are_replaced_by_few_with_the_same_loads() {
        // 8! = 40320 shortest paths across a hypercube; by symmetry all links of a layer carry the same.
        let links = (0..8).map(|bit| Link { src: 0, dst: 1 << bit, count: 1 });
        let cube = Topology::new("hypercube", Translations::xor(256), links).unwrap();
        let traffic =
            Traffic::new(Translations::trivial(256), [TrafficEntry { src: 0, dst: 255, weight: 1.0 }]).unwrap();
        let (routes, point) = RoutingNetwork::new(&cube).routes(&traffic, Routing::EqualSplit, 8).unwrap();
        assert!((point.load - 1.0 / 8.0).abs() < 1e-12);
        let mut carried: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
        for path in &routes.arcs[0].paths {
            for link in path.nodes.windows(2) {
                *carried.entry((link[0], link[1])).or_insert(0.0) += path.share;
            }
        }
        let binomial = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0];
        assert!(routes.arcs[0].paths.len() <= 1024 && carried.len() == 1024);
        for ((from, _), share) in carried {
            let layer = from.count_ones() as usize;
            let expected = 1.0 / (binomial[layer] * (8 - layer) as f64);
            assert!((share - expected).abs() < 1e-12, "layer {layer}: {share}");
        }
    }
}
