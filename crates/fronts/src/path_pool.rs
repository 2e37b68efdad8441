//! The paths of a pair that are known so far, and the searches that find more.

use std::ops::Range;

use model::Rank;

use crate::cutoffs::path_pool::{LEAST_GAIN_A_HOP, MOST_START_PATHS};
use crate::{
    hop_limited::{Arrival, HopLimited},
    price_bound::RisingPrices,
    quotient::{Distance, Quotient},
    restricted_master::Column,
};

/// Limit of the rounds: more of them find more paths than the optimum uses.
const START_ROUNDS: usize = 8;

/// Paths by index, which is also that of their column.
#[derive(Debug)]
pub(crate) struct PathPool<'a, D> {
    quotient: &'a Quotient,
    distance: D,
    /// Links of a path at most.
    pub(crate) hops: u32,
    /// Links of the longest of the shortest paths.
    shortest_hops: u32,
    /// Links that the shortest paths of all arcs take, by weight.
    least_volume: f64,
    search: HopLimited,
    /// Per path: its arc and its nodes.
    paths: Vec<(u32, Vec<Rank>)>,
    of_arc: Vec<Vec<u32>>,
    /// Per arc: its weight over the largest, so that the program's numbers are of order 1.
    weights: Vec<f64>,
    /// The largest weight: what the program's loads are multiples of.
    unit: f64,
    /// Arrivals of all searches so far.
    searched: usize,
}

/// The bound that rounds of shortest paths under rising prices prove, and the point that they lead to.
#[derive(Debug)]
pub(crate) struct Start {
    /// Lower bound on the load of any routing, in units.
    pub(crate) bound: f64,
    /// The prices that prove it.
    pub(crate) prices: Vec<f64>,
    /// By path, the average of the rounds, later ones counting more.
    pub(crate) shares: Vec<f64>,
    /// Columns of the paths that are new.
    pub(crate) columns: Vec<Column>,
}

impl<'a, D: Distance> PathPool<'a, D> {
    /// A path of fewest hops for each arc, all of which have one of at most `hops`.
    pub(crate) fn new(quotient: &'a Quotient, distance: D, hops: u32) -> (Self, Vec<Column>) {
        let unit = quotient.arcs.iter().map(|arc| arc.weight).fold(0.0, f64::max);
        let mut pool = Self {
            quotient,
            distance,
            hops,
            shortest_hops: hops,
            least_volume: 0.0,
            search: HopLimited::new(quotient.adjacency.ranks()),
            paths: Vec::new(),
            of_arc: vec![Vec::new(); quotient.arcs.len()],
            weights: quotient.arcs.iter().map(|arc| arc.weight / unit).collect(),
            unit,
            searched: 0,
        };
        let ones = vec![1.0; quotient.adjacency.capacities.len()];
        let mut columns = Vec::new();
        pool.every_shortest(
            &ones,
            |_| f64::INFINITY,
            |pool, arc, found| {
                if let Some((arrival, _)) = found {
                    columns.extend(pool.enter(arc, arrival).1);
                }
            },
        );
        let volume = |(arc, nodes): &(u32, Vec<Rank>)| pool.weights[*arc as usize] * (nodes.len() - 1) as f64;
        pool.least_volume = pool.paths.iter().map(volume).sum();
        (pool, columns)
    }

    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(crate) fn paths(&self) -> &[(u32, Vec<Rank>)] {
        &self.paths
    }

    /// The cost of the searches so far, in arrivals.
    pub(crate) fn searched(&self) -> usize {
        self.searched
    }

