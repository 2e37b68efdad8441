//! Collectives that move data: per rank, the set of chunks that are there.

use fixedbitset::FixedBitSet;
use model::{Op, Step};

use super::findings::Findings;
use super::quotient::Quotient;

pub(super) fn execute(quotient: &Quotient<'_>, steps: &[&Step], findings: &mut Findings) {
    let chunks = quotient.chunks;
    let count = chunks.count() as usize;
    let mut present: Vec<FixedBitSet> = Vec::with_capacity(quotient.representatives.len());
    for &rank in &quotient.representatives {
        let mut held = FixedBitSet::with_capacity(count);
        held.extend((0..count).filter(|&chunk| chunks.starts_at(rank, chunk as u32)));
        present.push(held);
    }
    let mut arrived: Vec<(usize, u32)> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        quotient.arrivals(step, |arrival| {
            let (orbit, chunk, _) = quotient.locate(arrival.src, arrival.chunk);
            let held = findings.held.expect(present[orbit].contains(chunk), || {
                format!(
                    "step {index}: rank {} sends chunk {} to {} and does not hold it",
                    arrival.src, arrival.chunk, arrival.dst
                )
            });
            let copied = findings.counted_once.expect(arrival.op == Op::Copy, || {
                format!(
                    "step {index}: {} → {} reduces chunk {}, and {} reduces nothing",
                    arrival.src,
                    arrival.dst,
                    arrival.chunk,
                    chunks.collective().name()
                )
            });
            // A chunk has one content here, so writers cannot disagree.
            findings.one_writer.expect(true, String::new);
            if held && copied {
                arrived.push((quotient.group.orbit(arrival.dst) as usize, arrival.chunk));
            }
        });
        for (orbit, chunk) in arrived.drain(..) {
            present[orbit].insert(chunk as usize);
        }
    }
    for (&rank, held) in quotient.representatives.iter().zip(&present) {
        interruption::check();
        for chunk in (0..chunks.count()).filter(|&chunk| chunks.ends_at(rank, chunk)) {
            findings
                .postcondition
                .expect(held.contains(chunk as usize), || format!("rank {rank} ends without chunk {chunk}"));
        }
    }
}
