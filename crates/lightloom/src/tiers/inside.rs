//! Transfers inside islands, before and after a plan among islands.
//!
//! | collective | before | after |
//! |---|---|---|
//! | all-reduce | sums of lanes | lanes to all |
//! | reduce-scatter | sums of lanes | |
//! | all-gather | | lanes to all |
//! | all-to-all | with the first step: blocks of the island | |
//! | broadcast | the root's lanes apart | lanes to all |
//! | reduce | sums of lanes | lanes to the root |
//! | gather | | lanes to the root |
//! | scatter | the root's lanes apart | |

use model::{Collective, Op, Rank};

use super::stage::{Move, Stage};
use super::stages::Staged;

/// The stages between islands with those inside before and after them.
pub(super) fn joined(mut staged: Staged) -> Staged {
    use Collective::{AllGather, AllReduce, AllToAll, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
    let collective = staged.lanes.collective;
    let before = match collective {
        AllReduce | ReduceScatter | Reduce => sums_of_lanes(&staged),
        Broadcast | Scatter => root_lanes_apart(&staged),
        AllGather | AllToAll | Gather => Vec::new(),
    };
    let after = match collective {
        AllReduce | AllGather | Broadcast => lanes_to_all(&staged),
        Reduce | Gather => lanes_to_root(&staged),
        ReduceScatter | AllToAll | Scatter => Vec::new(),
    };
    if collective == AllToAll {
        let own = blocks_of_islands(&staged);
        match staged.stages.first_mut() {
            Some(first) => first.moves.extend(own),
            None => staged.stages.push(Stage { topology: None, moves: own }),
        }
    }
    let stage = |moves: Vec<Move>| (!moves.is_empty()).then_some(Stage { topology: None, moves });
    if let Some(before) = stage(before) {
        staged.stages.insert(0, before);
    }
    staged.stages.extend(stage(after));
    staged
}

/// Every pair of GPUs of every island.
pub(super) fn pairs(staged: &Staged) -> impl Iterator<Item = (Rank, u32, u32)> + use<> {
    let islands = staged.lanes.islands;
    let of_island = move |island| {
        (0..islands.gpus)
            .flat_map(move |from| (0..islands.gpus).filter(move |to| *to != from).map(move |to| (island, from, to)))
    };
    (0..islands.count).flat_map(of_island)
}

fn sums_of_lanes(staged: &Staged) -> Vec<Move> {
    staged.representatives(pairs(staged).map(|(g, from, to)| staged.inside(g, (from, to), Op::Reduce, to)))
}

fn lanes_to_all(staged: &Staged) -> Vec<Move> {
    staged.representatives(pairs(staged).map(|(g, from, to)| staged.inside(g, (from, to), Op::Copy, from)))
}

/// The root's island, and its lane there.
fn root_of(staged: &Staged) -> (Rank, u32) {
    (staged.lanes.root / staged.lanes.islands.gpus, staged.lanes.root % staged.lanes.islands.gpus)
}

fn others(staged: &Staged) -> impl Iterator<Item = u32> + use<> {
    let (_, own) = root_of(staged);
    (0..staged.lanes.islands.gpus).filter(move |&lane| lane != own)
}

fn root_lanes_apart(staged: &Staged) -> Vec<Move> {
    let (island, root) = root_of(staged);
    staged.representatives(others(staged).map(|lane| staged.inside(island, (root, lane), Op::Copy, lane)))
}

fn lanes_to_root(staged: &Staged) -> Vec<Move> {
    let (island, root) = root_of(staged);
    staged.representatives(others(staged).map(|lane| staged.inside(island, (lane, root), Op::Copy, lane)))
}

fn blocks_of_islands(staged: &Staged) -> Vec<Move> {
    let (islands, parts) = (staged.lanes.islands, staged.lanes.parts);
    staged.representatives(pairs(staged).map(|(island, from, to)| {
        let (src, dst) = (islands.rank(island, from), islands.rank(island, to));
        let first = (src * islands.ranks() + dst) * parts;
        Move::inside(src, dst, Op::Copy, (first..first + parts).collect())
    }))
}
