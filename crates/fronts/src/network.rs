//! A topology, prepared for many traffic patterns.

mod estimate;

use std::sync::{Arc, OnceLock};

use model::{Rank, Routes, Routing, Topology, Traffic};

use crate::{
    balanced_paths, concurrent_flow,
    digit_distances::DigitDistances,
    effort::{Effort, LEAST_COSTLY_ORBITS, front_work, is_too_large},
    equal_split,
    front::{Front, LoadBound, Point},
    kept_distances::KeptDistances,
    kept_routes::KeptRoutes,
    price_bound,
    quotient::{Adjacency, Distance, Quotient},
    single_path,
};

/// A topology with what is computed once for all traffic patterns: links of every GPU, and distances from
/// one source per orbit, each found when it is first asked for.
#[derive(Debug)]
pub struct RoutingNetwork {
    topology: Topology,
    adjacency: OnceLock<Arc<Adjacency>>,
    /// Per orbit of GPUs: its representative, distances from it, capacity of the circuits out of and into each of its
    /// GPUs.
    orbits: Vec<Orbit>,
    /// Distances that need not be searched for.
    digits: Option<DigitDistances>,
    /// Capacity of all circuits: their number where all are as fast as the fastest port.
    circuits: f64,
    /// Whether it is its own mirror image.
    pub(crate) mirrors: OnceLock<bool>,
}

#[derive(Debug)]
struct Orbit {
    representative: Rank,
    distances: KeptDistances,
    circuits_out: f64,
    circuits_in: f64,
}

impl RoutingNetwork {
    /// Prepares `topology`. O(orbits of links and GPUs); the rest is done when it is first needed.
    pub fn new(topology: &Topology) -> Self {
        Self::of(topology.clone())
    }

    /// [`RoutingNetwork::new`] of a topology that need not be copied.
    pub fn of(topology: Topology) -> Self {
        let symmetry = topology.symmetry();
        let orbit = |representative| Orbit {
            representative,
            distances: KeptDistances::default(),
            circuits_out: 0.0,
            circuits_in: 0.0,
        };
        let mut orbits: Vec<Orbit> = symmetry.representatives().into_iter().map(orbit).collect();
        for link in topology.links() {
            orbits[symmetry.orbit(link.src) as usize].circuits_out += topology.capacity(link);
            orbits[symmetry.orbit(link.dst) as usize].circuits_in += topology.capacity(link);
        }
        let circuits = match topology.is_on_ports() {
            false => topology.circuits() as f64,
            true => {
                topology.links().iter().map(|link| topology.capacity(link)).sum::<f64>() * f64::from(symmetry.order())
            }
        };
        let digits = DigitDistances::of(&topology);
        Self { topology, adjacency: OnceLock::new(), orbits, digits, circuits, mirrors: OnceLock::new() }
    }

    /// The topology that was prepared.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Sources from which distances are written down, each in four bytes a GPU: the memory that it holds in addition to
    /// its links.
    pub fn distance_arrays(&self) -> usize {
        self.orbits.iter().filter(|orbit| orbit.distances.are_all_known()).count()
    }

    /// Links on a shortest path from `src` to `dst`; `None` where there is no path. Both are below the
    /// topology's number of ranks. O(1) after the first call for an orbit of sources, which is O(links); always where
    /// every link leads along one coordinate.
    pub fn distance(&self, src: Rank, dst: Rank) -> Option<u32> {
        if let Some(digits) = &self.digits {
            return digits.distance(src, dst);
        }
        let symmetry = self.topology.symmetry();
        let (orbit, dst) = if symmetry.order() == 1 {
            (&self.orbits[src as usize], dst)
        } else {
            let (representative, element) = symmetry.canonical(src);
            let index = if self.orbits.len() == 1 { 0 } else { symmetry.orbit(representative) as usize };
            (&self.orbits[index], symmetry.apply(symmetry.inverse(element), dst))
        };
        orbit.distances.to(dst, orbit.representative, self.adjacency(), self.orbits.len())
    }

    fn distances(&self) -> impl Distance {
        |src, dst| self.distance(src, dst)
    }

    /// The hops–load front of `traffic` under `routing`; `None` when an arc has no path or the ranks differ.
    ///
    /// - `ConcurrentFlow`: for every hop limit the least load of any fractional routing whose paths keep it (HARVEST
    ///   eq. 3), kept where it falls. Column generation on the quotient by the common symmetry; what its limit on work
    ///   leaves open is the gap between `load` and `lower`. Above 262 144 arcs or 3072 orbits of links, and above 512
    ///   GPUs where arcs times orbits of links, 64 or more, are over 65 536, one point by equal split.
    /// - `EqualSplit`: every shortest path, counted with parallel circuits, carries the same share; one point.
    /// - `SinglePath`: one shortest path per arc, at each GPU the first link that leads nearer; one point.
    pub fn front(&self, traffic: &Traffic, routing: Routing) -> Option<Front> {
        let (quotient, hops) = self.pair(traffic)?;
        if routing == Routing::ConcurrentFlow
            && let Some(point) = self.optimum_of_single_paths(traffic, &quotient, hops)
        {
            return Some(Front::single(point));
        }
        Some(match routing {
            Routing::ConcurrentFlow if is_too_large(&quotient) => {
                Front::single(self.shortest_paths_only(traffic, &quotient, hops))
            }
            Routing::ConcurrentFlow => {
                concurrent_flow::front(&quotient, self.distances(), hops, Effort::exact(&quotient))
            }
            Routing::EqualSplit => Front::single(equal_split::point(self.distances(), &quotient, hops)),
            Routing::SinglePath => Front::single(single_path::point(self.distances(), &quotient, hops)),
        })
    }

