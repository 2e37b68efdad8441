//! One path per arc, so that no link is much busier than it must be: for pairs whose program would take long.
//!
//! Arcs are routed again and again, some arcs of a source at a time, each over its cheapest path of fewest hops, where
//! a link costs a power of its load: what a little more traffic on it adds to the sum of a higher power of all loads
//! (an approximation of the largest; Awerbuch, Azar, Grove, Kao, Krishnan and Vitter 1995 for one pass). Where many
//! arcs share a link, whole paths balance about as well as fractions. The last costs are prices that prove a bound, as
//! in `concurrent_flow`.

use std::ops::Range;

use model::Rank;

use crate::cutoffs::balanced_paths::{FEWEST_OF_A_GROUP, MOST_GROUPS, MOST_NODES, MOST_SPLIT_ARCS};
use crate::{
    equal_split,
    front::{Front, Point},
    hop_limited::HopLimited,
    kept_routes::KeptRoutes,
    price_bound::RisingPrices,
    quotient::{Distance, Quotient},
};

/// Powers of the loads that links cost, by pass.
const POWERS: [i32; 5] = [4, 8, 12, 16, 16];
/// A small cost of each link, so that of paths without traffic the shorter is taken.
const OF_A_LINK: f64 = 1e-3;

/// A front of one point, of the fewest hops, with its routes; `None` where the paths are too long to hold. `hops`: the
/// largest shortest distance of the arcs, all of which have a path; `least`: no routing has a load below this.
/// O(searches of every source) a pass.
pub(crate) fn front(quotient: &Quotient, distance: impl Distance, hops: u32, least: f64) -> Option<Front> {
    if quotient.arcs.len().saturating_mul(hops as usize + 1) > MOST_NODES {
        return None;
    }
    let mut balanced = Balanced::new(quotient, hops, least);
    let mut best = (f64::INFINITY, Paths::default());
    for power in POWERS {
        balanced.route(power);
        let load = quotient.largest_load(&balanced.traffic);
        if load < best.0 {
            best = (load, balanced.paths.clone());
        }
        balanced.level = load;
    }
    let lower = balanced.bound().max(least);
    if quotient.arcs.len() <= MOST_SPLIT_ARCS {
        let split = equal_split::point(distance, quotient, hops);
        if split.load <= best.0 {
            let kept = KeptRoutes::of(&equal_split::routes(distance, quotient));
            return Some(Front::single(Point { lower: lower.min(split.load), ..split }).with_routes(kept));
        }
    }
    let (load, paths) = best;
    let kept = KeptRoutes::whole(quotient.arcs.len(), |arc| paths.nodes(arc));
    Some(Front::single(Point { hops, load, lower: lower.min(load) }).with_routes(kept))
}

/// Nodes and link orbits of one path per arc.
#[derive(Debug, Clone, Default)]
struct Paths {
    hops: usize,
    /// `hops + 1` places an arc, and how many of them are in use: none before the first pass.
    nodes: Vec<Rank>,
    lengths: Vec<u32>,
    /// `hops` places an arc.
    orbits: Vec<u32>,
}

impl Paths {
    fn nodes(&self, arc: usize) -> &[Rank] {
        let first = arc * (self.hops + 1);
        &self.nodes[first..first + self.lengths[arc] as usize]
    }

    fn orbits(&self, arc: usize) -> &[u32] {
        let first = arc * self.hops;
        &self.orbits[first..first + (self.lengths[arc] as usize).saturating_sub(1)]
    }

    fn set(&mut self, arc: usize, nodes: &[Rank], orbits: &[u32]) {
        let (node, orbit) = (arc * (self.hops + 1), arc * self.hops);
        self.nodes[node..node + nodes.len()].copy_from_slice(nodes);
        self.orbits[orbit..orbit + orbits.len()].copy_from_slice(orbits);
        self.lengths[arc] = nodes.len() as u32;
    }
}

struct Balanced<'a> {
    quotient: &'a Quotient,
    hops: u32,
    search: HopLimited,
    paths: Paths,
    /// By link orbit, of the arcs that are routed.
    traffic: Vec<f64>,
    /// The cost of a link of each orbit.
    costs: Vec<f64>,
    /// The load of a link that costs about 1.
    level: f64,
    power: i32,
}

impl<'a> Balanced<'a> {
    fn new(quotient: &'a Quotient, hops: u32, level: f64) -> Self {
        let (arcs, links, stride) = (quotient.arcs.len(), quotient.adjacency.capacities.len(), hops as usize);
        let paths = Paths {
            hops: stride,
            nodes: vec![0; arcs * (stride + 1)],
            lengths: vec![0; arcs],
            orbits: vec![0; arcs * stride],
        };
        let (traffic, costs) = (vec![0.0; links], vec![0.0; links]);
        Self {
            quotient,
            hops,
            search: HopLimited::new(quotient.adjacency.ranks()),
            paths,
            traffic,
            costs,
            level,
            power: 0,
        }
    }

    /// Routes every arc once.
    fn route(&mut self, power: i32) {
        self.power = power;
        (0..self.costs.len()).for_each(|orbit| self.set_cost(orbit));
        let (quotient, mut first) = (self.quotient, 0);
        for arcs in quotient.sources() {
            let range = first..first + arcs.len();
            first = range.end;
            let groups = (arcs.len() / FEWEST_OF_A_GROUP).clamp(1, MOST_GROUPS);
            for group in 0..groups {
                interruption::check();
                self.route_group(range.clone(), group, groups);
            }
        }
    }

