//! Broadcasts that stay on one topology: in parts, in floods, and as a scatter with an AllGather.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::{Link, Rank, Topology};

use super::rounds::{Rarity, rounds};
use super::spread::{Sends, Spread};
use super::{all_gather::Gathered, tree::Tree};
use crate::cutoffs::broadcast_one_topology::{MOST_PAIRS, MOST_SENT_TWICE};

/// The ingredients of Broadcasts from one root on one topology, each kept once it is made.
#[derive(Debug)]
pub(super) struct OneTopology {
    pub(super) topology: Topology,
    pub(super) root: Rank,
    links: Vec<Link>,
    /// Parts that every rank can take in, and the root send out, in a round.
    pub(super) width: u32,
    /// Circuits out of the root.
    out: u32,
    pub(super) tree: Tree,
    /// For every rank but the root: hops from the root to where circuits into it come from, in order, and how many do.
    /// Each once.
    into_ranks: BTreeSet<Vec<(u32, u32)>>,
    by_parts: Mutex<BTreeMap<u32, Arc<Spread>>>,
    gathered: OnceLock<Option<Gathered>>,
}

impl OneTopology {
    /// `None` where the root cannot reach every rank. O(links · log links).
    pub(super) fn new(topology: Topology, root: Rank) -> Option<Self> {
        let links = topology.expanded();
        let tree = Tree::new(topology.ranks(), &links, root)?;
        let hops = tree.hops();
        let mut into: Vec<Vec<(u32, u32)>> = vec![Vec::new(); topology.ranks() as usize];
        let mut out = 0;
        for link in &links {
            into[link.dst as usize].push((hops[link.src as usize], link.count));
            out += if link.src == root { link.count } else { 0 };
        }
        into.swap_remove(root as usize);
        into.iter_mut().for_each(|circuits| circuits.sort_unstable());
        let into_ranks: BTreeSet<Vec<(u32, u32)>> = into.into_iter().collect();
        let width =
            into_ranks.iter().map(|circuits| circuits.iter().map(|&(_, count)| count).sum()).chain([out]).min()?;
        let (by_parts, gathered) = (Mutex::default(), OnceLock::new());
        Some(Self { topology, root, links, width, out, tree, into_ranks, by_parts, gathered })
    }

    /// No schedule of rounds brings more parts to every rank in this many: the last has to leave the root in time for
    /// the farthest rank, and a circuit brings nothing before the rank that it comes from can have something.
    pub(super) fn most_parts(&self, rounds: u32) -> u32 {
        let leave = self.out * (rounds + 1).saturating_sub(self.tree.depth());
        let brought = |&(hops, circuits): &(u32, u32)| circuits * rounds.saturating_sub(hops);
        self.into_ranks.iter().map(|circuits| circuits.iter().map(brought).sum()).chain([leave]).min().unwrap_or(leave)
    }

    /// The broadcast in rounds in which every circuit carries one part.
    pub(super) fn in_parts(&self, parts: u32) -> Option<Arc<Spread>> {
        let lock = || self.by_parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = lock().get(&parts) {
            return Some(made.clone());
        }
        let steps = self.rounds_of(parts)?;
        let made = Arc::new(Spread { parts, steps, topologies: vec![self.topology.clone()] });
        lock().insert(parts, made.clone());
        Some(made)
    }

    /// The fewest rounds of both rarities, where the first is not the fewest that there are and the second costs
    /// little.
    fn rounds_of(&self, parts: u32) -> Option<Vec<Sends>> {
        let ranks = self.topology.ranks();
        let steps = |rarity| rounds(ranks, self.root, parts, 1, rarity, |_| &self.links);
        let first = steps(Rarity::Now)?;
        let may_be_fewer = first.len() > 1 && self.most_parts(first.len() as u32 - 1) >= parts;
        if !may_be_fewer || u64::from(ranks) * u64::from(parts) > MOST_SENT_TWICE {
            return Some(first);
        }
        let second = steps(Rarity::BeforeRound)?;
        Some(if second.len() < first.len() { second } else { first })
    }

    /// Sends of the whole buffer from the root along the tree, in steps of these numbers of hops.
    pub(super) fn flood(&self, hops: &[u32]) -> Spread {
        Spread { parts: 1, steps: self.tree.flood(hops), topologies: vec![self.topology.clone()] }
    }

    /// The transfers of an AllGather of a part from each rank; `None` where ranks are too many, or some cannot reach
    /// some other.
    pub(super) fn gathered(&self) -> Option<&Gathered> {
        let ranks = u64::from(self.topology.ranks());
        let make = || (ranks * ranks <= MOST_PAIRS).then(|| Gathered::new(&self.topology, self.root)).flatten();
        self.gathered.get_or_init(make).as_ref()
    }

    /// A part to every rank at once, then an AllGather in steps of this many hops.
    pub(super) fn scatter_gather(&self, gathered: &Gathered, hops: &[u32]) -> Spread {
        let ranks = self.topology.ranks();
        let others = (0..ranks).filter(|rank| *rank != self.root);
        let scatter: Sends = others.map(|rank| ((self.root, rank), vec![rank])).collect();
        let steps = std::iter::once(scatter).chain(gathered.steps(hops)).collect();
        Spread { parts: ranks, steps, topologies: vec![self.topology.clone()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Shape;

    /// One entry a circuit, not one for each hop of the tree: a ring of 65 536 GPUs has as many hops.
    #[test]
    fn what_is_known_of_a_long_ring_is_no_more_than_its_circuits() {
        for ports in 1..3 {
            let ring = topologies::build("ring", &Shape::new(1 << 16, &[], ports).unwrap()).unwrap();
            let one = OneTopology::new(ring, 5).unwrap();
            let entries: usize = one.into_ranks.iter().map(Vec::len).sum();
            assert!(entries <= one.links.len(), "{entries}");
            assert_eq!(one.most_parts(one.tree.depth() - 1), 0);
            assert!(one.most_parts(one.tree.depth()) > 0);
        }
    }
}