    /// [`RoutingNetwork::front`] under concurrent flow, found in about `work` nanoseconds where there are 64 orbits of
    /// links or more: how far above the least a load may be is between `load` and `lower`. The routes are kept.
    pub fn front_within(&self, traffic: &Traffic, work: u64) -> Option<Front> {
        let (quotient, hops) = self.pair(traffic)?;
        if quotient.adjacency.capacities.len() < LEAST_COSTLY_ORBITS || is_too_large(&quotient) {
            return self.front(traffic, Routing::ConcurrentFlow);
        }
        if let Some(point) = self.optimum_of_single_paths(traffic, &quotient, hops) {
            return Some(Front::single(point));
        }
        let effort = Effort::within(usize::try_from(work).unwrap_or(usize::MAX));
        Some(concurrent_flow::front(&quotient, self.distances(), hops, effort))
    }

    /// A front of one point of fewest hops under concurrent flow, found in a few searches from every rank, with its
    /// routes; `None` when an arc has no path or the ranks differ. No more load than equal split has, where there are
    /// at most 2^14 arcs; how far above the least it may be is between `load` and `lower`.
    pub fn quick_front(&self, traffic: &Traffic) -> Option<Front> {
        let (quotient, hops) = self.pair(traffic)?;
        if let Some(point) = self.optimum_of_single_paths(traffic, &quotient, hops) {
            return Some(Front::single(point));
        }
        let least = self.estimate(traffic, Routing::ConcurrentFlow)?.load;
        let found = balanced_paths::front(&quotient, self.distances(), hops, least);
        found.or_else(|| {
            let point = self.shortest_paths_only(traffic, &quotient, hops);
            let kept = KeptRoutes::of(&equal_split::routes(self.distances(), &quotient));
            Some(Front::single(point).with_routes(kept))
        })
    }

    /// About how many nanoseconds [`RoutingNetwork::front`] takes, where the estimate is not exact. O(1).
    pub fn front_work(&self, traffic: &Traffic, routing: Routing) -> u64 {
        let symmetry = self.topology.symmetry();
        if routing != Routing::ConcurrentFlow || traffic.ranks() != self.topology.ranks() {
            return 0;
        }
        let moved = symmetry.order() / symmetry.meet(traffic.symmetry()).order();
        front_work(self.topology.links().len() as u64 * u64::from(moved))
    }

    /// A bound between [`RoutingNetwork::estimate`] and [`RoutingNetwork::front`], in sharpness and in work. `None`
    /// where it would not pay, because the front costs about as little, and where there is no front.
    pub fn load_bound(&self, traffic: &Traffic, routing: Routing) -> Option<LoadBound> {
        if routing != Routing::ConcurrentFlow {
            return None;
        }
        let (quotient, hops) = self.pair(traffic)?;
        let costly = quotient.adjacency.capacities.len() >= LEAST_COSTLY_ORBITS
            && !has_unique_optimum(&quotient)
            && !is_too_large(&quotient);
        costly.then(|| price_bound::bound(&quotient, self.distances(), hops))
    }

    /// Bounds on the load of every routing of `traffic` from prices of links, also where a front would take too long.
    /// `None` when an arc has no path or the ranks differ. A few dozen searches from every rank.
    pub fn price_bound(&self, traffic: &Traffic) -> Option<LoadBound> {
        let (quotient, hops) = self.pair(traffic)?;
        Some(price_bound::bound(&quotient, self.distances(), hops))
    }

    /// The routes of the front's last point of at most `hops` hops, by representative arcs of the common
    /// symmetry, and that point. `None` when an arc has no path of so few hops or the ranks differ.
    ///
    /// Under `EqualSplit` an arc of more than 1024 distinct shortest paths is given fewer, which load every
    /// link the same.
    pub fn routes(&self, traffic: &Traffic, routing: Routing, hops: u32) -> Option<(Routes, Point)> {
        self.routes_to(None, traffic, routing, hops)
    }

