//! Slots of chunks in an All-to-All: places of their own at the source, at the destination, and where they are passed on.

use model::{Plan, Rank};

/// Where ranks have the chunks of an All-to-All, in elements of their workspaces.
pub(super) struct PairSlots {
    ends: Ends,
    /// By chunk, at its source.
    first: Vec<u64>,
    /// By chunk, at its destination.
    last: Vec<u64>,
    /// Of every chunk that a rank passes on, by [`Ends::key`], and its slot there; ascending.
    passed: Vec<(u64, u64)>,
}

impl PairSlots {
    /// By chunk, the slots at its source and at its destination; and `passed`, ascending, by [`Ends::key`].
    pub fn new(ends: Ends, first: Vec<u64>, last: Vec<u64>, passed: Vec<(u64, u64)>) -> Self {
        Self { ends, first, last, passed }
    }

    /// Where the rank has the chunk; `None` where it never has it.
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

    /// Source and destination.
    pub fn of(&self, chunk: u32) -> (Rank, Rank) {
        self.0[chunk as usize]
    }

    /// The number of a chunk at a rank.
    pub fn key(&self, rank: Rank, chunk: u32) -> u64 {
        u64::from(rank) * self.0.len() as u64 + u64::from(chunk)
    }

    /// Those of all chunks.
    pub fn iter(&self) -> impl Iterator<Item = (Rank, Rank)> {
        self.0.iter().copied()
    }
}
