//! Maximum concurrent flow with paths of at most h hops, for every h at which the load falls.
//!
//! For a hop limit h the dual of the path program (Garg and Könemann 2007, §2) is
//! max over prices y ≥ 0, Σ_o y_o = 1, of Σ_a w_a·dist_a(y/capacity, h). Column generation closes both ends:
//! the restricted master gives a routing, whose load is an upper bound, and prices, whose shortest paths of
//! at most h hops give a lower bound and the paths to add. Going up in h keeps the basis warm, and the
//! prices tell the next h at which any path could help, so hop limits between points cost nothing.

use std::collections::BTreeSet;

use model::{Rank, RoutedEntry, RoutedPath, Routes, TrafficEntry};

use crate::{
    front::{Front, Point},
    hop_limited::HopLimited,
    quotient::Quotient,
    restricted_master::{Column, RestrictedMaster},
};

/// Column generation stops when this part of the load, or less, is left between the bounds.
const GAP: f64 = 1e-10;
/// Pivots between searches for shorter paths: solving to the end on the paths at hand takes more pivots in all.
const PIVOTS_PER_ROUND: usize = 100;
/// Rounds of column generation per hop limit. Far above what is needed; what a stop here leaves open shows
/// in [`Point::lower`].
const MOST_ROUNDS: usize = 10_000;

/// The front of the pair. `hops`: the largest shortest distance of its arcs, all of which have a path.
pub(crate) fn front(quotient: &Quotient, hops: u32) -> Front {
    let mut flow = ConcurrentFlow::new(quotient, hops);
    let mut front = Front::single(flow.optimise().0);
    while let Some(next) = flow.next_hops() {
        flow.hops = next;
        front.extend(flow.optimise().0);
    }
    front
}

/// The routes of the front's last point with at most `limit` ≥ `hops` hops.
pub(crate) fn routes(quotient: &Quotient, hops: u32, limit: u32) -> (Routes, Point) {
    let mut flow = ConcurrentFlow::new(quotient, hops);
    let (point, mut shares) = flow.optimise();
    let mut front = Front::single(point);
    while let Some(next) = flow.next_hops().filter(|&next| next <= limit) {
        flow.hops = next;
        let (point, better) = flow.optimise();
        if front.extend(point) {
            shares = better;
        }
    }
    let point = front.points()[front.points().len() - 1];
    (flow.routes(&shares), point)
}

struct ConcurrentFlow<'a> {
    quotient: &'a Quotient,
    hops: u32,
    master: RestrictedMaster,
    search: HopLimited,
    /// Of each column of the master: its arc and its nodes.
    paths: Vec<(u32, Vec<Rank>)>,
    /// The same, to look up.
    known: BTreeSet<(u32, Vec<Rank>)>,
    /// Of each arc: its weight over the largest, so that the program's numbers are of order 1.
    weights: Vec<f64>,
    /// The largest weight: what the program's loads are multiples of.
    unit: f64,
    /// Load at the current hop limit, in units.
    load: f64,
}

impl<'a> ConcurrentFlow<'a> {
    fn new(quotient: &'a Quotient, hops: u32) -> Self {
        let adjacency = &*quotient.adjacency;
        let mut search = HopLimited::new(adjacency.ranks());
        let unit = quotient.arcs.iter().map(|arc| arc.weight).fold(0.0, f64::max);
        let weights: Vec<f64> = quotient.arcs.iter().map(|arc| arc.weight / unit).collect();
        let ones = vec![1.0; adjacency.capacities.len()];
        let (mut paths, mut columns) = (Vec::new(), Vec::new());
        for arcs in quotient.sources() {
            search.run(adjacency, &ones, arcs[0].src, Some(hops), f64::INFINITY);
            for arc in arcs {
                let (nodes, orbits) = search.cheapest(arc.dst).map(|(index, _)| search.path(index)).unwrap_or_default();
                columns.push(column(columns.len(), weights[columns.len()], orbits, &adjacency.capacities));
                paths.push((paths.len() as u32, nodes));
            }
        }
        let known = paths.iter().cloned().collect();
        let master = RestrictedMaster::new(adjacency.capacities.len(), columns);
        Self { quotient, hops, master, search, paths, known, weights, unit, load: 0.0 }
    }

    /// The least load at the current hop limit, and the shares of the paths that attain it.
    fn optimise(&mut self) -> (Point, Vec<(u32, f64)>) {
        let mut tolerance = GAP * self.weights.iter().sum::<f64>();
        let mut rounds = 0;
        loop {
            let solved = self.master.solve(tolerance, PIVOTS_PER_ROUND);
            let shares = self.master.shares();
            self.load = self.master.loads(&shares).into_iter().fold(0.0, f64::max);
            tolerance = GAP * self.load / self.quotient.arcs.len() as f64;
            let (lower, added) = self.price(tolerance);
            rounds += 1;
            if (solved && !added) || rounds == MOST_ROUNDS || self.load - lower <= GAP * self.load {
                let point =
                    Point { hops: self.hops, load: self.load * self.unit, lower: lower.min(self.load) * self.unit };
                return (point, shares);
            }
        }
    }