    /// Routes every `groups`-th arc of a source, from the `group`-th on.
    fn route_group(&mut self, range: Range<usize>, group: usize, groups: usize) {
        let arcs = || range.clone().skip(group).step_by(groups);
        for arc in arcs() {
            self.put(arc, -1.0);
        }
        let quotient = self.quotient;
        self.search.run(
            &quotient.adjacency,
            &self.costs,
            quotient.arcs[range.start].src,
            Some(self.hops),
            f64::INFINITY,
        );
        for arc in arcs() {
            if let Some((arrival, _)) = self.search.cheapest(quotient.arcs[arc].dst) {
                let (nodes, orbits) = self.search.path(arrival);
                self.paths.set(arc, &nodes, &orbits);
            }
            self.put(arc, 1.0);
        }
    }

    /// Adds an arc's traffic this many times to the links of its path.
    fn put(&mut self, arc: usize, times: f64) {
        let weight = self.quotient.arcs[arc].weight * times;
        for place in 0..self.paths.orbits(arc).len() {
            let orbit = self.paths.orbits(arc)[place] as usize;
            self.traffic[orbit] += weight;
            self.set_cost(orbit);
        }
    }

    fn set_cost(&mut self, orbit: usize) {
        let load = self.traffic[orbit].max(0.0) / self.quotient.adjacency.capacities[orbit];
        self.costs[orbit] = (load / self.level).powi(self.power) + OF_A_LINK;
    }

    /// No routing of so few hops has a load below this: what the costs prove as prices.
    fn bound(&mut self) -> f64 {
        let quotient = self.quotient;
        let capacities = &quotient.adjacency.capacities;
        let prices: f64 = self.costs.iter().zip(capacities).map(|(cost, capacity)| cost * capacity).sum();
        let mut proven = 0.0;
        for arcs in quotient.sources() {
            interruption::check();
            self.search.run(&quotient.adjacency, &self.costs, arcs[0].src, Some(self.hops), f64::INFINITY);
            let lengths = arcs.iter().filter_map(|arc| Some((arc.weight, self.search.cheapest(arc.dst)?.1.distance)));
            proven += lengths.map(|(weight, length)| weight * length).sum::<f64>();
        }
        proven / prices * (1.0 - RisingPrices::ROUNDING)
    }
}

#[cfg(test)]
mod tests {
    use crate::RoutingNetwork;
    use model::{Link, Routing, Topology, Traffic, TrafficEntry, Translations};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]

        /// The load is that of the routes, no more than an even split's, and the optimum of as many hops is between the
        /// bound and it.
        #[test]
        fn the_optimum_is_between_the_bound_and_what_the_routes_attain(
            ranks in 3u32..12, cyclic in prop::bool::ANY,
            links in prop::collection::vec((0u32..12, 0u32..12, 1u32..4), 3..60),
            arcs in prop::collection::vec((0u32..12, 0u32..12, 1u32..5), 1..60),
        ) {
            let group = if cyclic { Translations::cyclic(ranks) } else { Translations::trivial(ranks) };
            let links = links.iter().map(|&(a, b, count)| Link { src: a % ranks, dst: b % ranks, count });
            let topology = Topology::new("random", group.clone(), links.filter(|link| link.src != link.dst)).unwrap();
            let arcs = arcs.iter().map(|&(a, b, w)| TrafficEntry { src: a % ranks, dst: b % ranks, weight: f64::from(w) });
            let Ok(traffic) = Traffic::new(group, arcs.filter(|arc| arc.src != arc.dst)) else { return Ok(()) };
            let network = RoutingNetwork::new(&topology);
            let Some(exact) = network.front(&traffic, Routing::ConcurrentFlow) else { return Ok(()) };
            let front = network.quick_front(&traffic).unwrap();
            prop_assert_eq!(front.points().len(), 1);
            let (point, best) = (front.points()[0], exact.points()[0]);
            prop_assert_eq!(point.hops, best.hops);
            prop_assert!(point.lower <= best.load * (1.0 + 1e-9) && best.lower <= point.load * (1.0 + 1e-9));
            let split = network.front(&traffic, Routing::EqualSplit).unwrap();
            prop_assert!(point.load <= split.points()[0].load * (1.0 + 1e-12));
            let (routes, attained) = network.routes_behind(&front, &traffic, Routing::ConcurrentFlow, point.hops).unwrap();
            prop_assert_eq!(attained, point);
            // The loads of the routes, link by link over all ranks.
            let mut carried = std::collections::BTreeMap::new();
            for element in routes.symmetry.elements() {
                for (routed, arc) in routes.arcs.iter().zip(traffic.arcs_under(&routes.symmetry)) {
                    prop_assert_eq!((routed.src, routed.dst), (arc.src, arc.dst));
                    prop_assert!((routed.paths.iter().map(|path| path.share).sum::<f64>() - 1.0).abs() < 1e-12);
                    for path in &routed.paths {
                        prop_assert!(path.nodes.len() as u32 <= point.hops + 1);
                        prop_assert_eq!((path.nodes[0], path.nodes[path.nodes.len() - 1]), (arc.src, arc.dst));
                        for pair in path.nodes.windows(2) {
                            let link = (routes.symmetry.apply(element, pair[0]), routes.symmetry.apply(element, pair[1]));
                            *carried.entry(link).or_insert(0.0) += arc.weight * path.share;
                        }
                    }
                }
            }
            let count = |src, dst| topology.expanded().into_iter().find(|link| (link.src, link.dst) == (src, dst)).unwrap().count;
            let load = carried.iter().map(|(&(src, dst), carried)| carried / f64::from(count(src, dst))).fold(0.0, f64::max);
            prop_assert!((load - point.load).abs() <= 1e-9 * load, "{} and {load}", point.load);
        }
    }
}
