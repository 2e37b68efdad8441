//! Broadcasts that follow the steps of an AllReduce or an AllGather.
//!
//! An AllReduce of which every buffer but the root's is nothing is a Broadcast: of its transfers those are left that
//! bring a chunk of the root's to a rank that lacks it. So is a scatter before the steps of an AllGather. Circuits carry
//! no more in any step than they did.

use model::{Chunks, Collective, Rank, Result, Schedule, Topology};

use super::rounds::Sets;
use super::spread::{Sends, Spread};
use crate::composition::Composition;
use crate::cutoffs::broadcast_following::MOST_SENT;

/// The Broadcast from `root`, or the Reduce to it on the circuits turned round, that follows a schedule of blocks on
/// these topologies; `None` where chunks are of several sizes or too many. O(chunks that the schedule sends).
///
/// # Errors
/// The errors of making steps and of turning topologies round.
pub fn following(
    schedule: &Schedule,
    topologies: Vec<Topology>,
    collective: Collective,
    root: Rank,
) -> Result<Option<Composition>> {
    let (chunks, ranks) = (schedule.chunks(), schedule.ranks());
    let Some(parts) = chunks.per_buffer().filter(|&parts| u64::from(parts) * u64::from(ranks) <= MOST_SENT) else {
        return Ok(None);
    };
    let (mut held, mut after) = {
        let mut held = Sets::new(ranks, parts);
        (0..parts).for_each(|part| held.insert(root, part));
        (held.clone(), held)
    };
    let mut steps: Vec<Sends> = Vec::new();
    if chunks.collective() == Collective::AllGather {
        steps.push(scatter(chunks, root));
        let sent = steps.iter().flatten();
        sent.for_each(|((_, dst), parts)| parts.iter().for_each(|&part| after.insert(*dst, part)));
        held.clone_from(&after);
    }
    for step in schedule.steps() {
        interruption::check();
        let mut sends = Sends::new();
        for transfer in step.expanded(chunks) {
            let (src, dst) = (transfer.src, transfer.dst);
            for part in transfer.chunks {
                if held.has(src, part) && !after.has(dst, part) {
                    after.insert(dst, part);
                    sends.entry((src, dst)).or_default().push(part);
                }
            }
        }
        held.clone_from(&after);
        if !sends.is_empty() {
            steps.push(sends);
        }
    }
    let broadcast = Spread { parts, steps, topologies }.composition(ranks, root)?;
    if collective == Collective::Reduce { broadcast.reversed() } else { Ok(Some(broadcast)) }
}

/// Every rank's own chunks to it.
fn scatter(chunks: &Chunks, root: Rank) -> Sends {
    let mut sends = Sends::new();
    for part in 0..chunks.count() {
        if let Some(owner) = chunks.first_rank(part).filter(|owner| *owner != root) {
            sends.entry((root, owner)).or_default().push(part);
        }
    }
    sends
}
