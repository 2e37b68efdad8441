//! An AllGather of the parts of a scatter, outwards from every rank at once.

use model::{Rank, Topology, Translations};

use crate::flood;
use crate::sent::Sent;

use super::spread::Sends;

/// What goes over each link, by hops from where a part came from. The root has all parts and needs none.
#[derive(Debug)]
pub(super) struct Gathered {
    ranks: u32,
    root: Rank,
    levels: Vec<Sent>,
    /// Parts over the busiest circuit of each level.
    busiest: Vec<f64>,
}

impl Gathered {
    /// `None` where some rank cannot reach some other. O(n · links).
    pub(super) fn new(topology: &Topology, root: Rank) -> Option<Self> {
        let links = topology.expanded();
        let symmetry = topology.symmetry();
        let mut levels = flood::levels(topology, &links)?;
        for level in &mut levels {
            let mut all = Sent::new();
            for element in symmetry.elements() {
                let moved = |rank: Rank| symmetry.apply(element, rank);
                for (&(src, dst), origins) in &*level {
                    if moved(dst) != root {
                        all.insert((moved(src), moved(dst)), origins.iter().map(|&origin| moved(origin)).collect());
                    }
                }
            }
            *level = all;
        }
        let circuits = |ends: &(Rank, Rank)| {
            let at = links.binary_search_by_key(ends, |link| (link.src, link.dst));
            at.map_or(1.0, |at| f64::from(links[at].count))
        };
        let busiest = |level: &Sent| {
            level.iter().map(|(ends, origins)| origins.len() as f64 / circuits(ends)).fold(0.0, f64::max)
        };
        let busiest = levels.iter().map(busiest).collect();
        Some(Self { ranks: topology.ranks(), root, levels, busiest })
    }

    /// Hops between the ranks farthest apart.
    pub(super) fn depth(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Parts over the busiest circuit, about, when parts `from` hops away from their origin go up to `hops` farther.
    pub(super) fn load(&self, from: u32, hops: u32) -> f64 {
        let levels = self.busiest[from as usize..].iter().take(hops as usize);
        (1..).zip(levels).map(|(hops, parts)| f64::from(hops) * parts).sum()
    }

    /// The steps of so many hops, which add up to the depth.
    pub(super) fn steps(&self, hops: &[u32]) -> Vec<Sends> {
        let symmetry = Translations::trivial(self.ranks);
        let mut levels = &self.levels[..];
        let step = |&hops: &u32| {
            let (now, later) = levels.split_at(hops as usize);
            levels = later;
            let sent = if hops == 1 { now[0].clone() } else { flood::joined(now, &symmetry) };
            let others = sent.into_iter().filter(|((_, dst), _)| *dst != self.root);
            others.collect::<Sends>()
        };
        hops.iter().map(step).collect()
    }
}
