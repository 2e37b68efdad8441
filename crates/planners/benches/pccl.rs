//! PCCL's planner on 128 GPUs at 256 MB, from the problem to the choice, profiles included, with the start topologies
//! of §5 only and with the static baselines; against costs of every round on every topology, as the paper's integer
//! program is given them. It and its costs take up to a second there.

use collectives::Options;
use lightloom_planners::{Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Schedule, Shape, Topology};

fn main() {
    for (spec, ports) in [("ring", 2), ("torus:16x8", 4), ("torus:8x4x4", 6), ("grid:8x4x4", 6)] {
        let shape = Shape::new(128, &[], ports).expect("a shape");
        let start = topologies::build(spec, &shape).expect("a topology");
        let baselines = topologies::candidates::build(&["static-baselines".into()], &shape, &[], 0).expect("a family");
        for (algorithm, collective) in [
            ("halving-doubling", Collective::ReduceScatter),
            ("recursive-doubling", Collective::AllReduce),
            ("ring", Collective::AllReduce),
            ("bruck", Collective::AllToAll),
            ("direct", Collective::AllToAll),
            ("pairwise-xor", Collective::AllToAll),
        ] {
            let known = collectives::find(algorithm).expect("registered");
            let schedule = known.build(collective, &shape, &Options::default()).expect("accepted");
            let what = format!("pccl, {algorithm} {}, start {spec}, {ports} ports", collective.name());
            report(&what, &schedule, &shape, &start, std::slice::from_ref(&start));
            report(&format!("{what}, static baselines"), &schedule, &shape, &start, &baselines);
        }
    }
}

/// At 5 µs a reconfiguration.
fn report(what: &str, schedule: &Schedule, shape: &Shape, start: &Topology, standard: &[Topology]) {
    let fabric = Fabric {
        shape: shape.clone(),
        bandwidth_bps: 3.6e12,
        startup_s: 0.0,
        barrier_s: 0.0,
        hop_delay_s: 3e-6,
        reconfiguration: ReconfigurationPolicy::constant(5e-6),
        initial: Initial::Topology(start.clone()),
        optics: None,
        electrical: None,
    };
    let planner = find("pccl").expect("registered");
    let choose = || {
        let (schedule, fabric, candidates) = (schedule.clone(), fabric.clone(), standard.to_vec());
        let problem = Problem::new(schedule, fabric, CostSettings::default(), 256_000_000, candidates);
        planner.choose(&problem.expect("a problem")).expect("feasible")
    };
    let every_cost = || {
        let choice = choose();
        let table = &choice.problem.table;
        let pairs = (0..table.patterns().len()).flat_map(|pattern| (0..table.candidates()).map(move |c| (pattern, c)));
        pairs.filter(|&(pattern, candidate)| table.front(pattern, candidate).is_some()).count()
    };
    ratio::report(what, ratio::median_s(31, choose), "all costs", ratio::median_s(3, every_cost));
}
