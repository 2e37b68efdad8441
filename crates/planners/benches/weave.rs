//! Composing a collective for 64 and 1024 GPUs: the first time, with the phases' flows, and once the phases of this
//! many ranks and ports are known.

use std::time::Instant;

use collectives::Options;
use lightloom_planners::{Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

const ALGORITHMS: [(Collective, &str); 4] = [
    (Collective::ReduceScatter, "ring"),
    (Collective::AllGather, "ring"),
    (Collective::AllReduce, "ring"),
    (Collective::AllToAll, "bruck"),
];
const SIZES: [u64; 3] = [1 << 10, 1 << 24, 1 << 30];

fn problem(gpus: u32, ports: u32, collective: Collective, algorithm: &str, size_bytes: u64) -> Problem {
    let shape = Shape::new(gpus, &[], ports).expect("a shape");
    let ring = topologies::build("ring", &shape).expect("a topology");
    let algorithm = collectives::find(algorithm).expect("registered");
    let schedule = algorithm.build(collective, &shape, &Options::default()).expect("accepted");
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: 5e-7,
        barrier_s: 0.0,
        hop_delay_s: 5e-7,
        reconfiguration: ReconfigurationPolicy::constant(1e-5),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    Problem::new(schedule, fabric, CostSettings::default(), size_bytes, vec![ring]).expect("a problem")
}

fn main() {
    let weave = find("weave").expect("registered");
    for gpus in [64, 1024] {
        for ports in [1, 2, 4] {
            let mut first_s: f64 = 0.0;
            let (mut slowest_s, mut what) = (0.0, String::new());
            for (collective, algorithm) in ALGORITHMS {
                for size_bytes in SIZES {
                    let problem = problem(gpus, ports, collective, algorithm, size_bytes);
                    let start = Instant::now();
                    weave.choose(&problem).expect("feasible");
                    first_s = first_s.max(start.elapsed().as_secs_f64());
                    let seconds = ratio::median_s(5, || weave.choose(&problem).expect("feasible"));
                    if seconds > slowest_s {
                        (slowest_s, what) = (seconds, format!("{} of {size_bytes} B", collective.name()));
                    }
                }
            }
            ratio::report_alone(&format!("weave, {gpus} GPUs, {ports} ports, slowest first call"), first_s);
            ratio::report_alone(&format!("weave, {gpus} GPUs, {ports} ports, slowest again ({what})"), slowest_s);
        }
    }
}
