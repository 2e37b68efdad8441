//! Lower bounds on what any routing puts on the busiest circuit, from prices of circuits.
//!
//! Under prices y ≥ 0 that add up to 1 over all circuits, traffic that goes w from a to b pays w times the cheapest
//! path at least, and all circuits together earn no more than the busiest one carries: load ≥ Σ w·dist_y(a, b), the
//! dual of concurrent flow. It holds for several steps together, whose loads add up, and where no path has more than h
//! hops with the cheapest path of h hops.
//!
//! Prices of circuits that cheapest paths crowd are raised by factors, by ever less (multiplicative weights; Plotkin,
//! Shmoys and Tardos 1995). Any prices give a bound; the best of some rounds counts.

use std::collections::BTreeMap;

use model::{Rank, Topology};

/// Rounds of prices.
const ROUNDS: u32 = 32;
/// Logarithm of the factor on the price of the busiest circuit, in the first and after the last round.
const FIRST_RAISE: f64 = 1.0;
const LAST_RAISE: f64 = 0.05;
/// Taken off, so that a bound that is attained is not above the load by rounding.
const ROUNDING: f64 = 1.0 - 1e-12;

/// Links between ranks, with their circuits.
pub(crate) struct PricedLinks {
    /// Source, destination, circuits; by source and destination.
    links: Vec<(usize, usize, f64)>,
    ranks: usize,
}

/// Cheapest paths from one rank, by number of hops.
struct Cheapest {
    /// After this many hops at most: by rank, what a path costs.
    costs: Vec<Vec<f64>>,
    /// After this many hops at most: by rank, the last link of the cheapest path, where one hop more made it cheaper.
    last: Vec<Vec<Option<usize>>>,
}

impl PricedLinks {
    pub(crate) fn new(topology: &Topology) -> Self {
        let link = |link: model::Link| (link.src as usize, link.dst as usize, f64::from(link.count));
        Self { links: topology.expanded().into_iter().map(link).collect(), ranks: topology.ranks() as usize }
    }

    /// A bound on the load of `sent`, by source and destination, on paths of at most `hops` links where a number is
    /// told. Each pair has such a path. O(rounds · sources · hops · links).
    pub(crate) fn least_load(&self, sent: &BTreeMap<Rank, BTreeMap<Rank, f64>>, hops: Option<u32>) -> f64 {
        let circuits: f64 = self.links.iter().map(|link| link.2).sum();
        // The price of all circuits of a link together.
        let mut prices: Vec<f64> = self.links.iter().map(|link| link.2 / circuits).collect();
        let most_hops = hops.map_or(self.ranks - 1, |hops| hops as usize);
        let mut best = 0.0_f64;
        for round in 0..ROUNDS {
            let lengths: Vec<f64> = prices.iter().zip(&self.links).map(|(price, link)| price / link.2).collect();
            let (mut paid, mut carried) = (0.0, vec![0.0; self.links.len()]);
            for (&src, blocks) in sent {
                let cheapest = self.cheapest(src as usize, &lengths, most_hops);
                for (&dst, share) in blocks {
                    paid += share * cheapest.costs[cheapest.costs.len() - 1][dst as usize];
                    cheapest.visit(&self.links, dst as usize, |link| carried[link] += share);
                }
            }
            best = best.max(paid);
            let loads: Vec<f64> = carried.iter().zip(&self.links).map(|(bytes, link)| bytes / link.2).collect();
            let busiest = loads.iter().copied().fold(0.0, f64::max);
            let raise = FIRST_RAISE * (LAST_RAISE / FIRST_RAISE).powf(f64::from(round) / f64::from(ROUNDS));
            prices.iter_mut().zip(loads).for_each(|(price, load)| *price *= (raise * load / busiest).exp());
            let sum: f64 = prices.iter().sum();
            prices.iter_mut().for_each(|price| *price /= sum);
        }
        best * ROUNDING
    }

    /// Bellman and Ford, hop by hop, until no path gets cheaper.
    fn cheapest(&self, src: usize, lengths: &[f64], most_hops: usize) -> Cheapest {
        let mut costs = vec![vec![f64::INFINITY; self.ranks]];
        costs[0][src] = 0.0;
        let mut last = vec![vec![None; self.ranks]];
        for _ in 0..most_hops {
            let before = &costs[costs.len() - 1];
            let (mut after, mut by) = (before.clone(), vec![None; self.ranks]);
            for (index, (&(from, to, _), length)) in self.links.iter().zip(lengths).enumerate() {
                let cost = before[from] + length;
                if cost < after[to] {
                    (after[to], by[to]) = (cost, Some(index));
                }
            }
            if by.iter().all(Option::is_none) {
                break;
            }
            costs.push(after);
            last.push(by);
        }
        Cheapest { costs, last }
    }
}

impl Cheapest {
    /// Calls `visit` with every link of the path to `dst`.
    fn visit(&self, links: &[(usize, usize, f64)], dst: usize, mut visit: impl FnMut(usize)) {
        let mut at = dst;
        for by in self.last.iter().rev() {
            if let Some(link) = by[at] {
                visit(link);
                at = links[link].0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Translations};

    fn priced(ranks: u32, links: &[(Rank, Rank, u32)]) -> PricedLinks {
        let links = links.iter().map(|&(src, dst, count)| Link { src, dst, count });
        PricedLinks::new(&Topology::new("some", Translations::trivial(ranks), links).unwrap())
    }

    #[test]
    fn a_bottleneck_is_found_to_a_few_hundredths() {
        // Two triangles of two circuits a pair, joined by one circuit each way: nine pairs cross it.
        let mut links = vec![(2, 3, 1), (3, 2, 1)];
        for first in [0, 3] {
            let pairs = (first..first + 3).flat_map(|a| (first..first + 3).map(move |b| (a, b)));
            links.extend(pairs.filter(|(a, b)| a != b).map(|(a, b)| (a, b, 2)));
        }
        let all = (0..6).map(|a| (a, (0..6).filter(|b| *b != a).map(|b| (b, 1.0)).collect())).collect();
        let bound = priced(6, &links).least_load(&all, None);
        assert!(bound > 0.97 * 9.0 && bound <= 9.0, "{bound}");
    }

    #[test]
    fn few_hops_leave_fewer_paths() {
        // From 0 to 2 directly over one circuit, or by way of 1 over another.
        let links = priced(3, &[(0, 2, 1), (0, 1, 1), (1, 2, 1)]);
        let sent = BTreeMap::from([(0, BTreeMap::from([(2, 1.0)]))]);
        let (one, two) = (links.least_load(&sent, Some(1)), links.least_load(&sent, Some(2)));
        assert!(one > 0.97 && one <= 1.0 && two > 0.47 && two <= 0.5, "{one} {two}");
    }
}
