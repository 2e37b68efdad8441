//! Packet-hops per second against the simulator with one event per packet that the tests compare with, and
//! 1024 GPUs on orbits.

#[path = "../tests/all/reference/mod.rs"]
mod reference;

use std::hint::black_box;
use std::time::Instant;

use collectives::Options;
use lightloom::{Request, Size, TopologyRef, Workload};
use lightloom_simulate::{Injection, Settings, Symmetry, Synchronisation, simulate};
use model::{Collective, CostSettings, Fabric, Initial, Plan, ReconfigurationPolicy, Shape};

/// AllReduce at 800 Gbit/s, α = δ = 500 ns.
fn all_reduce(algorithm: &str, dims: &[u32], ports: u32, size_bytes: u64, topology: &str) -> Plan {
    let request = Request {
        fabric: Fabric {
            shape: Shape::new(dims.iter().product(), dims, ports).expect("a shape"),
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            barrier_s: 0.0,
            hop_delay_s: 500e-9,
            reconfiguration: ReconfigurationPolicy::constant(1e-6),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        },
        workload: Workload::Collective {
            collective: Collective::AllReduce,
            algorithm: Some(algorithm.into()),
            options: Options::default(),
        },
        size: Size::Buffer(size_bytes),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: Some("static".into()),
        candidates: None,
        static_topologies: Some(vec![TopologyRef::Named(topology.into())]),
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    };
    lightloom::plan(&request).expect("a plan")
}

fn main() {
    let full = Settings { symmetry: Symmetry::Full, ..Settings::default() };
    let ring = "shifted-ring:1,one-way";
    let doubling = all_reduce("recursive-doubling", &[64], 1, 64 << 20, ring);
    against_events("64 GPUs, 64 MiB, recursive doubling, burst", &doubling, &full, 3);
    let paced = Settings { injection: Injection::Paced, ..full };
    against_events("64 GPUs, 64 MiB, recursive doubling, paced", &doubling, &paced, 3);
    let dataflow = Settings { sync: Synchronisation::Dataflow, ..full };
    against_events("64 GPUs, 64 MiB, recursive doubling, burst, dataflow", &doubling, &dataflow, 3);
    let buffers = Settings { buffer_bytes: Some(1 << 24), ..full };
    against_events("64 GPUs, 64 MiB, recursive doubling, burst, 16 MiB buffers", &doubling, &buffers, 3);
    let swing = all_reduce("swing", &[8, 8], 4, 16 << 20, "torus");
    against_events("64 GPUs, 16 MiB, swing on the torus, burst", &swing, &full, 3);
    let little = Settings { buffer_bytes: Some(1 << 20), ..paced };
    against_events("64 GPUs, 64 MiB, recursive doubling, paced, 1 MiB buffers", &doubling, &little, 3);
    let little = Settings { buffer_bytes: Some(1 << 16), ..paced };
    against_events("64 GPUs, 16 MiB, swing on the torus, paced, 64 KiB buffers", &swing, &little, 3);
    for algorithm in ["recursive-doubling", "ring"] {
        let plan = all_reduce(algorithm, &[1024], 1, 64 << 20, ring);
        let found = simulate(&plan, &Settings::default()).expect("a simulation");
        let seconds = ratio::median_s(5, || simulate(black_box(&plan), &Settings::default()).expect("a simulation"));
        let what = format!("1024 GPUs, 64 MiB, {algorithm}, on orbits, {:e} packet-hops", found.packet_hops as f64);
        ratio::report_alone(&what, seconds);
    }
}

/// Time of a packet-hop here and there; both find the same time.
fn against_events(what: &str, plan: &Plan, settings: &Settings, samples: usize) {
    let found = simulate(plan, settings).expect("a simulation");
    let start = Instant::now();
    let events =
        reference::one_by_one::simulate(black_box(plan), settings).expect("no packets that wait for each other");
    let theirs_s = start.elapsed().as_secs_f64();
    assert_eq!(events.last().map(|step| step.end_fs), Some(found.total_fs));
    let ours_s = ratio::median_s(samples, || simulate(black_box(plan), settings).expect("a simulation"));
    let rate = found.packet_hops as f64 / ours_s / 1e6;
    ratio::report(&format!("{what}: {rate:.1} million packet-hops/s"), ours_s, "one event per packet", theirs_s);
}
