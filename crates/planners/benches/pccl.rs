//! PCCL's planner for halving/doubling on 128 GPUs: 256 MB at 5 µs from the start topologies of §5, profiles
//! included. The paper's integer program and its costs take up to a second.

use collectives::Options;
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationDelay, Shape};
use planners::{Problem, find};

fn main() {
    for (spec, ports) in [("ring", 2), ("torus:16x8", 4), ("torus:8x4x4", 6), ("grid:8x4x4", 6)] {
        let shape = Shape::new(128, &[], ports).expect("a shape");
        let initial = topologies::build(spec, &shape).expect("a topology");
        let algorithm = collectives::find("halving-doubling").expect("registered");
        let schedule = algorithm.build(Collective::ReduceScatter, &shape, &Options::default()).expect("accepted");
        let fabric = Fabric {
            shape,
            bandwidth_bps: 3.6e12,
            startup_s: 0.0,
            hop_delay_s: 3e-6,
            reconfiguration: ReconfigurationDelay::constant(5e-6),
            initial: Initial::Topology(initial.clone()),
        };
        let problem =
            Problem::new(schedule, fabric, CostSettings::default(), 256_000_000, vec![initial]).expect("a problem");
        let planner = find("pccl").expect("registered");
        let seconds = ratio::median_s(51, || planner.choose(&problem).expect("feasible"));
        ratio::report_alone(&format!("pccl, reduce-scatter, 128 GPUs, start {spec} with {ports} ports"), seconds);
    }
}
