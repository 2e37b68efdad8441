//! An AllReduce whose sums and copies inside islands are a part of the first and the last step between them.
//!
//! Every GPU of an island sends its own part of what the island's lane sends in the first step, to where the sums are
//! made; in the last step what a lane sends goes to every GPU of the island that gets it. Two steps fewer are paid for by
//! as many times the bytes on circuits as an island has GPUs, which is worth it for small buffers.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

use model::{Collective, Op, Rank, Result, Transfer};

use super::inside::pairs;
use super::stage::{Move, Stage, step_of};
use super::stages::Staged;

/// The stages between islands with what is sent inside them in the first and the last; `None` where that cannot be.
///
/// # Errors
/// More chunks than there may be.
pub(super) fn merged(staged: &Staged) -> Result<Option<Staged>> {
    if !is_open(staged) {
        return Ok(None);
    }
    let islands = staged.lanes.islands;
    let needed = needed_after_first(staged)?;
    let mut stages = staged.stages.clone();
    let own_island = |rank: Rank| rank / islands.gpus;
    if let Some(first) = stages.first_mut() {
        let from_all = |one: &Move| {
            let one = one.clone();
            (0..islands.gpus).map(move |gpu| from(&one, islands.rank(own_island(one.transfer.src), gpu), islands.gpus))
        };
        let between: Vec<Move> = first.moves.iter().flat_map(from_all).collect();
        let inside = pairs(staged).map(|(island, from, to)| {
            let held = |chunk: &u32| needed.get(&(islands.rank(island, to), *chunk)) != Some(&false);
            let sent = staged.lanes.of_lane(to).into_iter().filter(held).collect();
            Move::inside(islands.rank(island, from), islands.rank(island, to), Op::Reduce, sent)
        });
        first.moves = between.into_iter().chain(some(staged, inside)).collect();
    }
    let last = transfers(staged, staged.stages.len() - 1)?;
    let received: BTreeSet<(Rank, u32)> =
        last.iter().flat_map(|one| one.chunks.iter().map(|&chunk| (one.dst, chunk))).collect();
    if let Some(last) = stages.last_mut() {
        let to_all = |one: &Move| {
            let one = one.clone();
            (0..islands.gpus).map(move |gpu| to(&one, islands.rank(own_island(one.transfer.dst), gpu), islands.gpus))
        };
        let between: Vec<Move> = last.moves.iter().flat_map(to_all).collect();
        let inside = pairs(staged).map(|(island, from, to)| {
            let is_old = |chunk: &u32| !received.contains(&(islands.rank(island, from), *chunk));
            let sent = staged.lanes.of_lane(from).into_iter().filter(is_old).collect();
            Move::inside(islands.rank(island, from), islands.rank(island, to), Op::Copy, sent)
        });
        last.moves = between.into_iter().chain(some(staged, inside)).collect();
    }
    let (lanes, group, topologies) = (staged.lanes, staged.group.clone(), staged.topologies.clone());
    Ok(Some(Staged { lanes, group, topologies, stages, name: staged.name.clone() }))
}

/// Whether stages between islands are an AllReduce of lanes, each by itself, of which the first sums and the last copies.
pub(super) fn is_open(staged: &Staged) -> bool {
    let are_lanes_apart = (0..staged.lanes.islands.gpus).all(|lane| staged.group.canonical(lane).1 == 0);
    let has_only =
        |stage: Option<&Stage>, op| stage.is_some_and(|stage| stage.moves.iter().all(|one| one.transfer.op == op));
    staged.lanes.collective == Collective::AllReduce
        && staged.stages.len() > 1
        && are_lanes_apart
        && has_only(staged.stages.first(), Op::Reduce)
        && has_only(staged.stages.last(), Op::Copy)
}

/// The moves that have chunks, one of each orbit of the islands' symmetry.
fn some(staged: &Staged, moves: impl Iterator<Item = Move>) -> Vec<Move> {
    staged.representatives(moves.filter(|one| !one.transfer.chunks.is_empty()))
}

/// All transfers of a stage.
pub(super) fn transfers(staged: &Staged, stage: usize) -> Result<Vec<Transfer>> {
    let chunks = staged.lanes.chunks(1)?;
    let (step, _) = step_of(once((&staged.stages[stage], 0..1)), (&staged.group, &chunks, 1))?;
    Ok(step.expanded(&chunks))
}

/// By rank and chunk, whether what a rank has of it is sent or added to after the first stage, before another copy takes
/// its place. What is not in it is part of the result.
pub(super) fn needed_after_first(staged: &Staged) -> Result<BTreeMap<(Rank, u32), bool>> {
    let mut needed = BTreeMap::new();
    for stage in 1..staged.stages.len() {
        let all = transfers(staged, stage)?;
        let of = |end: fn(&Transfer) -> Rank| {
            all.iter().flat_map(move |one| one.chunks.iter().map(move |&chunk| ((end(one), chunk), one.op)))
        };
        for (at, _) in of(|one| one.src) {
            needed.entry(at).or_insert(true);
        }
        for (at, op) in of(|one| one.dst) {
            needed.entry(at).or_insert(op == Op::Reduce);
        }
    }
    Ok(needed)
}

/// A move that begins at another GPU of the island, on the circuits that it has.
pub(super) fn from(one: &Move, rank: Rank, gpus: u32) -> Move {
    let begun = |nodes: &[Rank]| {
        let leaves = nodes.windows(2).position(|hop| hop[0] / gpus != hop[1] / gpus).unwrap_or(0);
        let first = (nodes[leaves] != rank).then_some(rank);
        first.into_iter().chain(nodes[leaves..].iter().copied()).collect()
    };
    let mut moved = one.clone();
    moved.transfer.src = rank;
    moved.paths.iter_mut().for_each(|path| path.nodes = begun(&path.nodes));
    moved
}

/// A move that ends at another GPU of the island, on the circuits that it has.
pub(super) fn to(one: &Move, rank: Rank, gpus: u32) -> Move {
    let ended = |nodes: &[Rank]| {
        let enters =
            nodes.windows(2).rposition(|hop| hop[0] / gpus != hop[1] / gpus).map_or(nodes.len() - 1, |at| at + 1);
        let last = (nodes[enters] != rank).then_some(rank);
        nodes[..=enters].iter().copied().chain(last).collect()
    };
    let mut moved = one.clone();
    moved.transfer.dst = rank;
    moved.paths.iter_mut().for_each(|path| path.nodes = ended(&path.nodes));
    moved
}
