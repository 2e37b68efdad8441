//! Unequal All-to-Alls on four ports: seconds of one core, and the plan over the bound for any algorithm.

use lightloom_planners::{Problem, find};
use model::{CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

/// Bytes of a pair in the mean.
const MEAN_BYTES: f64 = 1_048_576.0;
const DELAYS_S: [f64; 4] = [1e-6, 1e-5, 1e-4, 1e-3];

fn problem(gpus: u32, factor: f64, delay_s: f64) -> Problem {
    let fabric = Fabric {
        shape: Shape::new(gpus, &[], 4).expect("a shape"),
        bandwidth_bps: 8e11,
        startup_s: 5e-7,
        hop_delay_s: 5e-7,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial: Initial::Free,
        optics: None,
    };
    let matrix = block_rounds::workloads::zipf(gpus, MEAN_BYTES, factor, 0);
    let (schedule, m) = collectives::direct_from_matrix(&matrix).expect("a matrix");
    let ring = topologies::build("ring", &fabric.shape).expect("a topology");
    Problem::new(schedule, fabric, CostSettings::default(), m.round() as u64, vec![ring]).expect("a problem")
}

fn main() {
    let weave = find("weave").expect("registered");
    for gpus in [64, 128] {
        for factor in [0.4, 1.2] {
            for delay_s in DELAYS_S {
                let problem = problem(gpus, factor, delay_s);
                let found = weave.choose(&problem).expect("feasible");
                let over = found.total_s / problem.any_algorithm_bound().seconds;
                let seconds = ratio::median_s(1, || weave.choose(&problem).expect("feasible"));
                let delay_us = delay_s * 1e6;
                ratio::report_alone(
                    &format!("{gpus} GPUs, zipf:{factor}, {delay_us} µs, {over:.3} of the bound"),
                    seconds,
                );
            }
        }
    }
}
