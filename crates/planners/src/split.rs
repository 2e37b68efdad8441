//! Steps with more peers per rank than ports, split into sub-steps that fit.

use std::collections::{BTreeMap, BTreeSet};

use model::{Chunks, Error, Rank, Result, Schedule, Step, Transfer};

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

/// Refuses a step in which some rank sends on what it receives. One transfer of each orbit sends for all that are like
/// it, so only what their senders receive is looked at.
fn check_independent(index: usize, step: &Step, chunks: &Chunks) -> Result<()> {
    let symmetry = step.symmetry();
    let senders: BTreeSet<Rank> = step.transfers().iter().map(|transfer| transfer.src).collect();
    let mut received: Vec<(Rank, u32)> = Vec::new();
    for element in symmetry.elements() {
        interruption::check();
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

/// Colours of the pairs of one orbit each: pairs of different orbits that meet at a rank meet at its orbit, whose pairs
/// are as many as the rank's, so a colouring of the quotient is one of all pairs and needs no more colours.
fn split(step: &Step, chunks: &Chunks, ports: u32) -> Result<Vec<Step>> {
    let symmetry = step.symmetry();
    let pairs: BTreeSet<(Rank, Rank)> = step.transfers().iter().map(|t| (t.src, t.dst)).collect();
    let orbits: Vec<(u32, u32)> = pairs.iter().map(|&(src, dst)| (symmetry.orbit(src), symmetry.orbit(dst))).collect();
    let colours = colour_edges(symmetry.orbits(), step.traffic().degree(), &orbits);
    let colours: BTreeMap<(Rank, Rank), u32> = pairs.into_iter().zip(colours).collect();
    let mut groups: BTreeMap<u32, Vec<Transfer>> = BTreeMap::new();
    for transfer in step.transfers() {
        let colour = colours[&(transfer.src, transfer.dst)];
        groups.entry(colour / ports).or_default().push(transfer.clone());
    }
    groups.into_values().map(|group| Step::new(symmetry.clone(), group, chunks)).collect()
}

/// A proper colouring of the edges of a bipartite multigraph (senders left, receivers right) with `degree` colours, one
/// an edge, by alternating paths (König 1916). O(edges · nodes).
fn colour_edges(nodes: u32, degree: u32, edges: &[(u32, u32)]) -> Vec<u32> {
    let (n, d) = (nodes as usize, degree as usize);
    // at[side][node · d + colour]: the edge of that colour.
    let mut at = [vec![None::<usize>; n * d], vec![None::<usize>; n * d]];
    let end = |edge: usize, side: usize| if side == 0 { edges[edge].0 as usize } else { edges[edge].1 as usize };
    for edge in 0..edges.len() {
        interruption::check();
        let free = |at: &[Vec<Option<usize>>; 2], side: usize| {
            (0..d).find(|colour| at[side][end(edge, side) * d + colour].is_none()).unwrap_or(0)
        };
        let (at_src, at_dst) = (free(&at, 0), free(&at, 1));
        if at_src != at_dst {
            // Swap the two colours along the path from the receiver that begins with the colour free at the sender;
            // it cannot end at the sender, so that colour becomes free at both ends.
            let (mut side, mut node, mut colour) = (1, end(edge, 1), at_src);
            let mut path = Vec::new();
            while let Some(next) = at[side][node * d + colour] {
                path.push((next, colour));
                (side, node) = (1 - side, end(next, 1 - side));
                colour = at_src + at_dst - colour;
            }
            for &(next, colour) in &path {
                (0..2).for_each(|side| at[side][end(next, side) * d + colour] = None);
            }
            for &(next, colour) in &path {
                let other = at_src + at_dst - colour;
                (0..2).for_each(|side| at[side][end(next, side) * d + other] = Some(next));
            }
        }
        (0..2).for_each(|side| at[side][end(edge, side) * d + at_src] = Some(edge));
    }
    let mut colours = vec![0; edges.len()];
    for (place, edge) in at[0].iter().enumerate() {
        if let Some(edge) = *edge {
            colours[edge] = (place % d) as u32;
        }
    }
    colours
}

#[cfg(test)]
mod tests {
    use model::{Collective, Op, Translations};
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
        fn colours_form_matchings(edges in prop::collection::vec((0u32..12, 0u32..12), 1..80)) {
            let mut out = [0u32; 12];
            let mut into = [0u32; 12];
            for &(src, dst) in &edges {
                out[src as usize] += 1;
                into[dst as usize] += 1;
            }
            let degree = *out.iter().chain(&into).max().unwrap();
            let colours = colour_edges(12, degree, &edges);
            let senders: BTreeSet<(u32, u32)> = edges.iter().zip(&colours).map(|(&(src, _), &c)| (src, c)).collect();
            let receivers: BTreeSet<(u32, u32)> = edges.iter().zip(&colours).map(|(&(_, dst), &c)| (dst, c)).collect();
            prop_assert_eq!(senders.len(), edges.len());
            prop_assert_eq!(receivers.len(), edges.len());
            prop_assert!(colours.iter().all(|&colour| colour < degree));
        }

        /// With any symmetry, the sub-steps are as few as degree and ports allow, keep to the ports and send the
        /// same.
        #[test]
        fn sub_steps_keep_to_the_ports_and_send_what_the_step_sends(
            period in 0usize..6, ports in 1u32..4,
            sends in prop::collection::btree_set((0u32..12, 1u32..12), 1..20),
        ) {
            let chunks = Chunks::even(Collective::AllGather, 12, 1).unwrap();
            let period = [1, 2, 3, 4, 6, 12][period];
            let symmetry = Translations::periodic(12, period);
            let pairs: BTreeSet<(u32, u32)> = sends.iter().map(|(src, ahead)| (src % period, (src % period + ahead) % 12)).collect();
            let transfers = pairs.iter().map(|&(src, dst)| Transfer { src, dst, op: Op::Copy, chunks: vec![src] });
            let step = Step::new(symmetry.clone(), transfers, &chunks).unwrap();
            let parts = split(&step, &chunks, ports).unwrap();
            prop_assert!(parts.len() as u32 <= step.traffic().degree().div_ceil(ports));
            prop_assert!(parts.iter().all(|part| part.traffic().degree() <= ports && *part.symmetry() == symmetry));
            let mut sent: Vec<Transfer> = parts.iter().flat_map(|part| part.expanded(&chunks)).collect();
            sent.sort_by_key(|transfer| (transfer.src, transfer.dst));
            prop_assert_eq!(sent, step.expanded(&chunks));
        }
    }
}
