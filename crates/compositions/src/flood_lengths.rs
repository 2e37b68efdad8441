//! The number of hops of each step of a flood, by price.
//!
//! A step of several hops saves startups and sends a block anew to each of the ranks that it reaches. Near their
//! origins blocks reach few ranks, so long steps cost little there, and much where most ranks are reached.

use model::Link;

use crate::cutoffs::flood_lengths::LONGEST;
use crate::outward_trees::OutwardTrees;
use crate::prices::Prices;

/// Hops of the steps that cost least in sequence, along the trees over `links`; `None` where there are too
/// many links and hops to know.
/// O(orbits · ranks · [`LONGEST`] + links · depth · [`LONGEST`]²).
pub(crate) fn cheapest(trees: &OutwardTrees, links: &[Link], prices: &Prices) -> Option<Vec<u32>> {
    let loads = trees.loads(links, LONGEST)?;
    // By hops from the origin: the least seconds of the steps up to there, and the hops of the last of them.
    let mut best = vec![(0.0, 0u32)];
    for reached in 1..=trees.depth() {
        let last = (1..=LONGEST.min(reached)).map(|hops| {
            let before = (reached - hops) as usize;
            let step_s = prices.step_s(f64::from(hops), loads[before][hops as usize - 1]);
            (best[before].0 + step_s, hops)
        });
        best.push(last.min_by(|a, b| a.0.total_cmp(&b.0))?);
    }
    let mut lengths = Vec::new();
    let mut left = trees.depth();
    while left > 0 {
        let (_, hops) = best[left as usize];
        lengths.push(hops);
        left -= hops;
    }
    lengths.reverse();
    Some(lengths)
}

#[cfg(test)]
mod tests {
    use model::Shape;
    use proptest::prelude::*;

    use super::*;

    /// Blocks on the busiest circuit of a step: every block that is sent follows its tree, rank by rank.
    fn busiest(trees: &OutwardTrees, links: &[Link], first: u32, hops: u32) -> f64 {
        let all = trees.without_symmetry();
        let one_hop = all.sent((0..all.depth()).map(|_| 1), None);
        // By origin and rank, the rank before it.
        let mut before = std::collections::BTreeMap::new();
        for ((src, dst), origins) in one_hop.iter().flatten() {
            origins.iter().for_each(|origin| assert!(before.insert((*origin, *dst), *src).is_none()));
        }
        let mut blocks = std::collections::BTreeMap::new();
        let lengths = [first, hops, all.depth() - first - hops];
        let step = &all.sent(lengths.into_iter().filter(|length| *length > 0), None)[usize::from(first > 0)];
        for ((src, dst), origins) in step {
            for origin in origins {
                let mut at = *dst;
                while at != *src {
                    let from = before[&(*origin, at)];
                    *blocks.entry((from, at)).or_insert(0.0) += 1.0;
                    at = from;
                }
            }
        }
        let of = |link: &Link| blocks.get(&(link.src, link.dst)).copied().unwrap_or(0.0) / f64::from(link.count);
        links.iter().map(of).fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(24)))]

        /// Against every way to split the hops, each step's blocks counted one by one.
        #[test]
        fn no_split_costs_less(
            (spec, dims, ports) in proptest::sample::select(vec![
                ("kautz", vec![30], 2), ("kautz", vec![41], 3), ("torus:4x5", vec![4, 5], 4), ("grid:3x4", vec![3, 4], 4),
                ("circulant:1,4^2", vec![17], 3),
            ]),
            log_size in 8u32..26,
            startup_s in prop::sample::select(vec![0.0, 1e-7, 5e-7, 1e-5]),
        ) {
            let gpus: u32 = dims.iter().product();
            let shape = Shape::new(gpus, if dims.len() > 1 { &dims } else { &[] }, ports).unwrap();
            let topology = topologies::build(spec, &shape).unwrap();
            let links = topology.expanded();
            let trees = OutwardTrees::over(&topology, &links).unwrap();
            let prices = Prices::in_a_test(gpus, ports, 1 << log_size, startup_s);
            let depth = trees.depth();
            let step_s = |first: u32, hops: u32| prices.step_s(f64::from(hops), busiest(&trees, &links, first, hops));
            let costs: Vec<Vec<f64>> =
                (0..depth).map(|first| (1..=depth - first).map(|hops| step_s(first, hops)).collect()).collect();
            let seconds = |lengths: &[u32]| {
                let mut first = 0;
                let cost = |hops: &u32| {
                    let seconds = costs[first][*hops as usize - 1];
                    first += *hops as usize;
                    seconds
                };
                lengths.iter().map(cost).sum::<f64>()
            };
            let found = cheapest(&trees, &links, &prices).unwrap();
            prop_assert_eq!(found.iter().sum::<u32>(), depth);
            // A bit says whether a step ends after that hop.
            for ends in 0..1u32 << (depth - 1) {
                let mut lengths = vec![0];
                for hop in 0..depth {
                    *lengths.last_mut().unwrap() += 1;
                    if hop + 1 < depth && ends >> hop & 1 == 1 {
                        lengths.push(0);
                    }
                }
                let all_s = seconds(&lengths);
                prop_assert!(seconds(&found) <= all_s * (1.0 + 1e-12), "{:?}, but {:?}", found, lengths);
            }
        }
    }
}
