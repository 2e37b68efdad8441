//! An AllGather of the parts of a scatter, outwards from every rank at once.

use model::{Rank, Topology};

use crate::outward_trees::{OutwardTrees, Sent};

use super::spread::Sends;

/// Parts over each link, by hops from where a part came from. The root has all parts and needs none.
#[derive(Debug)]
pub(super) struct Gathered {
    root: Rank,
    trees: OutwardTrees,
    /// Parts over the busiest circuit of each level.
    busiest: Vec<f64>,
}

impl Gathered {
    /// `None` where some rank cannot reach some other. O(n · links).
    pub(super) fn new(topology: &Topology, root: Rank) -> Option<Self> {
        let links = topology.expanded();
        let trees = OutwardTrees::over(topology, &links)?.without_symmetry();
        let circuits = |ends: &(Rank, Rank)| {
            let at = links.binary_search_by_key(ends, |link| (link.src, link.dst));
            at.map_or(1.0, |at| f64::from(links[at].count))
        };
        let busiest = |level: &Sent| {
            level.iter().map(|(ends, origins)| origins.len() as f64 / circuits(ends)).fold(0.0, f64::max)
        };
        let single = (0..trees.depth()).map(|_| 1);
        let busiest = trees.sent(single, Some(root)).iter().map(busiest).collect();
        Some(Self { root, trees, busiest })
    }

    /// Hops between the ranks farthest apart.
    pub(super) fn depth(&self) -> u32 {
        self.trees.depth()
    }

    /// Parts over the busiest circuit, about, when parts `from` hops away from their origin go up to `hops` farther.
    pub(super) fn load(&self, from: u32, hops: u32) -> f64 {
        let levels = self.busiest[from as usize..].iter().take(hops as usize);
        (1..).zip(levels).map(|(hops, parts)| f64::from(hops) * parts).sum()
    }

    /// The steps of this many hops, which add up to the depth.
    pub(super) fn steps(&self, hops: &[u32]) -> Vec<Sends> {
        let steps = self.trees.sent(hops.iter().copied(), Some(self.root));
        steps.into_iter().map(|sent| sent.into_iter().collect()).collect()
    }
}
