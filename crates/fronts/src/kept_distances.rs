//! Hops from one GPU, searched for when they are first asked for and written down.

use std::sync::OnceLock;

use model::{BreadthFirst, Rank, UNREACHABLE};

use crate::cutoffs::kept_distances::MOST_AT_ONCE;
use crate::quotient::Adjacency;

/// GPUs around all sources together that are searched for first, where distances from every source to every GPU are
/// more than [`MOST_AT_ONCE`].
const NEAR_ALL: usize = 1 << 22;

/// The known distances from a GPU.
#[derive(Debug, Default)]
pub(crate) struct KeptDistances {
    /// The nearest GPUs, ascending.
    near: OnceLock<Box<[(Rank, u32)]>>,
    all: OnceLock<Box<[u32]>>,
}

impl KeptDistances {
    /// Hops from `source` to `dst`; `None` where there is no path. `sources` are kept in all.
    /// O(1) after the first call, which is O(links); with many sources, O(links to the nearest GPUs) for the nearest.
    #[inline]
    pub(crate) fn to(&self, dst: Rank, source: Rank, adjacency: &Adjacency, sources: usize) -> Option<u32> {
        let hops = match self.all.get() {
            Some(all) => all[dst as usize],
            None => self.searched(dst, source, adjacency, sources),
        };
        Some(hops).filter(|&hops| hops != UNREACHABLE)
    }

    fn searched(&self, dst: Rank, source: Rank, adjacency: &Adjacency, sources: usize) -> u32 {
        // One hop needs no search.
        if adjacency.out(source).iter().any(|head| head.dst == dst) {
            return 1;
        }
        if sources.saturating_mul(adjacency.ranks()) > MOST_AT_ONCE {
            let near = self.near.get_or_init(|| nearest(source, adjacency, NEAR_ALL.div_ceil(sources)));
            if let Ok(at) = near.binary_search_by_key(&dst, |&(rank, _)| rank) {
                return near[at].1;
            }
        }
        let all = self.all.get_or_init(|| {
            let mut search = BreadthFirst::new(adjacency.ranks());
            search.search(source, |rank| adjacency.out(rank).iter().map(|head| head.dst));
            search.into_distances().into()
        });
        all[dst as usize]
    }

    /// Whether every distance is written down, in four bytes a GPU.
    pub(crate) fn are_all_known(&self) -> bool {
        self.all.get().is_some()
    }
}

/// The first `most` GPUs by distance, and theirs.
fn nearest(source: Rank, adjacency: &Adjacency, most: usize) -> Box<[(Rank, u32)]> {
    let mut near = vec![(source, 0)];
    let mut is_known = std::collections::HashSet::from([source]);
    let mut next = 0;
    while let Some(&(rank, hops)) = near.get(next).filter(|_| near.len() < most) {
        next += 1;
        let heads = adjacency.out(rank).iter().map(|head| head.dst);
        near.extend(heads.filter(|&head| is_known.insert(head)).map(|head| (head, hops + 1)));
    }
    near.sort_unstable();
    near.into()
}

#[cfg(test)]
mod tests {
    use model::{Link, Topology, Translations};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// In any order of questions, and whether or not the nearest GPUs are looked at first.
        #[test]
        fn distances_are_those_of_a_whole_search(
            links in prop::collection::vec((0u32..20, 0u32..20, 1u32..3), 0..60),
            asked in prop::collection::vec(0u32..20, 1..40),
            sources in prop::sample::select(vec![1usize, 1 << 20, 1 << 22]),
        ) {
            let links = links.into_iter().map(|(src, dst, count)| Link { src, dst, count });
            let none = Translations::trivial(20);
            let topology = Topology::new("random", none, links.filter(|link| link.src != link.dst)).unwrap();
            let links = topology.links();
            let adjacency = Adjacency::new(&topology);
            let mut search = BreadthFirst::new(20);
            let heads = |rank: Rank| links.iter().filter(move |link| link.src == rank).map(|link| link.dst);
            let expected = search.search(0, heads).to_vec();
            let kept = KeptDistances::default();
            for dst in asked {
                let found = kept.to(dst, 0, &adjacency, sources);
                prop_assert_eq!(found, Some(expected[dst as usize]).filter(|&hops| hops != UNREACHABLE));
            }
        }
    }
}
