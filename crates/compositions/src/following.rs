//! Collectives with a root that follow the steps of one without.
//!
//! An AllReduce of which every buffer but the root's is nothing is a Broadcast: of its transfers those are left that
//! bring a chunk of the root's to a rank that lacks it. So is a scatter before the steps of an AllGather. A
//! ReduceScatter of the root's buffer alone is a Scatter, and backwards an AllGather to the root alone a Gather.
//! Circuits carry no more in any step than they did.

use model::{Chunks, Collective, Rank, Result, Schedule, Topology};

use crate::broadcast::rounds::Sets;
use crate::broadcast::spread::{Sends, Spread};
use crate::composition::Composition;
use crate::cutoffs::following::MOST_SENT;

/// The collective from or to `root` that follows a schedule on these topologies: a Broadcast or, on the circuits turned
/// round, a Reduce follows an AllReduce or an AllGather; a Scatter a ReduceScatter; a Gather an AllGather. `None` where
/// chunks are of several sizes or too many, and where a rank is sent a chunk twice in what is turned round. O(chunks
/// that the schedule sends).
///
/// # Errors
/// The errors of making steps and of turning topologies round.
pub fn following(
    schedule: &Schedule,
    topologies: Vec<Topology>,
    collective: Collective,
    root: Rank,
) -> Result<Option<Composition>> {
    if collective == Collective::Gather {
        let forwards = Composition { schedule: schedule.clone(), topologies, over_circuits: false, routes: Vec::new() };
        let Some(backwards) = forwards.reversed()? else { return Ok(None) };
        let scatter = following(&backwards.schedule, backwards.topologies, Collective::Scatter, root)?;
        return scatter.map_or(Ok(None), |scatter| scatter.reversed());
    }
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
    let spread = Spread { parts, steps, topologies };
    if collective == Collective::Scatter {
        let of_block = chunks.parts().unwrap_or(1);
        return Ok(Some(spread.of(Chunks::rooted(collective, ranks, root, of_block)?)?));
    }
    let broadcast = spread.composition(ranks, root)?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape, Step};

    use super::*;
    use crate::{Libraries, compositions};

    fn fabric(gpus: u32, ports: u32) -> Fabric {
        Fabric {
            shape: Shape::new(gpus, &[], ports).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 5e-7,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationPolicy::constant(1e-6),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        }
    }

    /// Chunks by pair.
    fn sent(step: &Step, chunks: &Chunks) -> BTreeMap<(Rank, Rank), usize> {
        let mut sent = BTreeMap::new();
        for transfer in step.expanded(chunks) {
            *sent.entry((transfer.src, transfer.dst)).or_default() += transfer.chunks.len();
        }
        sent
    }

    /// Whether each step, in order, is one of `before` with no pair that exchanges more: steps that bring nothing are
    /// left out.
    fn carries_no_more(steps: &[Step], chunks: &Chunks, before: &Schedule) -> bool {
        let mut left = before.steps().iter();
        steps.iter().all(|step| {
            let now = sent(step, chunks);
            left.any(|other| {
                let other = sent(other, before.chunks());
                now.iter().all(|(pair, chunks)| other.get(pair) >= Some(chunks))
            })
        })
    }

    /// Shares follow whatever is composed for all ranks, from any root and to it.
    #[test]
    fn shares_reach_their_ranks_or_the_root_and_no_pair_carries_more() {
        let libraries = Libraries::default();
        let pairs = [(Collective::ReduceScatter, Collective::Scatter), (Collective::AllGather, Collective::Gather)];
        for (gpus, ports, root) in [(12, 1, 5), (16, 2, 0), (9, 2, 8), (24, 3, 7), (19, 4, 18)] {
            for (blocks, collective) in pairs {
                let all = Chunks::even(blocks, gpus, 1).unwrap();
                let found = compositions(&libraries, &all, &fabric(gpus, ports), CostSettings::default(), 1 << 18);
                let mut number = 0;
                for composition in found.unwrap() {
                    let topologies = composition.topologies.clone();
                    let followed = following(&composition.schedule, topologies, collective, root).unwrap();
                    let Some(followed) = followed else { continue };
                    number += 1;
                    let chunks = followed.schedule.chunks();
                    assert_eq!((chunks.collective(), chunks.root()), (collective, Some(root)));
                    let report = verify::schedule(&followed.schedule);
                    assert!(report.first_failure().is_none(), "{gpus} {ports} {:?}", report.first_failure());
                    assert!(
                        carries_no_more(followed.schedule.steps(), chunks, &composition.schedule),
                        "{gpus} {ports}"
                    );
                }
                assert!(number > 0, "{gpus} {ports} {}", blocks.name());
            }
        }
    }

    /// Whatever is composed for blocks is followed from any root, and to it: every rank ends with the root's buffer or
    /// the root with all sums, and no pair exchanges more in a step than it did.
    #[test]
    fn all_ranks_get_the_roots_buffer_and_no_pair_carries_more() {
        let libraries = Libraries::default();
        for (gpus, ports, root) in [(12, 1, 5), (16, 2, 0), (9, 2, 8), (24, 3, 7), (19, 4, 18)] {
            for blocks in [Collective::AllReduce, Collective::AllGather] {
                let all = Chunks::even(blocks, gpus, 1).unwrap();
                let fabric = fabric(gpus, ports);
                let found = compositions(&libraries, &all, &fabric, CostSettings::default(), 1 << 18).unwrap();
                assert!(!found.is_empty());
                for composition in found {
                    for collective in [Collective::Broadcast, Collective::Reduce] {
                        let topologies = composition.topologies.clone();
                        let followed = following(&composition.schedule, topologies, collective, root).unwrap().unwrap();
                        assert_eq!(followed.schedule.chunks().root(), Some(root));
                        let report = verify::schedule(&followed.schedule);
                        assert!(report.first_failure().is_none(), "{gpus} {ports} {:?}", report.first_failure());
                    }
                    let topologies = composition.topologies.clone();
                    let followed = following(&composition.schedule, topologies, Collective::Broadcast, root);
                    let followed = followed.unwrap().unwrap().schedule;
                    let scattered = usize::from(blocks == Collective::AllGather);
                    let steps = &followed.steps()[scattered..];
                    assert!(carries_no_more(steps, followed.chunks(), &composition.schedule), "{gpus} {ports}");
                }
            }
        }
    }
}
