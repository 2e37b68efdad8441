//! Stages of all GPUs, with the data and the symmetry that they have in common.

use model::{Collective, Op, Rank, Result, Topology, Translations};

use super::islands::{Islands, Lanes};
use super::stage::{Move, Stage};

/// Stages of all GPUs.
pub(super) struct Staged {
    pub(super) lanes: Lanes,
    pub(super) group: Translations,
    pub(super) topologies: Vec<Topology>,
    pub(super) stages: Vec<Stage>,
    /// Name of the algorithms that the stages come from, for people.
    pub(super) name: String,
}

impl Staged {
    /// One island, without any stage yet.
    ///
    /// # Errors
    /// More chunks than there may be.
    pub(super) fn inside_one(gpus: u32, collective: Collective, root: Rank) -> Result<Self> {
        let lanes = Lanes {
            islands: Islands { count: 1, gpus },
            collective,
            root,
            parts: 1,
            is_buffer: matches!(collective, Collective::Broadcast | Collective::Reduce),
        };
        let group = match collective.has_root() {
            true => Translations::trivial(gpus),
            false => Translations::cyclic(gpus),
        };
        let stages = Vec::new();
        Ok(Self { lanes, group, topologies: Vec::new(), stages, name: "inside the island".into() })
    }

    /// Moves of every lane and island as one of each orbit of the group.
    pub(super) fn representatives(&self, moves: impl Iterator<Item = Move>) -> Vec<Move> {
        moves.filter(|one| self.group.canonical(one.transfer.src).1 == 0).collect()
    }

    /// A move inside an island of lanes, with all chunks of one.
    pub(super) fn inside(&self, island: Rank, (from, to): (u32, u32), op: Op, lane: u32) -> Move {
        let rank = |gpu| self.lanes.islands.rank(island, gpu);
        Move::inside(rank(from), rank(to), op, self.lanes.of_lane(lane))
    }
}
