//! Hops over links, found by breadth: the one search that all crates but the verifier use.

use crate::Rank;

/// The distance where there is no path.
pub const UNREACHABLE: u32 = u32::MAX;

/// Distances from one rank after another, in buffers that are used again.
#[derive(Debug, Clone)]
pub struct BreadthFirst {
    distances: Vec<u32>,
    reached: Vec<Rank>,
}

impl BreadthFirst {
    /// A search over `ranks` ranks.
    pub fn new(ranks: usize) -> Self {
        Self { distances: vec![UNREACHABLE; ranks], reached: Vec::with_capacity(ranks) }
    }

    /// Hops from `source` to every rank, [`UNREACHABLE`] where no path leads. `heads` gives the ranks to which links
    /// lead from one. O(ranks reached + links out of them).
    pub fn search<H: IntoIterator<Item = Rank>>(&mut self, source: Rank, heads: impl FnMut(Rank) -> H) -> &[u32] {
        self.search_until(source, heads, |_| false)
    }

    /// [`BreadthFirst::search`], stopped as soon as `is_enough` says so, which is told every rank but the source once
    /// it is reached. Ranks that are farther then count as unreachable.
    pub fn search_until<H: IntoIterator<Item = Rank>>(
        &mut self,
        source: Rank,
        mut heads: impl FnMut(Rank) -> H,
        mut is_enough: impl FnMut(Rank) -> bool,
    ) -> &[u32] {
        let Self { distances, reached } = self;
        interruption::check();
        reached.iter().for_each(|&rank| distances[rank as usize] = UNREACHABLE);
        reached.clear();
        reached.push(source);
        distances[source as usize] = 0;
        let mut next = 0;
        while let Some(&rank) = reached.get(next) {
            next += 1;
            let hops = distances[rank as usize] + 1;
            for head in heads(rank) {
                let distance = &mut distances[head as usize];
                if *distance == UNREACHABLE {
                    *distance = hops;
                    reached.push(head);
                    if is_enough(head) {
                        return distances;
                    }
                }
            }
        }
        distances
    }

    /// Hops from the source of the last search.
    pub fn distance(&self, rank: Rank) -> u32 {
        self.distances[rank as usize]
    }

    /// The ranks that the last search reached, the nearest first; the source is the first.
    pub fn reached(&self) -> &[Rank] {
        &self.reached
    }

    /// The distances that the last search found.
    pub fn into_distances(self) -> Vec<u32> {
        self.distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// One search after another in the same buffers, against Floyd and Warshall.
        #[test]
        fn distances_are_the_least_and_ranks_come_by_distance(
            ranks in 1usize..12, links in prop::collection::vec((0u32..12, 0u32..12), 0..40), wanted in 0u32..12,
        ) {
            let n = ranks as u32;
            let links: Vec<(Rank, Rank)> = links.into_iter().map(|(src, dst)| (src % n, dst % n)).collect();
            let wanted = wanted % n;
            let mut least = vec![vec![u64::from(UNREACHABLE); ranks]; ranks];
            (0..ranks).for_each(|rank| least[rank][rank] = 0);
            links.iter().filter(|(src, dst)| src != dst).for_each(|&(src, dst)| least[src as usize][dst as usize] = 1);
            for via in 0..ranks {
                for src in 0..ranks {
                    for dst in 0..ranks {
                        least[src][dst] = least[src][dst].min(least[src][via] + least[via][dst]);
                    }
                }
            }
            let heads = |rank: Rank| links.iter().filter(move |(src, _)| *src == rank).map(|&(_, dst)| dst);
            let mut search = BreadthFirst::new(ranks);
            for source in 0..n {
                let found = search.search(source, heads).to_vec();
                let expected: Vec<u32> =
                    least[source as usize].iter().map(|&hops| hops.min(u64::from(UNREACHABLE)) as u32).collect();
                prop_assert_eq!(&found, &expected);
                let order: Vec<u32> = search.reached().iter().map(|&rank| found[rank as usize]).collect();
                prop_assert!(order.is_sorted());
                prop_assert_eq!(order.len(), expected.iter().filter(|hops| **hops != UNREACHABLE).count());
                let stopped = search.search_until(source, heads, |rank| rank == wanted);
                prop_assert_eq!(stopped[wanted as usize], expected[wanted as usize]);
            }
        }
    }
}