    /// Visits every arc with the last arrival of its shortest path and that path's length. `farthest`: by the range of
    /// a source's arcs, the length up to which paths matter.
    fn every_shortest(
        &mut self,
        lengths: &[f64],
        farthest: impl Fn(Range<usize>) -> f64,
        mut visit: impl FnMut(&mut Self, usize, Option<(u32, f64)>),
    ) {
        let quotient = self.quotient;
        let mut index = 0;
        for arcs in quotient.sources() {
            interruption::check();
            let farthest = farthest(index..index + arcs.len());
            let network = (&*quotient.adjacency, self.distance);
            self.search.run_to(network, lengths, arcs, self.hops, farthest, |_, _| false);
            self.searched += self.search.arrivals();
            for arc in arcs {
                let found = self.search.cheapest(arc.dst).map(|(arrival, found)| (arrival, found.distance));
                visit(self, index, found);
                index += 1;
            }
        }
    }

    /// The shortest path of every arc that has one shorter than its `keys` by `tolerance`: the columns of those that
    /// are new, and the dual bound.
    pub(crate) fn price(&mut self, lengths: &[f64], keys: &[f64], tolerance: f64) -> (f64, Vec<Column>) {
        let (mut bound, mut columns) = (0.0, Vec::new());
        let farthest = |arcs: Range<usize>| keys[arcs].iter().copied().fold(0.0, f64::max);
        self.every_shortest(lengths, farthest, |pool, arc, found| {
            let (key, weight) = (keys[arc], pool.weights[arc]);
            let shorter = found.filter(|&(_, length)| length < key);
            bound += weight * shorter.map_or(key, |(_, length)| length);
            if let Some((arrival, _)) = shorter.filter(|(_, length)| weight * (key - length) > tolerance) {
                // Before the master is solved, the shortest path may be one that it knows.
                columns.extend(pool.enter(arc, arrival).1);
            }
        });
        (bound, columns)
    }

    /// Rounds of shortest paths under prices that rise where paths crowd, as for a bound (`price_bound`).
    pub(crate) fn spread(&mut self) -> Start {
        let capacities = &self.quotient.adjacency.capacities;
        let mut rising = RisingPrices::new(capacities);
        let rounds = (MOST_START_PATHS / self.quotient.arcs.len()).clamp(1, START_ROUNDS);
        let (mut shares, mut columns) = (vec![0.0; self.paths.len()], Vec::new());
        let (mut proven, mut prices) = (0.0, rising.prices().to_vec());
        let mut traffic = vec![0.0; capacities.len()];
        for round in 1..=rounds {
            let mut sum = 0.0;
            traffic.fill(0.0);
            self.every_shortest(
                &rising.lengths(capacities),
                |_| f64::INFINITY,
                |pool, arc, found| {
                    if let Some((arrival, length)) = found {
                        let weight = pool.weights[arc];
                        sum += weight * length;
                        pool.search.visit(arrival, |orbit| traffic[orbit as usize] += weight);
                        let (path, new) = pool.enter(arc, arrival);
                        columns.extend(new);
                        shares.resize(pool.paths.len(), 0.0);
                        shares[path as usize] += round as f64;
                    }
                },
            );
            if sum > proven {
                (proven, prices) = (sum, rising.prices().to_vec());
            }
            rising.raise(&traffic, capacities);
        }
        let all = (rounds * (rounds + 1) / 2) as f64;
        shares.iter_mut().for_each(|share| *share /= all);
        Start { bound: proven * (1.0 - RisingPrices::ROUNDING), prices, shares, columns }
    }

    /// Adds the path of an arrival to those of an arc. Returns the path, and its column if it is new.
    fn enter(&mut self, arc: usize, arrival: u32) -> (u32, Option<Column>) {
        let (nodes, orbits) = self.search.path(arrival);
        let same = |&&path: &&u32| self.paths[path as usize].1 == nodes;
        if let Some(&known) = self.of_arc[arc].iter().find(same) {
            return (known, None);
        }
        let path = self.paths.len() as u32;
        self.paths.push((arc as u32, nodes));
        self.of_arc[arc].push(path);
        (path, Some(column(arc, self.weights[arc], orbits, &self.quotient.adjacency.capacities)))
    }

