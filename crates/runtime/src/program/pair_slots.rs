//! Slots of chunks in an All-to-All: a chunk has places of its own at its source, at its destination, and at ranks that
//! forward it.

use model::{Plan, Rank};

/// The place where ranks have the chunks of an All-to-All, in elements of their workspaces.
pub(super) struct PairSlots {
    ends: Ends,
    /// Slot of each chunk at its source.
    first: Vec<u64>,
    /// Slot of each chunk at its destination.
    last: Vec<u64>,
    /// [`Ends::key`] of every chunk at a rank that forwards it, and its slot there; ascending.
    passed: Vec<(u64, u64)>,
}

impl PairSlots {
    /// first, last: slot of each chunk at its source and at its destination. passed: [`Ends::key`] and slot of every chunk
    /// at a rank that forwards it, ascending.
    pub fn new(ends: Ends, first: Vec<u64>, last: Vec<u64>, passed: Vec<(u64, u64)>) -> Self {
        Self { ends, first, last, passed }
    }

    /// The slot of the chunk at the rank; `None` if the rank never has it.
    pub fn offset(&self, rank: Rank, chunk: u32) -> Option<u64> {
        let (source, destination) = self.ends.of(chunk);
        if rank == source {
            return Some(self.first[chunk as usize]);
        }
        if rank == destination {
            return Some(self.last[chunk as usize]);
        }
        let key = self.ends.key(rank, chunk);
        self.passed.binary_search_by_key(&key, |passed| passed.0).ok().map(|found| self.passed[found].1)
    }
}

/// Source and destination of every chunk.
pub(super) struct Ends(Vec<(Rank, Rank)>);

impl Ends {
    pub fn new(plan: &Plan) -> Self {
        // Every chunk of an All-to-All has both.
        let ends = |chunk| plan.chunks.first_rank(chunk).zip(plan.chunks.last_rank(chunk));
        Self((0..plan.chunks.count()).filter_map(ends).collect())
    }

    /// Source and destination of the chunk.
    pub fn of(&self, chunk: u32) -> (Rank, Rank) {
        self.0[chunk as usize]
    }

    /// A number for the pair of a rank and a chunk.
    pub fn key(&self, rank: Rank, chunk: u32) -> u64 {
        u64::from(rank) * self.0.len() as u64 + u64::from(chunk)
    }

    /// Source and destination of all chunks, by their number.
    pub fn iter(&self) -> impl Iterator<Item = (Rank, Rank)> {
        self.0.iter().copied()
    }
}
