//! Lower bounds on the load of any routing, at a few hundredths of what a front costs.
//!
//! Any prices y ≥ 0 with Σ_o y_o = 1 over link orbits prove that no routing has a load below
//! Σ_a w_a·dist_a(y/capacity): the same dual as in `concurrent_flow`. Prices of links that shortest paths
//! crowd are raised by factors (multiplicative weights; Plotkin, Shmoys and Tardos 1995; Garg and Könemann
//! 2007), with ever smaller steps, and the best round counts. On pairs without symmetry (64 GPUs, degree 4
//! and 6) that is 98 % of the load, in the median.

use crate::{
    front::LoadBound,
    hop_limited::HopLimited,
    quotient::{Distance, Quotient},
};

/// Prices of link orbits that rise where paths crowd, not negative, sum 1.
#[derive(Debug)]
pub(crate) struct RisingPrices {
    prices: Vec<f64>,
    round: u32,
}

impl RisingPrices {
    /// Rounds of prices.
    pub(crate) const ROUNDS: u32 = 32;
    /// Taken off, so that a bound that is attained does not exceed the load by rounding.
    pub(crate) const ROUNDING: f64 = 1e-12;
    /// Logarithm of the factor on the price of the busiest link, in the first and after the last round.
    const FIRST_STEP: f64 = 1.0;
    const LAST_STEP: f64 = 0.05;

    /// Prices that are equal for all circuits.
    pub(crate) fn new(capacities: &[f64]) -> Self {
        let circuits: f64 = capacities.iter().sum();
        Self { prices: capacities.iter().map(|capacity| capacity / circuits).collect(), round: 0 }
    }

    pub(crate) fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Lengths of links under the prices.
    pub(crate) fn lengths(&self, capacities: &[f64]) -> Vec<f64> {
        self.prices.iter().zip(capacities).map(|(price, capacity)| price / capacity).collect()
    }

    /// The next round: prices rise with the traffic that shortest paths bring over each link.
    pub(crate) fn raise(&mut self, traffic: &[f64], capacities: &[f64]) {
        let loads = || traffic.iter().zip(capacities).map(|(traffic, capacity)| traffic / capacity);
        let largest = loads().fold(0.0, f64::max);
        let part = f64::from(self.round) / f64::from(Self::ROUNDS);
        let step = Self::FIRST_STEP * (Self::LAST_STEP / Self::FIRST_STEP).powf(part);
        let mut sum = 0.0;
        for (price, load) in self.prices.iter_mut().zip(loads()) {
            *price *= (step * load / largest).exp();
            sum += *price;
        }
        self.prices.iter_mut().for_each(|price| *price /= sum);
        self.round += 1;
    }
}

/// Bounds at the least hop limit and beyond it. `hops`: the largest shortest distance of the arcs, all of
/// which have a path. O(rounds · hops · links) per source.
pub(crate) fn bound(quotient: &Quotient, distance: impl Distance, hops: u32) -> LoadBound {
    let mut search = HopLimited::new(quotient.adjacency.ranks());
    let beyond = least_load(quotient, distance, None, &mut search);
    let at_hops = least_load(quotient, distance, Some(hops), &mut search).max(beyond);
    LoadBound { hops, at_hops, beyond }
}

/// A bound on the load of routings whose paths have at most `hops` links.
fn least_load(quotient: &Quotient, distance: impl Distance, hops: Option<u32>, search: &mut HopLimited) -> f64 {
    let adjacency = &*quotient.adjacency;
    let mut prices = RisingPrices::new(&adjacency.capacities);
    let mut traffic = vec![0.0; adjacency.capacities.len()];
    let mut best = 0.0_f64;
    for _ in 0..RisingPrices::ROUNDS {
        let lengths = prices.lengths(&adjacency.capacities);
        traffic.fill(0.0);
        let mut proven = 0.0;
        for arcs in quotient.sources() {
            interruption::check();
            match hops {
                Some(hops) => search.run_to((adjacency, distance), &lengths, arcs, hops, f64::INFINITY, |_, _| false),
                None => search.run(adjacency, &lengths, arcs[0].src, None, f64::INFINITY),
            }
            for arc in arcs {
                if let Some((index, arrival)) = search.cheapest(arc.dst) {
                    proven += arc.weight * arrival.distance;
                    search.visit(index, |orbit| traffic[orbit as usize] += arc.weight);
                }
            }
        }
        best = best.max(proven);
        prices.raise(&traffic, &adjacency.capacities);
    }
    best * (1.0 - RisingPrices::ROUNDING)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{RoutingNetwork, quotient::Adjacency};
    use model::{Link, Routing, Topology, Traffic, TrafficEntry, Translations};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(400)))]

        #[test]
        fn the_bound_is_below_the_front_at_every_hop_limit(
            ranks in 3u32..12,
            links in prop::collection::vec((0u32..12, 0u32..12, 1u32..4), 3..60),
            arcs in prop::collection::vec((0u32..12, 0u32..12, 1u32..5), 1..16),
            (hop_cost, load_cost) in (0.0f64..2.0, 0.0f64..2.0),
            cyclic in prop::bool::ANY,
        ) {
            let group = if cyclic { Translations::cyclic(ranks) } else { Translations::trivial(ranks) };
            let links = links.iter().map(|&(a, b, count)| Link { src: a % ranks, dst: b % ranks, count });
            let topology = Topology::new("random", group.clone(), links.filter(|link| link.src != link.dst)).unwrap();
            let arcs = arcs.iter().map(|&(a, b, w)| TrafficEntry { src: a % ranks, dst: b % ranks, weight: f64::from(w) });
            let Ok(traffic) = Traffic::new(group.clone(), arcs.filter(|arc| arc.src != arc.dst)) else { return Ok(()) };
            let network = RoutingNetwork::new(&topology);
            if let Some(front) = network.front(&traffic, Routing::ConcurrentFlow) {
                let own = Arc::new(Adjacency::new(&topology));
                let distance = |src, dst| network.distance(src, dst);
                let bound = bound(&Quotient::new(&topology, &own, &traffic), distance, front.points()[0].hops);
                prop_assert!(bound.beyond <= bound.at_hops && bound.beyond > 0.0);
                prop_assert!(bound.at_hops <= front.points()[0].load);
                prop_assert!(front.points().iter().all(|point| bound.beyond <= point.load));
                let point = front.cheapest(hop_cost, load_cost);
                let cost = hop_cost * f64::from(point.hops) + load_cost * point.load;
                prop_assert!(bound.cheapest(hop_cost, load_cost) <= cost);
            }
        }
    }
}
