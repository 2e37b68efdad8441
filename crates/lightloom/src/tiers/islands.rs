//! Islands of GPUs, and the data that their lanes carry: GPU i of every island is on lane i.

use model::{Chunks, Collective, Digit, Rank, Result, Translations};

/// G islands of k GPUs: GPU i of island g is rank g·k + i.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Islands {
    /// G.
    pub(super) count: u32,
    /// k.
    pub(super) gpus: u32,
}

impl Islands {
    pub(super) fn ranks(self) -> u32 {
        self.count * self.gpus
    }

    pub(super) fn rank(self, island: Rank, lane: u32) -> Rank {
        island * self.gpus + lane
    }

    /// The group that moves islands as `group` does; with `lanes`, lanes too.
    pub(super) fn lifted(self, group: &Translations, lanes: bool) -> Result<Translations> {
        let islands = group.digits().iter().map(|digit| Digit { stride: digit.stride * self.gpus, radix: digit.radix });
        let own = (lanes && self.gpus > 1).then_some(Digit { stride: 1, radix: self.gpus });
        Translations::new(self.ranks(), own.into_iter().chain(islands).collect())
    }
}

/// The data of a collective among islands, by lane: a lane has the k-th part of every block, or of All-to-All the blocks
/// for its own GPUs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    pub(super) islands: Islands,
    pub(super) collective: Collective,
    /// The root's rank; 0 where there is none.
    pub(super) root: Rank,
    /// Chunks of a block, or of a lane's part of a buffer.
    pub(super) parts: u32,
    /// Whether chunks have no owner.
    pub(super) is_buffer: bool,
}

impl Lanes {
    /// The chunks of the whole, each cut in `pieces`.
    ///
    /// # Errors
    /// More chunks than there may be.
    pub(super) fn chunks(&self, pieces: u32) -> Result<Chunks> {
        let (ranks, parts) = (self.islands.ranks(), self.parts.saturating_mul(pieces));
        match (self.is_buffer, self.collective.has_root()) {
            (true, _) => Chunks::buffer(self.collective, ranks, self.root, parts.saturating_mul(self.islands.gpus)),
            (false, true) => Chunks::rooted(self.collective, ranks, self.root, parts),
            (false, false) => Chunks::even(self.collective, ranks, parts),
        }
    }

    /// The chunks, on a lane, of chunk `chunk` of the collective among islands.
    pub(super) fn of_island_chunk(&self, chunk: u32, lane: u32) -> Vec<u32> {
        let Islands { count, gpus } = self.islands;
        let (block, part) = (chunk / self.parts, chunk % self.parts);
        if self.is_buffer {
            return vec![lane * self.parts + chunk];
        }
        if self.collective != Collective::AllToAll {
            return vec![self.islands.rank(block, lane) * self.parts + part];
        }
        let dst = self.islands.rank(block % count, lane);
        let from = |gpu| self.islands.rank(block / count, gpu) * self.islands.ranks() + dst;
        (0..gpus).map(|gpu| from(gpu) * self.parts + part).collect()
    }

    /// All chunks of a lane.
    pub(super) fn of_lane(&self, lane: u32) -> Vec<u32> {
        let blocks = if self.is_buffer { 1 } else { self.islands.count };
        (0..blocks * self.parts).flat_map(|chunk| self.of_island_chunk(chunk, lane)).collect()
    }
}
