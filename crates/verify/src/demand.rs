//! The demand of a step on the fabric, recomputed from its transfers: m_i, and who sends how much to whom.

use std::collections::BTreeMap;

use model::{Piece, Plan, Rank, Step};

use crate::report::{Check, Tally, agree};

/// Checks `transfer_bytes` of every step (to 1e-12), that pieces are shares of m, and the traffic that its paths will
/// be held against.
pub(crate) fn check(plan: &Plan) -> [Check; 2] {
    let mut bytes = Tally::new("transfer-bytes");
    let mut traffic = Tally::new("traffic");
    for (index, step) in plan.steps.iter().enumerate() {
        let amounts = amounts_of(&step.step, plan);
        let largest = amounts.values().copied().fold(0.0, f64::max);
        let expected = largest * plan.size_bytes as f64;
        bytes.expect(agree(step.transfer_bytes, expected, 1e-12), || {
            format!(
                "step {index}: transfer_bytes is stated as {}, and the largest transfer has {expected} bytes",
                step.transfer_bytes
            )
        });
        check_pattern(index, &step.step, &amounts, largest, &mut traffic);
    }
    if let Some(pieces) = plan.chunks.as_pieces() {
        check_sums(pieces, &mut bytes);
    }
    [
        bytes.into_check("step", "with the stated bytes per transfer"),
        traffic.into_check("traffic entry", "with the ranks and bytes of the transfers"),
    ]
}

/// Bytes over m per (src, dst), one pair per orbit of the step's symmetry.
fn amounts_of(step: &Step, plan: &Plan) -> BTreeMap<(Rank, Rank), f64> {
    let mut amounts = BTreeMap::new();
    for transfer in step.transfers() {
        let amount = match plan.chunks.per_buffer() {
            Some(per_buffer) => transfer.chunks.len() as f64 / f64::from(per_buffer),
            None => transfer.chunks.iter().map(|&chunk| plan.chunks.share(chunk)).sum(),
        };
        *amounts.entry((transfer.src, transfer.dst)).or_insert(0.0) += amount;
    }
    amounts
}

fn check_pattern(index: usize, step: &Step, amounts: &BTreeMap<(Rank, Rank), f64>, largest: f64, tally: &mut Tally) {
    let both = step.symmetry().meet(step.traffic().symmetry());
    let mut expected: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
    for coset in step.symmetry().cosets(&both) {
        interruption::check();
        for (&(src, dst), amount) in amounts {
            let (src, dst) = (step.symmetry().apply(coset, src), step.symmetry().apply(coset, dst));
            let (start, element) = both.canonical(src);
            expected.insert((start, both.apply(both.inverse(element), dst)), amount / largest);
        }
    }
    let arcs = step.traffic().arcs_under(&both);
    tally.expect(arcs.len() == expected.len(), || {
        format!("step {index}: {} pairs exchange data, and the traffic has {} entries", expected.len(), arcs.len())
    });
    for arc in arcs {
        let weight = expected.get(&(arc.src, arc.dst)).copied().unwrap_or(0.0);
        tally.expect(agree(arc.weight, weight, 1e-12), || {
            format!(
                "step {index}: the traffic {} → {} has weight {}, and the transfers make it {weight}",
                arc.src, arc.dst, arc.weight
            )
        });
    }
}

/// Pieces are shares of m, the largest sum of bytes that one rank has to send or to receive.
fn check_sums(pieces: &[Piece], tally: &mut Tally) {
    let mut sums: BTreeMap<(&str, Rank), f64> = BTreeMap::new();
    for piece in pieces {
        *sums.entry(("from", piece.src)).or_insert(0.0) += piece.share;
        *sums.entry(("to", piece.dst)).or_insert(0.0) += piece.share;
    }
    for ((direction, rank), sum) in sums {
        tally.expect(sum <= 1.0 + 1e-9, || {
            format!("shares of the pieces {direction} rank {rank} add up to {sum}, more than 1")
        });
    }
}
