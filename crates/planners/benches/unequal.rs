//! Unequal All-to-Alls on four ports: seconds of one core, and the plan over the bound for any algorithm; of one matrix
//! at several delays, and the means over matrices of experts' traffic.

use std::time::Instant;

use lightloom_planners::{Problem, find};
use model::{CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

/// Bytes of a pair on average.
const MEAN_BYTES: f64 = 1_048_576.0;
const DELAYS_S: [f64; 4] = [1e-6, 1e-5, 1e-4, 1e-3];
/// Traffic of experts, matrices of each kind, and GPUs and delay of the fabric for them.
const EXPERTS: [&str; 2] = ["hot-experts:8:0.36", "top-k:2:1.2:1.25"];
const MATRICES: u64 = 50;
const EXPERTS_ON: (u32, f64) = (64, 1e-5);

fn problem(gpus: u32, matrix: &str, seed: u64, delay_s: f64) -> Problem {
    let fabric = Fabric {
        shape: Shape::new(gpus, &[], 4).expect("a shape"),
        bandwidth_bps: 8e11,
        startup_s: 5e-7,
        barrier_s: 0.0,
        hop_delay_s: 5e-7,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    let matrix = block_rounds::workloads::build(matrix, gpus, MEAN_BYTES, seed).expect("a known matrix");
    let (schedule, m) = collectives::direct_from_matrix(&matrix).expect("a matrix");
    let ring = topologies::build("ring", &fabric.shape).expect("a topology");
    Problem::new(schedule, fabric, CostSettings::default(), m.round() as u64, vec![ring]).expect("a problem")
}

/// The time of the best plan over the bound for any algorithm.
fn over_bound(problem: &Problem) -> f64 {
    let found = find("weave").expect("registered").choose(problem).expect("feasible");
    found.total_s / problem.any_algorithm_bound().seconds
}

fn main() {
    for gpus in [64, 128] {
        for matrix in ["zipf:0.4", "zipf:1.2"] {
            for delay_s in DELAYS_S {
                let problem = problem(gpus, matrix, 0, delay_s);
                let over = over_bound(&problem);
                let seconds = ratio::median_s(1, || over_bound(&problem));
                let delay_us = delay_s * 1e6;
                ratio::report_alone(&format!("{gpus} GPUs, {matrix}, {delay_us} µs, {over:.3} of the bound"), seconds);
            }
        }
    }
    let (gpus, delay_s) = EXPERTS_ON;
    for matrix in EXPERTS {
        let problems: Vec<Problem> = (0..MATRICES).map(|seed| problem(gpus, matrix, seed, delay_s)).collect();
        let begin = Instant::now();
        let overs: Vec<f64> = problems.iter().map(over_bound).collect();
        let seconds = begin.elapsed().as_secs_f64();
        let mean = overs.iter().sum::<f64>() / MATRICES as f64;
        let most = overs.iter().copied().fold(0.0, f64::max);
        let name = format!("{gpus} GPUs, {MATRICES} of {matrix}, {mean:.3} of the bound on average, {most:.3} at most");
        ratio::report_alone(&name, seconds / MATRICES as f64);
    }
}
