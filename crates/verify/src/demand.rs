//! What a step asks of the fabric, recomputed from its transfers: m_i, and who sends how much to whom.

use std::collections::BTreeMap;

use model::{Plan, Rank, Step};

use crate::report::{Check, Tally, agree};

/// Checks `transfer_bytes` of every step (to 1e-12) and the traffic that its paths will be held against.
pub(crate) fn check(plan: &Plan) -> [Check; 2] {
    let mut bytes = Tally::new("transfer-bytes");
    let mut traffic = Tally::new("traffic");
    for (index, step) in plan.steps.iter().enumerate() {
        let amounts = amounts_of(&step.step, plan);
        let largest = amounts.values().copied().fold(0.0, f64::max);
        let expected = largest * plan.size_bytes as f64;
        bytes.expect(agree(step.transfer_bytes, expected, 1e-12), || {
            format!("step {index}: m_i is stated as {} bytes, its largest transfer has {expected}", step.transfer_bytes)
        });
        check_pattern(index, &step.step, &amounts, largest, &mut traffic);
    }
    [bytes.into_check("steps with the stated bytes per transfer"), traffic.into_check("arcs carry what is transferred")]
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
        for (&(src, dst), amount) in amounts {
            let (src, dst) = (step.symmetry().apply(coset, src), step.symmetry().apply(coset, dst));
            let (start, element) = both.canonical(src);
            expected.insert((start, both.apply(both.inverse(element), dst)), amount / largest);
        }
    }
    let arcs = step.traffic().arcs_under(&both);
    tally.expect(arcs.len() == expected.len(), || {
        format!("step {index}: {} pairs exchange data, its traffic has {} arcs", expected.len(), arcs.len())
    });
    for arc in arcs {
        let weight = expected.get(&(arc.src, arc.dst)).copied().unwrap_or(0.0);
        tally.expect(agree(arc.weight, weight, 1e-12), || {
            format!(
                "step {index}: arc {} → {} has weight {}, its transfers make {weight}",
                arc.src, arc.dst, arc.weight
            )
        });
    }
}
