//! Trees from the root, one for each port, over circuits of their own: every rank takes in each tree's parts by a port
//! of its own, passes on those of one tree by all its ports, and is a leaf of the others (Castro et al., SplitStream,
//! SOSP 2003).
//!
//! A tree has n − 1 circuits, one from the root to its first rank and p from each rank that passes on. With n − 2 =
//! q·p + r, q ranks of each tree pass on by all ports, and r ranks by a port in every tree. So all trees together use
//! every port that they may, and are no deeper than a p-ary tree below one circuit, of ranks that pass on first.

use std::collections::{BTreeMap, VecDeque};

use model::{Link, Rank, Result, Topology, Translations};

use super::spread::{Sends, Spread};

/// Meaning of the names of this module's topologies.
pub(crate) const NAME: (&str, &str) = (
    "trees:P",
    "P trees from the root of a Broadcast to all GPUs, over circuits of their own: each GPU passes on the parts of one \
     tree by all its ports, and is a leaf of the others",
);

/// Trees of all ranks, and the topology that they make.
#[derive(Debug)]
pub(super) struct Trees {
    pub(super) topology: Topology,
    pub(super) ports: u32,
    /// Hops to the rank that is farthest, over all trees.
    pub(super) depth: u32,
    /// By tree, in order of depth: sender, receiver, and the receiver's hops from the root.
    sends: Vec<Vec<(Rank, Rank, u32)>>,
}

impl Trees {
    /// For two ports or more and three ranks or more. O(ranks · ports).
    ///
    /// # Errors
    /// The errors of [`Topology::new`].
    pub(super) fn new(ranks: u32, ports: u32, root: Rank) -> Result<Self> {
        let others: Vec<Rank> = (1..ranks).map(|place| (root + place) % ranks).collect();
        let (own, shared) = ((ranks - 2) / ports, (ranks - 2) % ports);
        let of_shared = (own * ports) as usize;
        let mut sends = Vec::new();
        for tree in 0..ports as usize {
            let passes_on = |at: usize| at < of_shared && at % ports as usize == tree;
            let is_shared = |at: usize| (of_shared..of_shared + shared as usize).contains(&at);
            let places = 0..others.len();
            let first = places.clone().filter(|&at| passes_on(at));
            let then = places.clone().filter(|&at| is_shared(at));
            let last = places.filter(|&at| !passes_on(at) && !is_shared(at));
            // Ranks that wait for children, with how many more.
            let mut free = VecDeque::from([(root, 0, 1)]);
            let mut of_tree = Vec::with_capacity(others.len());
            for at in first.chain(then).chain(last) {
                let Some((parent, hops, children)) = free.front_mut() else { break };
                let hops = *hops + 1;
                of_tree.push((*parent, others[at], hops));
                *children -= 1;
                if *children == 0 {
                    free.pop_front();
                }
                match (passes_on(at), is_shared(at)) {
                    (true, _) => free.push_back((others[at], hops, ports)),
                    (_, true) => free.push_back((others[at], hops, 1)),
                    _ => (),
                }
            }
            sends.push(of_tree);
        }
        let mut circuits: BTreeMap<(Rank, Rank), u32> = BTreeMap::new();
        let all = || sends.iter().flatten();
        all().for_each(|&(src, dst, _)| *circuits.entry((src, dst)).or_default() += 1);
        let links = circuits.into_iter().map(|((src, dst), count)| Link { src, dst, count });
        let topology = Topology::new(format!("trees:{ports}"), Translations::trivial(ranks), links)?;
        let depth = all().map(|(_, _, hops)| *hops).max().unwrap_or(1);
        Ok(Self { topology, ports, depth, sends })
    }

    /// The broadcast of so many parts over each tree, one after the other.
    pub(super) fn spread(&self, times: u32) -> Spread {
        let mut steps = vec![Sends::new(); (times + self.depth - 1) as usize];
        for (tree, sends) in (0..).zip(&self.sends) {
            for &(src, dst, hops) in sends {
                for time in 0..times {
                    let step: &mut Sends = &mut steps[(time + hops - 1) as usize];
                    step.entry((src, dst)).or_default().push(tree + self.ports * time);
                }
            }
        }
        Spread { parts: self.ports * times, steps, topologies: vec![self.topology.clone()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every tree reaches every rank once, no port is used twice, and each part arrives: for all ranks and ports.
    #[test]
    fn trees_are_disjoint_and_broadcast() {
        for ports in 2..=6 {
            for ranks in 3..=40 {
                let root = (ranks * 7 + ports) % ranks;
                let trees = Trees::new(ranks, ports, root).unwrap();
                trees.topology.check_ports(ports).unwrap();
                for sends in &trees.sends {
                    let mut reached: Vec<Rank> = sends.iter().map(|(_, dst, _)| *dst).chain([root]).collect();
                    reached.sort_unstable();
                    assert_eq!(reached, (0..ranks).collect::<Vec<_>>(), "{ranks} {ports}");
                }
                for times in [1, 3] {
                    let spread = trees.spread(times);
                    assert_eq!(spread.steps.len() as u32, times + trees.depth - 1);
                    let over = |step: &Sends| {
                        step.iter().all(|(ends, parts)| {
                            let links = trees.topology.expanded();
                            let at = links.binary_search_by_key(ends, |link| (link.src, link.dst)).unwrap();
                            parts.len() as u32 <= links[at].count
                        })
                    };
                    assert!(spread.steps.iter().all(over), "{ranks} {ports}");
                    let composition = spread.composition(ranks, root).unwrap();
                    let report = verify::schedule(&composition.schedule);
                    assert!(report.first_failure().is_none(), "{ranks} {ports}: {:?}", report.first_failure());
                }
            }
        }
        // Below one circuit, 4 + 16 + 41 ranks: 15 of them pass on, and two by a port in every tree.
        assert_eq!(Trees::new(64, 4, 0).unwrap().depth, 4);
    }
}
