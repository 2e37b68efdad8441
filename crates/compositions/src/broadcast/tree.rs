//! A tree of shortest paths from the root, and floods along it.

use model::{BreadthFirst, Link, Rank};

use super::spread::Sends;

/// Shortest paths from the root to all ranks, spread over the links into each level as evenly as can be.
#[derive(Debug)]
pub(super) struct Tree {
    /// The ranks by hops from the root.
    levels: Vec<Vec<Rank>>,
    parent: Vec<Rank>,
    /// Parallel circuits from the parent.
    circuits: Vec<u32>,
}

impl Tree {
    /// `None` where some rank cannot be reached. O(links · log links).
    pub(super) fn new(ranks: u32, links: &[Link], root: Rank) -> Option<Self> {
        let (mut out, mut into) = (vec![Vec::new(); ranks as usize], vec![Vec::new(); ranks as usize]);
        for link in links {
            out[link.src as usize].push(link.dst);
            into[link.dst as usize].push(*link);
        }
        let mut search = BreadthFirst::new(ranks as usize);
        search.search(root, |at| out[at as usize].iter().copied());
        if search.reached().len() < ranks as usize {
            return None;
        }
        let distances = search.into_distances();
        let deepest = distances.iter().copied().max().unwrap_or(0);
        let mut levels: Vec<Vec<Rank>> = vec![Vec::new(); deepest as usize + 1];
        (0..ranks).for_each(|rank| levels[distances[rank as usize] as usize].push(rank));
        let (mut parent, mut circuits) = (vec![root; ranks as usize], vec![1; ranks as usize]);
        let mut children = vec![0u32; ranks as usize];
        for (level, at_level) in levels.iter().enumerate().skip(1) {
            interruption::check();
            let ways = |rank: Rank| {
                let before = |link: &&Link| distances[link.src as usize] as usize + 1 == level;
                into[rank as usize].iter().filter(before)
            };
            // Ranks with the fewest ways first.
            let mut reached = at_level.clone();
            reached.sort_by_key(|&rank| (ways(rank).count(), rank));
            for rank in reached {
                let link = ways(rank).min_by_key(|link| (children[link.src as usize], link.src))?;
                children[link.src as usize] += 1;
                parent[rank as usize] = link.src;
                circuits[rank as usize] = link.count;
            }
        }
        Some(Self { levels, parent, circuits })
    }

    /// Hops to every rank.
    pub(super) fn hops(&self) -> Vec<u32> {
        let mut hops = vec![0; self.parent.len()];
        for (level, ranks) in (0..).zip(&self.levels) {
            ranks.iter().for_each(|&rank| hops[rank as usize] = level);
        }
        hops
    }

    /// Hops to the farthest rank.
    pub(super) fn depth(&self) -> u32 {
        self.levels.len() as u32 - 1
    }

    /// The rank this many hops nearer to the root.
    fn ancestor(&self, rank: Rank, hops: u32) -> Rank {
        (0..hops).fold(rank, |rank, _| self.parent[rank as usize])
    }

    /// Copies on the busiest circuit when the ranks at `from` hops send to all that are at most `hops` farther.
    /// O(n·hops).
    pub(super) fn load(&self, from: u32, hops: u32) -> f64 {
        let mut below = vec![0u32; self.parent.len()];
        let mut most: f64 = 0.0;
        let last = (from + hops).min(self.depth());
        for level in (from + 1..=last).rev() {
            for &rank in &self.levels[level as usize] {
                let copies = below[rank as usize] + 1;
                most = most.max(f64::from(copies) / f64::from(self.circuits[rank as usize]));
                below[self.parent[rank as usize] as usize] += copies;
            }
        }
        most
    }

    /// Sends of the whole buffer as one part, away from the root, in steps of these numbers of hops, which add up to
    /// the depth.
    pub(super) fn flood(&self, hops: &[u32]) -> Vec<Sends> {
        let mut from = 0;
        let step = |&hops: &u32| {
            let mut sends = Sends::new();
            for beyond in 1..=hops {
                for &rank in &self.levels[(from + beyond) as usize] {
                    sends.insert((self.ancestor(rank, beyond), rank), vec![0]);
                }
            }
            from += hops;
            sends
        };
        hops.iter().map(step).collect()
    }
}
