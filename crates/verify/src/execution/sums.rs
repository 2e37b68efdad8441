//! Collectives that reduce: per (rank, chunk), the ranks whose contribution is folded in.

use model::{Op, Step, Translations};

use super::contributors::{Found, Sum};
use super::findings::Findings;
use super::quotient::{Arrival, Quotient};

struct Write {
    orbit: usize,
    arrival: Arrival,
    sum: Sum,
}

pub(super) fn execute(quotient: &Quotient<'_>, steps: &[&Step], findings: &mut Findings) {
    let chunks = quotient.chunks;
    let ranks = chunks.members() as usize;
    let mut state: Vec<Vec<Sum>> =
        quotient.representatives.iter().map(|&rank| vec![Sum::One(rank); chunks.count() as usize]).collect();
    let mut writes: Vec<Write> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let mut found = Found::new(&quotient.group, ranks);
        quotient.arrivals(step, |arrival| {
            let (orbit, chunk, element) = quotient.locate(arrival.src, arrival.chunk);
            // Every rank contributes to every chunk, so that a sender always holds some sum.
            findings.held.expect(true, String::new);
            let sum = found.moved(&state[orbit][chunk], element);
            writes.push(Write { orbit: quotient.group.orbit(arrival.dst) as usize, arrival, sum });
        });
        writes.sort_by_key(|write| (write.orbit, write.arrival.chunk, write.arrival.src));
        for same in writes.chunk_by(|a, b| (a.orbit, a.arrival.chunk) == (b.orbit, b.arrival.chunk)) {
            interruption::check();
            let chunk = same[0].arrival.chunk as usize;
            let sum = &mut state[same[0].orbit][chunk];
            apply(index, same, sum, &quotient.group, &mut found, findings);
        }
        writes.clear();
    }
    for (&rank, sums) in quotient.representatives.iter().zip(&state) {
        interruption::check();
        for (chunk, sum) in sums.iter().enumerate().filter(|(chunk, _)| chunks.ends_at(rank, *chunk as u32)) {
            findings.postcondition.expect(*sum == Sum::All, || {
                let missing = sum.missing(ranks).unwrap_or_default();
                format!("rank {rank} ends with chunk {chunk} without the contribution of rank {missing}")
            });
        }
    }
}

/// Applies the writes of a step to one chunk of one rank, in the order of their senders. All of them reduce, or all
/// copy the same, or the first replaces what was there and the others are added to it.
fn apply(
    index: usize,
    same: &[Write],
    sum: &mut Sum,
    group: &Translations,
    found: &mut Found<'_>,
    findings: &mut Findings,
) {
    let Arrival { dst, chunk, op, src: first } = same[0].arrival;
    let mut summed = false;
    let stays_first = comes_first_everywhere(same, group);
    for write in same {
        let agrees = match (op, write.arrival.op) {
            (Op::Copy, Op::Copy) => write.sum == same[0].sum && !summed,
            (Op::Reduce, Op::Copy) => false,
            (Op::Copy, Op::Reduce) => stays_first,
            (Op::Reduce, Op::Reduce) => true,
        };
        findings.one_writer.expect(agrees, || {
            format!(
                "step {index}: ranks {first} and {} write chunk {chunk} of rank {dst} differently",
                write.arrival.src
            )
        });
        match write.arrival.op {
            Op::Copy => {
                findings.counted_once.expect(true, String::new);
                *sum = write.sum.clone();
            }
            Op::Reduce => {
                summed = true;
                let folded = found.joined(sum, &write.sum);
                findings.counted_once.expect(folded.is_ok(), || {
                    format!(
                        "step {index}: {} → {dst} counts the contribution of rank {} to chunk {chunk} twice",
                        write.arrival.src,
                        folded.as_ref().err().copied().unwrap_or_default()
                    )
                });
                if let Ok(folded) = folded {
                    *sum = folded;
                }
            }
        }
    }
}

/// Whether the copies come before the sums at all translates of the receiver: their senders' order may be another
/// there.
fn comes_first_everywhere(same: &[Write], group: &Translations) -> bool {
    let senders = |op: Op| same.iter().filter(move |write| write.arrival.op == op).map(|write| write.arrival.src);
    if senders(Op::Copy).next().is_none() || senders(Op::Reduce).next().is_none() {
        return true;
    }
    group.elements().into_iter().all(|element| {
        let moved = |op: Op| senders(op).map(|src| group.apply(element, src));
        moved(Op::Copy).max() < moved(Op::Reduce).min()
    })
}