    /// `known`: the point of the pair's front, where it has but one.
    fn routes_to(
        &self,
        known: Option<Point>,
        traffic: &Traffic,
        routing: Routing,
        hops: u32,
    ) -> Option<(Routes, Point)> {
        let (quotient, least) = self.pair(traffic)?;
        if hops < least {
            return None;
        }
        if routing == Routing::ConcurrentFlow
            && let Some(point) = self.optimum_of_single_paths(traffic, &quotient, least)
        {
            return Some((single_path::routes(self.distances(), &quotient), point));
        }
        let point = |compute: &dyn Fn() -> Point| known.unwrap_or_else(compute);
        Some(match routing {
            Routing::ConcurrentFlow if is_too_large(&quotient) => (
                equal_split::routes(self.distances(), &quotient),
                point(&|| self.shortest_paths_only(traffic, &quotient, least)),
            ),
            Routing::ConcurrentFlow => {
                concurrent_flow::routes(&quotient, self.distances(), least, hops, Effort::exact(&quotient))
            }
            Routing::EqualSplit => (
                equal_split::routes(self.distances(), &quotient),
                point(&|| equal_split::point(self.distances(), &quotient, least)),
            ),
            Routing::SinglePath => (
                single_path::routes(self.distances(), &quotient),
                point(&|| single_path::point(self.distances(), &quotient, least)),
            ),
        })
    }

    /// [`RoutingNetwork::routes`], given the pair's `front` under that routing, which has them where they took long
    /// to find.
    pub fn routes_behind(
        &self,
        front: &Front,
        traffic: &Traffic,
        routing: Routing,
        hops: u32,
    ) -> Option<(Routes, Point)> {
        let kept = if routing == Routing::ConcurrentFlow {
            self.pair(traffic).and_then(|(quotient, _)| front.kept_routes(hops, &quotient))
        } else {
            None
        };
        let known = if let [only] = front.points() { Some(*only) } else { None };
        kept.or_else(|| self.routes_to(known, traffic, routing, hops))
    }

    /// The point of one shortest path per arc where no flow does better: where paths never branch, or its load is what
    /// the traffic takes at least ([`RoutingNetwork::estimate`]), as on a step's own circuits.
    fn optimum_of_single_paths(&self, traffic: &Traffic, quotient: &Quotient, hops: u32) -> Option<Point> {
        let point = single_path::point(self.distances(), quotient, hops);
        if has_unique_optimum(quotient) {
            return Some(point);
        }
        let least = self.estimate(traffic, Routing::ConcurrentFlow)?.load;
        (point.load <= least * (1.0 + ROUNDING)).then(|| Point { lower: least.min(point.load), ..point })
    }

    /// The fallback of concurrent flow: equal split, which is one of its routings, with the bound of
    /// [`RoutingNetwork::estimate`] as `lower`.
    fn shortest_paths_only(&self, traffic: &Traffic, quotient: &Quotient, hops: u32) -> Point {
        let point = equal_split::point(self.distances(), quotient, hops);
        let bound = self.estimate(traffic, Routing::ConcurrentFlow).map_or(0.0, |estimate| estimate.load);
        Point { lower: bound.min(point.load), ..point }
    }

    /// The quotient and the largest shortest distance.
    pub(crate) fn pair(&self, traffic: &Traffic) -> Option<(Quotient, u32)> {
        if traffic.ranks() != self.topology.ranks() {
            return None;
        }
        let quotient = Quotient::new(&self.topology, self.adjacency(), traffic);
        let mut hops = 0;
        for arc in interruption::checked(&quotient.arcs) {
            hops = hops.max(self.distance(arc.src, arc.dst)?);
        }
        (hops > 0).then_some((quotient, hops))
    }

    fn adjacency(&self) -> &Arc<Adjacency> {
        self.adjacency.get_or_init(|| Arc::new(Adjacency::new(&self.topology)))
    }
}

/// Whether shortest paths are optimal and unique without asking a solver: no GPU has a choice of links, or
/// all links share the traffic evenly.
fn has_unique_optimum(quotient: &Quotient) -> bool {
    quotient.adjacency.capacities.len() == 1 || quotient.adjacency.largest_out_degree() <= 1
}

/// Relative difference up to which two sums of the same load count as equal.
const ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Translations};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_equal_floyd_warshall(
            (count, period) in (2u32..7, 1u32..4), links in prop::collection::vec((0u32..24, 0u32..24), 1..8),
        ) {
            let n = count * period;
            let links = links.iter().map(|&(a, b)| Link { src: a % n, dst: b % n, count: 1 }).filter(|l| l.src != l.dst);
            let topology = Topology::new("random", Translations::periodic(n, period), links).unwrap();
            let network = RoutingNetwork::new(&topology);
            // Floyd–Warshall over the expanded links.
            let mut table = vec![vec![None::<u32>; n as usize]; n as usize];
            (0..n as usize).for_each(|rank| table[rank][rank] = Some(0));
            for link in topology.expanded() {
                table[link.src as usize][link.dst as usize] = Some(1);
            }
            for via in 0..n as usize {
                for a in 0..n as usize {
                    for b in 0..n as usize {
                        if let (Some(there), Some(on)) = (table[a][via], table[via][b]) {
                            table[a][b] = Some(table[a][b].map_or(there + on, |known| known.min(there + on)));
                        }
                    }
                }
            }
            for a in 0..n {
                for b in 0..n {
                    prop_assert_eq!(network.distance(a, b), table[a as usize][b as usize]);
                }
            }
        }
    }
}
