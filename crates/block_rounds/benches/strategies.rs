//! Times of whole searches: every number of topologies, priced.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up fails")]

use lightloom_block_rounds::{Blocks, Prices, best, best_for_blocks, circulant, degree_one, workloads};
use model::{Initial, ReconfigurationDelay, Shape};
use ratio::{median_s, report, report_alone};

fn main() {
    for n in [64, 512, 4096] {
        report_alone(&format!("shifts of {n} ranks, all numbers of topologies"), median_s(3, || degree_one::shifts(n)));
    }
    for (n, ports) in [(64, 1), (64, 2), (128, 2)] {
        let shape = Shape::new(n, &[], ports).unwrap();
        let reconfiguration = ReconfigurationDelay::constant(1e-5);
        let prices = Prices { hop_s: 4.1e-5, reconfiguration: &reconfiguration, initial: &Initial::Free };
        report_alone(
            &format!("best of {n} ranks, {ports} ports"),
            median_s(3, || best(&shape, &prices, f64::INFINITY).unwrap()),
        );
    }
    let base_s = median_s(3, || circulant(64, 2).unwrap());
    let all_s = median_s(3, || {
        let mut sequence = circulant(64, 2).unwrap();
        while sequence.contract().unwrap() {}
        sequence
    });
    report("64 ranks, 2 ports: the circulant base", base_s, "all numbers of topologies", all_s);
    let matrix = workloads::zipf(64, 32e6, 0.4, 1);
    let shape = Shape::new(64, &[], 2).unwrap();
    let blocks = Blocks { matrix: &matrix, hop_s: &|bytes| 1e-6 + bytes * 1e-11 };
    let sized_s = median_s(3, || {
        best_for_blocks(&shape, &blocks, &ReconfigurationDelay::constant(1e-3), &Initial::Free).unwrap()
    });
    report_alone("64 ranks, 2 ports, blocks of different sizes, relabelled", sized_s);
}
