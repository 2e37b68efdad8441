//! Messages over the circuits of a group: each on one shortest path, which they may share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::{Fabric, Rank, Topology};

/// Paths of messages, by the positions of ranks in their groups.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// Longest path, hops.
    hops: u32,
    /// By group and link the paths over it, and its circuits.
    links: BTreeMap<(usize, Rank, Rank), (u32, u32)>,
    /// Group and position of the ends of messages.
    ends: BTreeSet<(usize, Rank)>,
}

impl Paths {
    /// Adds a path from `src` to `dst`, positions in a group that has `topology`: the one that a search by breadth
    /// finds that visits neighbours in ascending order and keeps the first way to each.
    ///
    /// # Errors
    /// No path leads there.
    pub(super) fn add(&mut self, group: usize, topology: &Topology, src: Rank, dst: Rank) -> Result<(), String> {
        let mut heads: Vec<Vec<(Rank, u32)>> = vec![Vec::new(); topology.ranks() as usize];
        for link in topology.expanded() {
            heads[link.src as usize].push((link.dst, link.count));
        }
        let mut came_from: Vec<Option<(Rank, u32)>> = vec![None; heads.len()];
        let mut reached = VecDeque::from([src]);
        while let Some(rank) = reached.pop_front() {
            // Links are sorted, so that neighbours ascend.
            for &(head, count) in &heads[rank as usize] {
                if head != src && came_from[head as usize].is_none() {
                    came_from[head as usize] = Some((rank, count));
                    reached.push_back(head);
                }
            }
        }
        let (mut at, mut hops) = (dst, 0);
        self.ends.extend([(group, src), (group, dst)]);
        while at != src {
            let Some((before, count)) = came_from[at as usize] else {
                return Err(format!("`{}` has no path from its GPU {src} to its GPU {dst}", topology.name()));
            };
            self.links.entry((group, before, at)).or_insert((0, count)).0 += 1;
            (at, hops) = (before, hops + 1);
        }
        self.hops = self.hops.max(hops);
        Ok(())
    }

    /// Groups and positions of the ranks that hold their ports: the ends of messages; where any of them passes other
    /// ranks, all of their groups. `size` is that of a group.
    pub(super) fn holders(&self, size: impl Fn(usize) -> usize) -> BTreeSet<(usize, Rank)> {
        if self.hops < 2 {
            return self.ends.clone();
        }
        let groups: BTreeSet<usize> = self.ends.iter().map(|&(group, _)| group).collect();
        groups.into_iter().flat_map(|group| (0..size(group) as Rank).map(move |at| (group, at))).collect()
    }

    /// The time of messages of this many bytes over them: α + δ·hops + β·m·(most paths a circuit).
    pub(super) fn seconds(&self, fabric: &Fabric, size_bytes: u64) -> f64 {
        let load = self.links.values().map(|&(paths, count)| f64::from(paths) / f64::from(count)).fold(0.0, f64::max);
        let bytes_s = 8.0 / fabric.bandwidth_bps * size_bytes as f64;
        fabric.startup_s + fabric.hop_delay_s * f64::from(self.hops) + bytes_s * load
    }
}
