//! Steps with more peers per rank than ports, split into sub-steps that fit.

use std::collections::{BTreeMap, BTreeSet};

use model::{Chunks, Error, Rank, Result, Schedule, Step, Transfer, Translations};

/// The schedule with every step of degree above `ports` split into ⌈degree / ports⌉ sub-steps in which no
/// rank has more than `ports` peers: transfers are coloured so that equal colours form a matching (König:
/// as many colours as the degree suffice), and `ports` colours go into a sub-step.
///
/// # Errors
/// A step in which some rank sends on what it receives in the same step, since sub-steps would mix the two.
pub fn split_steps(schedule: &Schedule, ports: u32) -> Result<Schedule> {
    if !splits_steps(schedule, ports) {
        return Ok(schedule.clone());
    }
    let mut steps = Vec::new();
    for (index, step) in schedule.steps().iter().enumerate() {
        if step.traffic().degree() <= ports {
            steps.push(step.clone());
            continue;
        }
        check_independent(index, step, schedule.chunks())?;
        steps.extend(split(step, schedule.chunks(), ports)?);
    }
    Schedule::new(schedule.algorithm(), schedule.chunks().clone(), steps)
}

/// Whether some step has more peers than ports, so that [`split_steps`] splits it.
pub(crate) fn splits_steps(schedule: &Schedule, ports: u32) -> bool {
    schedule.steps().iter().any(|step| step.traffic().degree() > ports)
}

/// Refuses a step in which some rank sends on what it receives. One transfer of each orbit sends for all that are like it,
/// so only what their senders receive is looked at.
fn check_independent(index: usize, step: &Step, chunks: &Chunks) -> Result<()> {
    let symmetry = step.symmetry();
    let senders: BTreeSet<Rank> = step.transfers().iter().map(|transfer| transfer.src).collect();
    let mut received: Vec<(Rank, u32)> = Vec::new();
    for element in symmetry.elements() {
        for transfer in step.transfers() {
            let dst = symmetry.apply(element, transfer.dst);
            if senders.contains(&dst) {
                let there = transfer.chunks.iter().map(|&chunk| chunks.translate(symmetry, element, chunk));
                received.extend(there.map(|chunk| (dst, chunk)));
            }
        }
    }
    received.sort_unstable();
    let mut sent = step.transfers().iter().flat_map(|t| t.chunks.iter().map(|&chunk| (t.src, chunk)));
    match sent.find(|sent| received.binary_search(sent).is_ok()) {
        None => Ok(()),
        Some((rank, chunk)) => Err(Error::infeasible(
            "planner",
            format!("step {} cannot be split: rank {rank} both sends and receives chunk {chunk} in it", index + 1),
        )),
    }
}

fn split(step: &Step, chunks: &Chunks, ports: u32) -> Result<Vec<Step>> {
    let degree = step.traffic().degree();
    let peers: BTreeSet<(Rank, Rank)> = step.transfers().iter().map(|t| (t.src, t.dst)).collect();
    let (symmetry, transfers, colours) = if step.symmetry().is_transitive() {
        // Every representative is a matching by itself.
        let colours = peers.into_iter().zip(0..).collect();
        (step.symmetry().clone(), step.transfers().to_vec(), colours)
    } else {
        let transfers = step.expanded(chunks);
        let pairs: BTreeSet<(Rank, Rank)> = transfers.iter().map(|t| (t.src, t.dst)).collect();
        let ranks = step.symmetry().ranks();
        (Translations::trivial(ranks), transfers, colour_edges(ranks, degree, &pairs))
    };
    let mut groups: BTreeMap<u32, Vec<Transfer>> = BTreeMap::new();
    for transfer in transfers {
        let colour = colours[&(transfer.src, transfer.dst)];
        groups.entry(colour / ports).or_default().push(transfer);
    }
    groups.into_values().map(|group| Step::new(symmetry.clone(), group, chunks)).collect()
}