    /// Prices, lengths of links under them, and the length of the key path of each arc per weight.
    fn lengths(&self) -> (Vec<f64>, Vec<f64>) {
        let prices = self.master.prices();
        let lengths =
            prices.iter().zip(&self.quotient.adjacency.capacities).map(|(y, capacity)| y / capacity).collect();
        let keys = self.weights.iter().enumerate();
        let keys = keys.map(|(arc, weight)| self.master.key_length(arc, &prices) / weight).collect();
        (lengths, keys)
    }

    /// Adds the shortest path of every arc that has one shorter than its key path by `tolerance`. Returns
    /// the dual bound and whether paths were added.
    fn price(&mut self, tolerance: f64) -> (f64, bool) {
        let (lengths, keys) = self.lengths();
        let (mut bound, mut added) = (0.0, false);
        let mut index = 0;
        for arcs in self.quotient.sources() {
            let keys = &keys[index..index + arcs.len()];
            let farthest = keys.iter().copied().fold(0.0, f64::max);
            self.search.run(&self.quotient.adjacency, &lengths, arcs[0].src, Some(self.hops), farthest);
            for (arc, &key) in arcs.iter().zip(keys) {
                let weight = self.weights[index];
                let found = self.search.cheapest(arc.dst).filter(|(_, arrival)| arrival.distance < key);
                bound += weight * found.map_or(key, |(_, arrival)| arrival.distance);
                if let Some((arrival, _)) = found.filter(|(_, arrival)| weight * (key - arrival.distance) > tolerance) {
                    let (nodes, orbits) = self.search.path(arrival);
                    // Before the master is solved, the shortest path may be one that it knows.
                    if self.known.insert((index as u32, nodes.clone())) {
                        self.master.add(column(index, weight, orbits, &self.quotient.adjacency.capacities));
                        self.paths.push((index as u32, nodes));
                        added = true;
                    }
                }
                index += 1;
            }
        }
        (bound, added)
    }

    /// The least hop limit above the current one at which the current prices leave room for a lower load.
    /// At any limit between, they prove the current load optimal.
    fn next_hops(&mut self) -> Option<u32> {
        let (lengths, keys) = self.lengths();
        let mut shortest = vec![f64::NAN; self.quotient.adjacency.ranks()];
        let mut arc_to = vec![0; shortest.len()];
        let mut gains: Vec<(u32, f64)> = Vec::new();
        let mut index = 0;
        for arcs in self.quotient.sources() {
            let keys = &keys[index..index + arcs.len()];
            for (arc, &key) in arcs.iter().zip(keys) {
                shortest[arc.dst as usize] = key;
                arc_to[arc.dst as usize] = index;
                index += 1;
            }
            let farthest = keys.iter().copied().fold(0.0, f64::max);
            self.search.run(&self.quotient.adjacency, &lengths, arcs[0].src, None, farthest);
            for (hops, arrivals) in self.search.layers() {
                for arrival in arrivals {
                    let best = &mut shortest[arrival.node as usize];
                    // NaN where no arc ends: never less.
                    if arrival.distance < *best {
                        if hops > self.hops {
                            let weight = self.weights[arc_to[arrival.node as usize]];
                            gains.push((hops, weight * (*best - arrival.distance)));
                        }
                        *best = arrival.distance;
                    }
                }
            }
            for arc in arcs {
                shortest[arc.dst as usize] = f64::NAN;
            }
        }
        gains.sort_by_key(|&(hops, _)| hops);
        let mut total = 0.0;
        gains.into_iter().find_map(|(hops, gain)| {
            total += gain;
            (total > GAP * self.load).then_some(hops)
        })
    }

    fn routes(&self, shares: &[(u32, f64)]) -> Routes {
        let routed = |arc: &TrafficEntry| RoutedEntry { src: arc.src, dst: arc.dst, paths: Vec::new() };
        let mut arcs: Vec<RoutedEntry> = self.quotient.arcs.iter().map(routed).collect();
        for &(path, share) in shares {
            let (arc, nodes) = &self.paths[path as usize];
            arcs[*arc as usize].paths.push(RoutedPath { share, nodes: nodes.clone() });
        }
        Routes { symmetry: self.quotient.symmetry.clone(), arcs }
    }
}

/// What a path of arc number `arc` over links of `orbits` adds to the load of each.
fn column(arc: usize, weight: f64, mut orbits: Vec<u32>, capacities: &[f64]) -> Column {
    orbits.sort_unstable();
    let load = |same: &[u32]| same.len() as f64 * weight / capacities[same[0] as usize];
    let entries = orbits.chunk_by(|a, b| a == b).map(|same| (same[0], load(same))).collect();
    Column { arc: arc as u32, entries }
}
