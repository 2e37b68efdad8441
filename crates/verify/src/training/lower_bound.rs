//! The lower bound, and the times of the policies next to it.

use std::collections::BTreeMap;

use model::{ByteMatrix, Collective, CostSettings, Fabric, Initial, Piece, Rank, Shape, Work};

use super::held_ports::all_ports_bps;
use super::iteration::{Iteration, show_apart};
use super::port_bytes;
use crate::report::{Check, Tally};

/// The policy that is a reference: its fabric is another one.
const REFERENCE: &str = "packet-switch";

/// Checks that the bound is at most the total and the time of every policy on this fabric; and that the plan's own
/// policy is among those with the plan's time.
pub(super) fn check(iteration: &Iteration<'_>) -> [Check; 2] {
    let training = iteration.training;
    let [mut bound, mut policies] = ["bound", "policies"].map(Tally::new);
    let bound_s = training.bound.seconds;
    bound.expect(bound_s.is_finite() && bound_s >= 0.0, || format!("{bound_s} s is not a time"));
    bound.expect(iteration.is_by(bound_s, iteration.total_s), || {
        let [stated, total] = show_apart([bound_s, iteration.total_s]);
        format!("stated as {stated}, and the iteration takes {total}")
    });
    let is_above = training.exact && !iteration.is_by(iteration.total_s, bound_s);
    let overlap = first_overlap(iteration).filter(|_| is_above);
    bound.expect(overlap.is_none(), || {
        let [one, other] = overlap.unwrap_or_default().map(|event| iteration.name(event));
        format!("`exact` is stated for a time above the bound, though {other} begins before {one} ends")
    });
    let mut times: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    for (policy, time_s) in &training.policies {
        policies.expect(times.insert(policy, *time_s).is_none(), || format!("`{policy}` is stated twice"));
        if let Some(time_s) = time_s.filter(|_| policy != REFERENCE) {
            policies.expect(iteration.is_by(bound_s, time_s), || {
                let [time, bound] = show_apart([time_s, bound_s]);
                format!("`{policy}` takes {time}, below the lower bound of {bound}")
            });
        }
    }
    let own_s = times.get(training.policy.as_str()).copied().flatten();
    policies.expect(own_s.is_some_and(|own_s| iteration.is_at(own_s, iteration.total_s)), || {
        let [own, total] = show_apart([own_s.unwrap_or(0.0), iteration.total_s]);
        let stated = own_s.map_or("without a time".into(), |_| format!("stated as {own}"));
        format!("`{}`, the plan's own policy, is {stated}, and the plan takes {total}", training.policy)
    });
    let unchecked = "; that no other choice of plans is faster, as `exact` says, was not checked";
    [
        bound.into_check(
            "comparison",
            &format!("of the lower bound with the iteration's time{}", if is_above { unchecked } else { "" }),
        ),
        policies.into_check("statement", "of the policies' times"),
    ]
}

/// An event that is not over when another one begins, and that other one.
fn first_overlap(iteration: &Iteration<'_>) -> Option<[usize; 2]> {
    let end_s = |event: usize| iteration.event(event).end_s;
    let pairs = iteration.order.windows(2).map(|pair| [pair[0], pair[1]]);
    pairs.into_iter().find(|&[one, other]| !iteration.is_by(end_s(one), iteration.event(other).start_s))
}

/// Checks that the bound is at most the largest of the longest chain, the busiest ports and the busiest rank;
/// `collective_s` says what a collective takes at least.
pub(super) fn check_terms(
    iteration: &Iteration<'_>,
    streams: &[Vec<(usize, Rank)>],
    collective_s: impl FnMut(Collective, Option<&[Piece]>, u64, &Fabric, CostSettings) -> f64,
) -> Check {
    let mut bound = Tally::new("recomputed-bound");
    let bound_s = iteration.training.bound.seconds;
    let chain_s = longest_chain_s(iteration, streams, collective_s);
    let terms = [chain_s, port_bytes::busiest_s(iteration.training), busiest_rank_s(iteration)];
    let known_s = terms.into_iter().fold(0.0, f64::max);
    bound.expect(iteration.is_by(bound_s, known_s), || {
        let [stated, chain, ports, rank] = show_apart([bound_s, terms[0], terms[1], terms[2]]);
        format!(
            "stated as {stated}; the longest chain takes {chain}, the busiest ports {ports}, the busiest rank {rank}"
        )
    });
    bound.into_check("comparison", "of the lower bound, which was recomputed")
}