/// A proper edge colouring of the bipartite graph of `pairs` (senders left, receivers right) with `degree`
/// colours, by alternating paths (König 1916). O(pairs · ranks).
fn colour_edges(ranks: u32, degree: u32, pairs: &BTreeSet<(Rank, Rank)>) -> BTreeMap<(Rank, Rank), u32> {
    let (n, d) = (ranks as usize, degree as usize);
    // at[side][node · d + colour]: the neighbour across the edge of that colour.
    let mut at = [vec![None::<usize>; n * d], vec![None::<usize>; n * d]];
    for &(src, dst) in pairs {
        let (src, dst) = (src as usize, dst as usize);
        let free = |at: &[Vec<Option<usize>>; 2], side: usize, node: usize| {
            (0..d).find(|colour| at[side][node * d + colour].is_none()).unwrap_or(0)
        };
        let (at_src, at_dst) = (free(&at, 0, src), free(&at, 1, dst));
        if at_src != at_dst {
            // Swap the two colours along the path from `dst` that begins with the colour free at `src`;
            // it cannot end at `src`, so that colour becomes free at both ends.
            let (mut side, mut node, mut colour) = (1, dst, at_src);
            let mut path = Vec::new();
            while let Some(next) = at[side][node * d + colour] {
                path.push((side, node, next, colour));
                (side, node) = (1 - side, next);
                colour = at_src + at_dst - colour;
            }
            for &(side, node, next, colour) in &path {
                at[side][node * d + colour] = None;
                at[1 - side][next * d + colour] = None;
            }
            for &(side, node, next, colour) in &path {
                let other = at_src + at_dst - colour;
                at[side][node * d + other] = Some(next);
                at[1 - side][next * d + other] = Some(node);
            }
        }
        at[0][src * d + at_src] = Some(dst);
        at[1][dst * d + at_src] = Some(src);
    }
    let mut colours = BTreeMap::new();
    for src in 0..n {
        for colour in 0..d {
            if let Some(dst) = at[0][src * d + colour] {
                colours.insert((src as Rank, dst as Rank), colour as u32);
            }
        }
    }
    colours
}

#[cfg(test)]
mod tests {
    use model::{Collective, Op};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_sent_on_is_found_as_among_all_transfers(
            period in 1u32..7,
            sends in prop::collection::vec((0u32..6, 1u32..6, prop::collection::btree_set(0u32..6, 1..4)), 1..4),
        ) {
            let chunks = Chunks::even(Collective::AllGather, 6, 1).unwrap();
            let period = [1, 2, 3, 6][period as usize % 4];
            let symmetry = Translations::periodic(6, period);
            let transfers = sends.iter().map(|(src, ahead, sent)| Transfer {
                src: src % period,
                dst: (src % period + ahead) % 6,
                op: Op::Copy,
                chunks: sent.iter().copied().collect(),
            });
            let Ok(step) = Step::new(symmetry, transfers, &chunks) else { return Ok(()) };
            let all = step.expanded(&chunks);
            let mixes = all.iter().any(|one| {
                let arrives = |chunk: &u32| all.iter().any(|other| other.dst == one.src && other.chunks.contains(chunk));
                one.chunks.iter().any(arrives)
            });
            prop_assert_eq!(check_independent(0, &step, &chunks).is_err(), mixes);
        }

        #[test]
        fn colours_form_matchings(pairs in prop::collection::btree_set((0u32..12, 0u32..12), 1..80)) {
            let mut out = [0u32; 12];
            let mut into = [0u32; 12];
            for &(src, dst) in &pairs {
                out[src as usize] += 1;
                into[dst as usize] += 1;
            }
            let degree = *out.iter().chain(&into).max().unwrap();
            let colours = colour_edges(12, degree, &pairs);
            prop_assert_eq!(colours.len(), pairs.len());
            let senders: BTreeSet<(u32, u32)> = colours.iter().map(|(&(src, _), &c)| (src, c)).collect();
            let receivers: BTreeSet<(u32, u32)> = colours.iter().map(|(&(_, dst), &c)| (dst, c)).collect();
            prop_assert_eq!(senders.len(), pairs.len());
            prop_assert_eq!(receivers.len(), pairs.len());
            prop_assert!(colours.values().all(|&colour| colour < degree));
        }
    }
}