    /// The least hop limit, up to `ahead` above the current one, at which these prices leave room for a load below
    /// `load`, the least at the current one, by more than `least_gain` and by more than [`LEAST_GAIN_A_HOP`] for each
    /// hop more. At any limit between, they prove the current load optimal but for that.
    ///
    /// The room is limited in two ways. No path is shorter, at these prices, than the shortest one within that limit.
    /// And traffic on a path with h hops more than needed takes h circuits more, of which there are only as many as
    /// `load` leaves after the shortest paths.
    pub(crate) fn next_hops(
        &mut self,
        lengths: &[f64],
        keys: &[f64],
        load: f64,
        least_gain: f64,
        ahead: u32,
    ) -> Option<u32> {
        let room = load * self.quotient.adjacency.capacities.iter().sum::<f64>() - self.least_volume;
        let longest_key = keys.iter().copied().fold(0.0, f64::max);
        let (current, shortest_hops) = (self.hops, self.shortest_hops);
        let least_gain = |hops: u32| least_gain.max(LEAST_GAIN_A_HOP * f64::from(hops - current));
        // Beyond, the second bound is below the least gain.
        let mut most_hops =
            current.saturating_add(ahead.min((room.max(0.0) * longest_key / LEAST_GAIN_A_HOP).sqrt().ceil() as u32));
        let Self { quotient, distance, search, weights, .. } = self;
        let mut shortest = vec![f64::NAN; quotient.adjacency.ranks()];
        let mut arc_to = vec![0; shortest.len()];
        // Hops of a longer path, what it gains, and its part of the second bound.
        let mut gains: Vec<(u32, f64, f64)> = Vec::new();
        let mut index = 0;
        for arcs in quotient.sources() {
            interruption::check();
            let (first, keys) = (index, &keys[index..index + arcs.len()]);
            for (arc, &key) in arcs.iter().zip(keys) {
                shortest[arc.dst as usize] = key;
                arc_to[arc.dst as usize] = index;
                index += 1;
            }
            let farthest = keys.iter().copied().fold(0.0, f64::max);
            let (mut gained, mut crowded_out, limit) = (0.0, 0.0f64, most_hops);
            let is_enough = |hops: u32, arrivals: &[Arrival]| {
                for arrival in arrivals {
                    let best = &mut shortest[arrival.node as usize];
                    // The distance is NaN where no arc ends, and a NaN is never less.
                    if arrival.distance < *best {
                        if hops > current {
                            let arc = arc_to[arrival.node as usize];
                            let gain = weights[arc] * (*best - arrival.distance);
                            let shorter = keys[arc - first] - arrival.distance;
                            let by_volume = room * shorter / f64::from(hops - shortest_hops);
                            gains.push((hops, gain, by_volume));
                            gained += gain;
                            crowded_out = crowded_out.max(by_volume);
                        }
                        *best = arrival.distance;
                    }
                }
                // Twice, so that rounding does not show: what other sources gain beyond these hops does not count then.
                let is_enough = hops > current && gained.min(crowded_out) > 2.0 * least_gain(hops);
                if is_enough {
                    most_hops = hops;
                }
                is_enough
            };
            search.run_to((&*quotient.adjacency, *distance), lengths, arcs, limit, farthest, is_enough);
            for arc in arcs {
                shortest[arc.dst as usize] = f64::NAN;
            }
        }
        gains.sort_by_key(|&(hops, ..)| hops);
        let (mut total, mut most_by_volume) = (0.0, 0.0f64);
        gains.into_iter().find_map(|(hops, gain, by_volume)| {
            total += gain;
            most_by_volume = most_by_volume.max(by_volume);
            (total.min(most_by_volume) > least_gain(hops)).then_some(hops)
        })
    }
}

/// The load that a path of arc number `arc` over links of `orbits` adds to each of them.
fn column(arc: usize, weight: f64, mut orbits: Vec<u32>, capacities: &[f64]) -> Column {
    orbits.sort_unstable();
    let load = |same: &[u32]| same.len() as f64 * weight / capacities[same[0] as usize];
    let entries = orbits.chunk_by(|a, b| a == b).map(|same| (same[0], load(same))).collect();
    Column { arc: arc as u32, entries }
}
