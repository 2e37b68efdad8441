//! BRIDGE for 128 GPUs, from the problem to the choice, against all 2^s vectors by the paper's formulas.

#[path = "../tests/all/reference/bridge_vectors.rs"]
mod bridge_vectors;

use std::hint::black_box;

use bridge_vectors::{Instance, over_all_vectors};
use collectives::Options;
use lightloom_planners::{Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

fn main() {
    for (algorithm, collective) in [
        ("bruck", Collective::AllToAll),
        ("bruck-doubling", Collective::ReduceScatter),
        ("bruck-doubling", Collective::AllGather),
        ("bruck-doubling", Collective::AllReduce),
    ] {
        report(algorithm, collective, 128);
    }
}

/// 1 MiB at 800 Gbit/s, α = 1.7 µs, δ = 1 µs, α_r = 10 µs, from the ring (BRIDGE §4.1).
fn report(algorithm: &str, collective: Collective, gpus: u32) {
    let instance = Instance {
        collective,
        gpus,
        block: 1,
        size_bytes: 1 << 20,
        startup_s: 1.7e-6,
        hop_s: 1e-6,
        byte_s: 8.0 / 8e11,
        delay_s: 10e-6,
        from_ring: true,
    };
    let shape = Shape::new(gpus, &[], 1).expect("a shape");
    let ring = topologies::build("ring", &shape).expect("a ring");
    let known = collectives::find(algorithm).expect("registered");
    let schedule = known.build(collective, &shape, &Options::default()).expect("accepted");
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: instance.startup_s,
        barrier_s: 0.0,
        hop_delay_s: instance.hop_s,
        reconfiguration: ReconfigurationPolicy::constant(instance.delay_s),
        initial: Initial::Topology(ring.clone()),
        optics: None,
        electrical: None,
    };
    let settings = CostSettings::default();
    let problem = Problem::new(schedule, fabric, settings, instance.size_bytes, vec![ring]).expect("a problem");
    let bridge = find("bridge").expect("registered");
    let choose = || bridge.choose(black_box(&problem)).expect("feasible").total_s;
    let (ours, theirs) = (choose(), over_all_vectors(instance));
    assert!((ours - theirs).abs() < 1e-12 * theirs);
    let ours_s = ratio::median_s(51, choose);
    let theirs_s = ratio::median_s(11, || over_all_vectors(black_box(instance)));
    ratio::report(&format!("bridge, {}, {gpus} GPUs", collective.name()), ours_s, "all vectors", theirs_s);
}