/// The longest chain of dependencies and streams, every communication at its own bound on all ports.
fn longest_chain_s(
    iteration: &Iteration<'_>,
    streams: &[Vec<(usize, Rank)>],
    mut collective_s: impl FnMut(Collective, Option<&[Piece]>, u64, &Fabric, CostSettings) -> f64,
) -> f64 {
    let (training, workload) = (iteration.training, &iteration.training.workload);
    let fabric = &training.fabric;
    type Question = (Collective, Option<ByteMatrix>, u64, u32, CostSettings);
    let mut known: Vec<(Question, f64)> = Vec::new();
    let mut ends_s = vec![0.0_f64; workload.nodes.len()];
    for &event in &iteration.order {
        let takes_s = match iteration.work(event) {
            Work::Compute { duration_s, .. } => *duration_s,
            Work::Send { size_bytes, .. } => {
                fabric.startup_s + fabric.hop_delay_s + 8.0 * *size_bytes as f64 / all_ports_bps(fabric)
            }
            Work::Collective { collective, size_bytes, .. } => {
                let Some(plan) = iteration.plan(event) else { continue };
                let (matrix, gpus) = (workload.matrix_of(event), plan.fabric.shape.gpus());
                let question = (*collective, matrix, *size_bytes, gpus, plan.settings);
                let answer = known.iter().find(|(asked, _)| *asked == question).map(|(_, seconds)| *seconds);
                answer.unwrap_or_else(|| {
                    let pieces = question.1.as_ref().map(pieces_of);
                    let seconds = group_fabric(fabric, gpus).map_or(0.0, |group| {
                        collective_s(*collective, pieces.as_deref(), *size_bytes, &group, plan.settings)
                    });
                    known.push((question, seconds));
                    seconds
                })
            }
        };
        let after = workload.nodes[event].after.iter().chain(streams[event].iter().map(|(other, _)| other));
        ends_s[event] = after.map(|&other| ends_s[other]).fold(0.0, f64::max) + takes_s;
    }
    ends_s.into_iter().fold(0.0, f64::max)
}

/// The blocks of a matrix that are not empty.
fn pieces_of(matrix: &ByteMatrix) -> Vec<Piece> {
    let m = matrix.buffer_bytes() as f64;
    let blocks = matrix.rows().iter().enumerate().flat_map(|(src, row)| {
        row.iter().enumerate().map(move |(dst, &bytes)| Piece {
            src: src as Rank,
            dst: dst as Rank,
            share: bytes as f64 / m,
        })
    });
    blocks.filter(|piece| piece.share > 0.0).collect()
}

/// The fabric of a group of this many ranks, with all ports and free first circuits; a group has two ranks at least, so
/// that there is such a shape.
fn group_fabric(fabric: &Fabric, gpus: u32) -> Option<Fabric> {
    let shape = Shape::new(gpus, &[], fabric.shape.ports()).ok()?.with_rates(fabric.shape.rates().cloned());
    Some(Fabric { shape, initial: Initial::Free, ..fabric.clone() })
}

/// Computations of the rank that has most.
fn busiest_rank_s(iteration: &Iteration<'_>) -> f64 {
    let workload = &iteration.training.workload;
    let mut busy_s = vec![0.0_f64; workload.ranks as usize];
    for (node, found) in workload.nodes.iter().enumerate() {
        if let Work::Compute { duration_s, .. } = found.work {
            workload.ranks_of(node).into_iter().for_each(|rank| busy_s[rank as usize] += duration_s);
        }
    }
    busy_s.into_iter().fold(0.0, f64::max)
}
