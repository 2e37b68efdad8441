//! Broadcasts that stay on one topology: in parts, in floods, and as a scatter with an AllGather.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::{Link, Rank, Topology};

use super::rounds::rounds;
use super::spread::{Sends, Spread};
use super::{gathered::Gathered, tree::Tree};

/// Ranks squared up to which every rank's part of a scatter is gathered from it on its own ways.
const MOST_PAIRS: u64 = 1 << 18;

/// What Broadcasts from one root on one topology are made of, each kept once it is made.
#[derive(Debug)]
pub(super) struct OneTopology {
    pub(super) topology: Topology,
    pub(super) root: Rank,
    links: Vec<Link>,
    /// Parts that every rank can take in, and the root send out, in a round.
    pub(super) width: u32,
    pub(super) tree: Tree,
    by_parts: Mutex<BTreeMap<u32, Arc<Spread>>>,
    gathered: OnceLock<Option<Gathered>>,
}

impl OneTopology {
    /// `None` where the root cannot reach every rank. O(links · log links).
    pub(super) fn new(topology: Topology, root: Rank) -> Option<Self> {
        let links = topology.expanded();
        let tree = Tree::new(topology.ranks(), &links, root)?;
        let (mut into, mut out) = (vec![0; topology.ranks() as usize], 0);
        for link in &links {
            into[link.dst as usize] += link.count;
            out += if link.src == root { link.count } else { 0 };
        }
        into[root as usize] = out;
        let width = into.into_iter().min()?;
        Some(Self { topology, root, links, width, tree, by_parts: Mutex::default(), gathered: OnceLock::new() })
    }

    /// In rounds of one part a circuit.
    pub(super) fn in_parts(&self, parts: u32) -> Option<Arc<Spread>> {
        let lock = || self.by_parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = lock().get(&parts) {
            return Some(made.clone());
        }
        let steps = rounds(self.topology.ranks(), self.root, parts, 1, |_| &self.links)?;
        let made = Arc::new(Spread { parts, steps, topologies: vec![self.topology.clone()] });
        lock().insert(parts, made.clone());
        Some(made)
    }

    /// The whole buffer outwards along the tree, in steps of so many hops.
    pub(super) fn flood(&self, hops: &[u32]) -> Spread {
        Spread { parts: 1, steps: self.tree.flood(hops), topologies: vec![self.topology.clone()] }
    }

    /// What an AllGather of a part from each rank sends; `None` where ranks are too many, or some cannot reach some other.
    pub(super) fn gathered(&self) -> Option<&Gathered> {
        let ranks = u64::from(self.topology.ranks());
        let make = || (ranks * ranks <= MOST_PAIRS).then(|| Gathered::new(&self.topology, self.root)).flatten();
        self.gathered.get_or_init(make).as_ref()
    }

    /// A part to every rank at once, then an AllGather in steps of so many hops.
    pub(super) fn scatter_gather(&self, gathered: &Gathered, hops: &[u32]) -> Spread {
        let ranks = self.topology.ranks();
        let others = (0..ranks).filter(|rank| *rank != self.root);
        let scatter: Sends = others.map(|rank| ((self.root, rank), vec![rank])).collect();
        let steps = std::iter::once(scatter).chain(gathered.steps(hops)).collect();
        Spread { parts: ranks, steps, topologies: vec![self.topology.clone()] }
    }
}
