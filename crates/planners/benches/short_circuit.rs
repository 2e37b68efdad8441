//! Thresholds of recursive doubling on 128 GPUs, profiles included; and the fall back on Ring, whose schedule is
//! built then.

use collectives::Options;
use lightloom_planners::{Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

fn main() {
    for collective in [Collective::ReduceScatter, Collective::AllReduce] {
        for (delay_s, what) in [(1e-6, "a threshold"), (1.0, "Ring")] {
            let shape = Shape::new(128, &[], 1).expect("a shape");
            let ring = topologies::build("ring", &shape).expect("a topology");
            let algorithm = collectives::find("recursive-doubling").expect("registered");
            let schedule = algorithm.build(collective, &shape, &Options::default()).expect("accepted");
            let fabric = Fabric {
                shape,
                bandwidth_bps: 8e11,
                startup_s: 0.0,
                barrier_s: 0.0,
                hop_delay_s: 1e-6,
                reconfiguration: ReconfigurationPolicy::constant(delay_s),
                initial: Initial::Topology(ring.clone()),
                optics: None,
                electrical: None,
            };
            let problem =
                Problem::new(schedule, fabric, CostSettings::default(), 1 << 20, vec![ring]).expect("a problem");
            let planner = find("short-circuit").expect("registered");
            let seconds = ratio::median_s(51, || planner.choose(&problem).expect("feasible"));
            let name = format!("short-circuit, {}, 128 GPUs, {what}", collective.name());
            ratio::report_alone(&name, seconds);
        }
    }
}
