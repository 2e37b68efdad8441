//! Places near a rank: with d ports it has at most d others at one hop, d² at two, and so on (Moore). Its peers fill
//! these places, the dearest nearest.
//!
//! - For one step: the longest path is at least the distance of the last place that is filled; the n·d circuits carry,
//!   in transfers, at least Σ weight · distance, so the busiest carries at least the mean of it; and d circuits of one
//!   rank carry all that it sends or receives.
//! - For several steps on one topology: all their peers share its places. The longest path of a step is at least the
//!   mean over its transfers, and its busiest circuit carries at least the mean, so every pair has a price a hop.

use std::collections::BTreeMap;

use model::{Rank, Traffic, TrafficEntry};

/// Least (hops, load) of `traffic` over all topologies with `ports` circuits out of and into each rank.
pub(super) fn least_hops_and_load(traffic: &Traffic, ports: u32) -> (u32, f64) {
    let orbits = traffic.symmetry().orbits() as usize;
    let mut sent: Vec<Vec<f64>> = vec![Vec::new(); orbits];
    for arc in traffic.arcs() {
        sent[traffic.symmetry().orbit(arc.src) as usize].push(arc.weight);
    }
    let (mut hops, mut transfers) = (1, 0.0);
    for weights in &mut sent {
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        let (mut distance, mut places, mut left) = (1, u64::from(ports), u64::from(ports));
        for weight in weights.iter() {
            if left == 0 {
                distance += 1;
                places = places.saturating_mul(u64::from(ports));
                left = places;
            }
            left -= 1;
            transfers += weight * f64::from(distance);
            hops = hops.max(distance);
        }
    }
    let mean = transfers / (orbits as f64 * f64::from(ports));
    (hops, mean.max(traffic.node_load() / f64::from(ports)))
}

/// Prices a hop of the pairs that have to share one topology.
#[derive(Default)]
pub(super) struct SharedPlaces {
    /// By pair: for the longest paths, for the loads.
    prices: BTreeMap<(Rank, Rank), (f64, f64)>,
}

impl SharedPlaces {
    /// Adds a step: one arc for each pair and orbit of ranks, of which there are `orbits`, and what a hop and a unit of
    /// load cost in it.
    pub(super) fn add(&mut self, arcs: &[TrafficEntry], orbits: u32, ports: u32, (hop_s, load_s): (f64, f64)) {
        for arc in arcs {
            let price = self.prices.entry((arc.src, arc.dst)).or_insert((0.0, 0.0));
            price.0 += hop_s / arcs.len() as f64;
            price.1 += load_s * arc.weight / (f64::from(orbits) * f64::from(ports));
        }
    }

    /// Least seconds of hops and loads, each counted by these weights. O(pairs log pairs).
    pub(super) fn seconds(&self, ports: u32, (hops, loads): (f64, f64)) -> f64 {
        let mut sum = 0.0;
        let mut of_rank: Vec<f64> = Vec::new();
        let mut pairs = self.prices.iter().peekable();
        while let Some((&(src, _), &(hop_s, load_s))) = pairs.next() {
            of_rank.push(hops * hop_s + loads * load_s);
            if pairs.peek().is_none_or(|((next, _), _)| *next != src) {
                of_rank.sort_unstable_by(|a, b| b.total_cmp(a));
                sum += nearest_first(&of_rank, ports);
                of_rank.clear();
            }
        }
        sum
    }
}

/// Σ price · distance where the first prices take the nearest places.
fn nearest_first(prices: &[f64], ports: u32) -> f64 {
    let (mut sum, mut distance, mut left, mut places) = (0.0, 0.0, 0, 1_u64);
    for price in prices {
        if left == 0 {
            distance += 1.0;
            places = places.saturating_mul(u64::from(ports));
            left = places;
        }
        left -= 1;
        sum += price * distance;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Translations;

    fn shifts(n: u32, offsets: &[u32]) -> Traffic {
        let arcs = offsets.iter().map(|&dst| TrafficEntry { src: 0, dst, weight: 1.0 });
        Traffic::new(Translations::cyclic(n), arcs).unwrap()
    }

    #[test]
    fn a_matching_costs_one_hop_and_its_share_of_the_ports() {
        assert_eq!(least_hops_and_load(&shifts(8, &[3]), 1), (1, 1.0));
        assert_eq!(least_hops_and_load(&shifts(8, &[3]), 2), (1, 0.5));
    }

    #[test]
    fn more_peers_than_ports_need_more_hops() {
        // One port: peers at distances 1, 2, 3 at best, so the one circuit carries 1 + 2 + 3.
        assert_eq!(least_hops_and_load(&shifts(8, &[1, 2, 3]), 1), (3, 6.0));
        // Two ports: two peers at one hop, four at two: (2·1 + 4·2) / 2.
        assert_eq!(least_hops_and_load(&shifts(16, &[1, 2, 3, 4, 5, 6]), 2), (2, 5.0));
    }

    #[test]
    fn a_broadcast_is_bounded_by_its_root() {
        let star = (1..5).map(|dst| TrafficEntry { src: 0, dst, weight: 1.0 });
        let star = Traffic::new(Translations::trivial(8), star).unwrap();
        // The root's two circuits carry four transfers; the mean over all ranks is less.
        assert_eq!(least_hops_and_load(&star, 2), (2, 2.0));
    }

    #[test]
    fn steps_on_one_topology_share_its_places() {
        // Two steps of one peer each on one port: one of them is two hops away, the cheaper one.
        let mut shared = SharedPlaces::default();
        shared.add(shifts(8, &[1]).arcs(), 1, 1, (1.0, 10.0));
        shared.add(shifts(8, &[2]).arcs(), 1, 1, (1.0, 5.0));
        assert_eq!(shared.seconds(1, (1.0, 1.0)), 1.0 + 10.0 + 2.0 * (1.0 + 5.0));
    }
}
