//! Parts of the fabric for the slowest of which a step waits, and which of them belong to GPUs that are slow.

use std::collections::BTreeMap;

use model::Rank;

/// Parts that draw values of their own, with the GPUs that each belongs to: GPUs themselves, or circuits.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) parts: u64,
    /// The parts that belong to each GPU.
    of_gpu: Vec<Vec<u32>>,
}

/// All groups of a plan, each once.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// By the ends of each part.
    known: BTreeMap<Vec<(Rank, Rank)>, usize>,
}

impl Groups {
    /// The index of the group of parts with these ends; a GPU ends at itself.
    pub(super) fn index_of(&mut self, mut ends: Vec<(Rank, Rank)>, gpus: u32) -> usize {
        ends.sort_unstable();
        if let Some(&index) = self.known.get(&ends) {
            return index;
        }
        let mut of_gpu = vec![Vec::new(); gpus as usize];
        for (part, &(src, dst)) in (0..).zip(&ends) {
            of_gpu[src as usize].push(part);
            if dst != src {
                of_gpu[dst as usize].push(part);
            }
        }
        self.groups.push(Group { parts: ends.len() as u64, of_gpu });
        self.known.insert(ends, self.groups.len() - 1);
        self.groups.len() - 1
    }

    /// The groups, by index.
    pub(super) fn into_groups(self) -> Vec<Group> {
        self.groups
    }
}

/// Counts the parts of groups that belong to slow GPUs.
pub(super) struct Counter {
    /// By part, the last count that met it.
    met: Vec<u64>,
    counts: u64,
}

impl Counter {
    pub(super) fn new(groups: &[Group]) -> Self {
        let parts = groups.iter().map(|group| group.parts).max().unwrap_or(0);
        Self { met: vec![0; parts as usize], counts: 0 }
    }

    /// The number of parts of `group` that belong to one of `slow`.
    pub(super) fn slow_parts(&mut self, group: &Group, slow: &[Rank]) -> u64 {
        self.counts += 1;
        let parts = slow.iter().flat_map(|&gpu| &group.of_gpu[gpu as usize]);
        parts.filter(|&&part| std::mem::replace(&mut self.met[part as usize], self.counts) != self.counts).count()
            as u64
    }
}
