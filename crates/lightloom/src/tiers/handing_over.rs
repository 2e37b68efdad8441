//! An AllReduce whose data waits at the GPUs that have the circuits: what an island sends in the first step between
//! islands, once and never again, is summed where its circuit begins, in place of its lane; what it gets in the last is
//! copied from where its circuit ends. So it takes a hop less through the switch there and back.

use std::collections::BTreeMap;

use model::{Op, Rank, Result, RoutedPath};

use super::merging::{from, is_open, needed_after_first, to, transfers};
use super::stage::{Move, Stage};
use super::stages::Staged;

/// By lane and chunk, the GPU of the island at which it is in place of the lane.
type Holders = BTreeMap<(Rank, u32), Rank>;

/// The stages between islands with those inside before and after, which hand over where circuits are; `None` where that
/// cannot be.
///
/// # Errors
/// More chunks than there may be.
pub(super) fn handed_over(staged: &Staged) -> Result<Option<Staged>> {
    if !is_open(staged) {
        return Ok(None);
    }
    let gpus = staged.lanes.islands.gpus;
    let (needed, chunks) = (needed_after_first(staged)?, staged.lanes.chunks(1)?);
    let end_of = |stage: usize, end: fn(&model::Transfer) -> Rank| -> Result<BTreeMap<(Rank, u32), u32>> {
        let mut times = BTreeMap::new();
        for one in transfers(staged, stage)? {
            one.chunks.iter().for_each(|&chunk| *times.entry((end(&one), chunk)).or_insert(0) += 1);
        }
        Ok(times)
    };
    let (sent, received) = (end_of(0, |one| one.src)?, end_of(staged.stages.len() - 1, |one| one.dst)?);
    let mut stages = staged.stages.clone();
    let mut summed_at = Holders::new();
    for one in stages.iter_mut().take(1).flat_map(|first| &mut first.moves) {
        let src = one.transfer.src;
        let is_free = |chunk: &u32| sent.get(&(src, *chunk)) == Some(&1) && needed.get(&(src, *chunk)) == Some(&false);
        let crossing = crossing(&one.paths, gpus);
        if let Some((transmitter, _)) = crossing.filter(|_| one.transfer.chunks.iter().all(is_free)) {
            summed_at.extend(one.transfer.chunks.iter().map(|&chunk| ((src, chunk), transmitter)));
            *one = from(one, transmitter, gpus);
        }
    }
    let mut copied_from = Holders::new();
    for one in stages.last_mut().into_iter().flat_map(|last| &mut last.moves) {
        let dst = one.transfer.dst;
        let translated = |element: u32, chunk: u32| {
            (staged.group.apply(element, dst), chunks.translate(&staged.group, element, chunk))
        };
        let is_free = |chunk: &u32| received.get(&translated(0, *chunk)) == Some(&1);
        let crossing = crossing(&one.paths, gpus);
        if let Some((_, receiver)) = crossing.filter(|_| one.transfer.chunks.iter().all(is_free)) {
            for element in staged.group.elements() {
                let receiver = staged.group.apply(element, receiver);
                copied_from.extend(one.transfer.chunks.iter().map(|&chunk| (translated(element, chunk), receiver)));
            }
            *one = to(one, receiver, gpus);
        }
    }
    let stage = |moves| Stage { topology: None, moves };
    stages.insert(0, stage(inside(staged, &summed_at, Op::Reduce)));
    stages.push(stage(inside(staged, &copied_from, Op::Copy)));
    let (lanes, group, topologies) = (staged.lanes, staged.group.clone(), staged.topologies.clone());
    Ok(Some(Staged { lanes, group, topologies, stages, name: staged.name.clone() }))
}

/// The ends of the circuits by which paths leave and enter islands, where there is but one path.
fn crossing(paths: &[RoutedPath], gpus: u32) -> Option<(Rank, Rank)> {
    let [path] = paths else { return None };
    let crosses = |hop: &&[Rank]| hop[0] / gpus != hop[1] / gpus;
    let leaves = path.nodes.windows(2).find(crosses)?;
    let enters = path.nodes.windows(2).rfind(crosses)?;
    Some((leaves[0], enters[1]))
}

/// Sums of all GPUs of an island at holders of chunks, or copies from these, for one island of each orbit.
fn inside(staged: &Staged, holders: &Holders, op: Op) -> Vec<Move> {
    let islands = staged.lanes.islands;
    let mut moves = Vec::new();
    for island in (0..islands.count).filter(|&island| staged.group.canonical(islands.rank(island, 0)).1 == 0) {
        let mut held: BTreeMap<Rank, Vec<u32>> = BTreeMap::new();
        for lane in 0..islands.gpus {
            let rank = islands.rank(island, lane);
            for chunk in staged.lanes.of_lane(lane) {
                held.entry(holders.get(&(rank, chunk)).copied().unwrap_or(rank)).or_default().push(chunk);
            }
        }
        for (holder, chunks) in held {
            let others = (0..islands.gpus).map(|gpu| islands.rank(island, gpu)).filter(|&rank| rank != holder);
            moves.extend(others.map(|rank| match op {
                Op::Reduce => Move::inside(rank, holder, op, chunks.clone()),
                Op::Copy => Move::inside(holder, rank, op, chunks.clone()),
            }));
        }
    }
    moves
}
