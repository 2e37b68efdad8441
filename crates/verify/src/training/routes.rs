//! Messages over the circuits of a group: each on one shortest path, which they may share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::{Fabric, Rank, Topology};

use super::held_ports::HeldPorts;

/// Paths of messages, by the positions of ranks in their groups.
pub(super) struct Paths {
    held: HeldPorts,
    /// Longest path, hops.
    hops: u32,
    /// By group and link the paths over it, and its circuits, those of the fastest port.
    links: BTreeMap<(usize, Rank, Rank), (u32, f64)>,
    /// Group and position of the ends of messages.
    ends: BTreeSet<(usize, Rank)>,
}

impl Paths {
    /// No messages yet, on these ports.
    pub(super) fn on(held: HeldPorts) -> Self {
        Self { held, hops: 0, links: BTreeMap::new(), ends: BTreeSet::new() }
    }

    /// Adds a path from `src` to `dst`, positions in a group that has `topology`: the one that a search by breadth
    /// finds that visits neighbours in ascending order and keeps the first way to each.
    ///
    /// # Errors
    /// No path leads there.
    pub(super) fn add(&mut self, group: usize, topology: &Topology, src: Rank, dst: Rank) -> Result<(), String> {
        let mut heads: Vec<Vec<Rank>> = vec![Vec::new(); topology.ranks() as usize];
        for link in topology.expanded() {
            heads[link.src as usize].push(link.dst);
        }
        let mut came_from: Vec<Option<Rank>> = vec![None; heads.len()];
        let mut reached = VecDeque::from([src]);
        while let Some(rank) = reached.pop_front() {
            // Links are sorted, so that neighbours ascend.
            for &head in &heads[rank as usize] {
                if head != src && came_from[head as usize].is_none() {
                    came_from[head as usize] = Some(rank);
                    reached.push_back(head);
                }
            }
        }
        let (mut at, mut hops) = (dst, 0);
        self.ends.extend([(group, src), (group, dst)]);
        while at != src {
            let Some(before) = came_from[at as usize] else {
                return Err(format!("`{}` has no path from its GPU {src} to its GPU {dst}", topology.name()));
            };
            let speeds = &self.held.speeds;
            let link = self.links.entry((group, before, at));
            link.or_insert_with(|| (0, speeds.capacity(topology, before, at))).0 += 1;
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

    /// The time of messages of this many bytes over them: α + δ·hops + β·m·(most paths a circuit of the fastest port).
    pub(super) fn seconds(&self, fabric: &Fabric, size_bytes: u64) -> f64 {
        let load = self.links.values().map(|&(paths, circuits)| f64::from(paths) / circuits).fold(0.0, f64::max);
        let bytes_s = 8.0 / self.held.fastest_bps * size_bytes as f64;
        fabric.startup_s + fabric.hop_delay_s * f64::from(self.hops) + bytes_s * load
    }
}
