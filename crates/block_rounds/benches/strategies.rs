//! Times of whole searches: every number of topologies, priced.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up fails")]

use lightloom_block_rounds::{Blocks, Prices, best, best_for_blocks, cayley, circulant, degree_one, kautz, workloads};
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
    bases();
    let matrix = workloads::zipf(64, 32e6, 0.4, 1);
    let shape = Shape::new(64, &[], 2).unwrap();
    let blocks = Blocks { matrix: &matrix, hop_s: &|bytes| 1e-6 + bytes * 1e-11 };
    let sized_s = median_s(3, || {
        best_for_blocks(&shape, &blocks, &ReconfigurationDelay::constant(1e-3), &Initial::Free).unwrap()
    });
    report_alone("64 ranks, 2 ports, blocks of different sizes, relabelled", sized_s);
}

/// Hops and times of each base with one topology: the hops are those of the best strategy where changes cost much.
fn bases() {
    for (n, ports) in [(300, 2), (512, 2), (512, 4), (1000, 2), (1024, 2), (1024, 4), (2048, 2), (4096, 2), (4096, 4)] {
        let named = |name: &str, hops: u64| format!("{n} ranks, {ports} ports: {name}, {hops} hops");
        report_alone(&named("circulant", circulant(n, ports).unwrap().hops()), median_s(1, || circulant(n, ports)));
        if n <= 512 {
            report_alone(&named("Kautz", kautz(n, ports).unwrap().hops()), median_s(1, || kautz(n, ports)));
        }
        let found = cayley(n, ports).unwrap().unwrap();
        report_alone(&named("Cayley", found.hops()), median_s(1, || cayley(n, ports)));
    }
}
