//! Lines in the reconfiguration delay against the strategies that are found at one delay.
use lightloom_block_rounds::{Blocks, PriceLine, best_for_blocks, degree_one, price_line, price_lines, workloads};
use model::{Initial, ReconfigurationDelay, Shape};

/// Seconds of a block over one hop: 1 s, and 1 s for each byte.
fn hop_s(bytes: f64) -> f64 {
    1.0 + bytes
}

fn lines(ranks: u32, ports: u32, matrix: &[Vec<f64>], delays_s: &[f64]) -> Vec<PriceLine> {
    let blocks = Blocks { matrix, hop_s: &hop_s };
    price_lines(&Shape::new(ranks, &[], ports).unwrap(), &blocks, delays_s).unwrap()
}

/// Equal blocks of one byte and one port: T = 2 s for every hop, and no circuit is ever idle.
#[test]
fn equal_blocks_cost_the_hops_of_the_shifts() {
    for ranks in [2, 5, 8, 12] {
        let found = lines(ranks, 1, &workloads::uniform(ranks, 1.0), &[0.0, 7.0]);
        let hops = degree_one::shifts(ranks).hops;
        assert_eq!(found.len(), hops.len());
        for (line, hops) in found.iter().zip(hops) {
            assert!((line.slots_s - 2.0 * hops as f64).abs() < 1e-9, "{ranks}: {line:?}");
            assert!((line.busiest_s - line.slots_s).abs() < 1e-9, "{ranks}: {line:?}");
        }
    }
}

/// At a delay for which lines were asked, the lowest is the strategy that is best there.
#[test]
fn the_lowest_line_is_the_best_strategy_at_its_delay() {
    for ports in [1, 2] {
        let matrix = workloads::random(9, 3.0, 5);
        let blocks = Blocks { matrix: &matrix, hop_s: &hop_s };
        for delay_s in [0.5, 8.0, 60.0, 1e4] {
            let shape = Shape::new(9, &[], ports).unwrap();
            let reconfiguration = ReconfigurationDelay::constant(delay_s);
            let best = best_for_blocks(&shape, &blocks, &reconfiguration, &Initial::Free).unwrap();
            let best = price_line(&best, &blocks).unwrap();
            let price_s = |line: &PriceLine| line.topologies as f64 * delay_s + line.slots_s;
            let least_s = lines(9, ports, &matrix, &[delay_s]).iter().map(price_s).fold(f64::INFINITY, f64::min);
            assert!((least_s - price_s(&best)).abs() <= 1e-12 * least_s, "{ports}, {delay_s}: {least_s} {best:?}");
        }
    }
}

/// Without waiting no topology takes longer than its rounds do, and none less than its busiest circuit.
#[test]
fn circuits_that_never_wait_take_no_longer_than_rounds() {
    let matrix = workloads::zipf(12, 3.0, 0.4, 2);
    for ports in [1, 2, 3] {
        for line in lines(12, ports, &matrix, &[5.0]) {
            assert!(line.busiest_s <= line.slots_s * (1.0 + 1e-12), "{ports}: {line:?}");
            let least_s = matrix.iter().flatten().sum::<f64>() / 12.0 / f64::from(ports);
            assert!(line.busiest_s >= least_s, "{ports}: {line:?}");
        }
    }
}
