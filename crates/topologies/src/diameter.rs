//! The diameter of a topology.

use model::{BreadthFirst, Rank, Topology, UNREACHABLE};

use crate::cutoffs::diameter::MOST_SEARCHED;

/// The most hops between two GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diameter {
    /// The number of hops.
    Hops(u32),
    /// Some GPU does not reach all others.
    Unreachable,
}

impl Diameter {
    /// The diameter, by a search from one GPU of every orbit of the symmetry: O(orbits × links). `None` where that is
    /// too much.
    pub fn of(topology: &Topology) -> Option<Self> {
        let representatives = topology.symmetry().representatives();
        let links = topology.expanded();
        if representatives.len() as u64 * links.len() as u64 > MOST_SEARCHED {
            return None;
        }
        let mut heads = vec![Vec::new(); topology.ranks() as usize];
        for link in links {
            heads[link.src as usize].push(link.dst);
        }
        let mut search = BreadthFirst::new(heads.len());
        let farthest = |rank: Rank| {
            let distances = search.search(rank, |from| heads[from as usize].iter().copied());
            distances.iter().copied().max().unwrap_or_default()
        };
        match representatives.into_iter().map(farthest).max().unwrap_or_default() {
            UNREACHABLE => Some(Self::Unreachable),
            hops => Some(Self::Hops(hops)),
        }
    }
}
