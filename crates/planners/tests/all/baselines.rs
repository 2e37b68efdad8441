//! The static and BvN baselines.
use collectives::Options;
use lightloom_planners::{Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, Link, ReconfigurationPolicy, Shape, Topology, Translations};

fn problem(algorithm: &str, collective: Collective, gpus: u32, ports: u32, radix: Option<u32>) -> Problem {
    let shape = Shape::new(gpus, &[], ports).unwrap();
    let options = Options { radix, ..Options::default() };
    let schedule = collectives::find(algorithm).unwrap().build(collective, &shape, &options).unwrap();
    let ring = topologies::build("ring", &shape).unwrap();
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(10e-6),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    Problem::new(schedule, fabric, CostSettings::default(), 1 << 20, vec![ring]).unwrap()
}

/// REFERENCE, HARVEST fig. 5 in the model: recursive doubling on the static one-way ring costs 6α + 63δ and
/// m/2 bytes' worth of link time in each of its 6 steps.
#[test]
fn recursive_doubling_on_a_static_ring() {
    let problem = problem("recursive-doubling", Collective::ReduceScatter, 64, 1, None);
    let choice = find("static").unwrap().choose(&problem).unwrap();
    let buffer_s = 8.0 * 1_048_576.0 / 8e11;
    let expected = 6.0 * 500e-9 + 63.0 * 500e-9 + 6.0 * 0.5 * buffer_s;
    assert!((choice.total_s - expected).abs() < 1e-12 * expected, "{} {expected}", choice.total_s);
    assert_eq!(choice.reconfigurations(), 0);
}

/// Every step on its own circuits: one hop, no congestion, a reconfiguration before all but the first.
#[test]
fn bvn_reconfigures_at_every_step() {
    for (algorithm, collective, steps, changes) in [
        ("recursive-doubling", Collective::AllReduce, 12.0, 10),
        ("direct", Collective::AllToAll, 63.0, 62),
        ("ring", Collective::AllGather, 63.0, 0),
    ] {
        let choice = find("bvn").unwrap().choose(&problem(algorithm, collective, 64, 1, None)).unwrap();
        let moved = if collective == Collective::AllReduce { 2.0 } else { 1.0 } * 63.0 / 64.0;
        let expected = steps * 1e-6 + moved * 8.0 * 1_048_576.0 / 8e11 + f64::from(changes) * 10e-6;
        assert!((choice.total_s - expected).abs() < 1e-12 * expected, "{algorithm}: {} {expected}", choice.total_s);
        assert_eq!(choice.reconfigurations(), changes as usize, "{algorithm}");
    }
}

/// Bruck of radix 4 has three peers a step: one port makes three sub-steps of each, two ports two.
#[test]
fn bvn_splits_steps_with_more_peers_than_ports() {
    for (ports, sub_steps) in [(1, 9), (2, 6), (3, 3)] {
        let problem = problem("bruck", Collective::AllToAll, 64, ports, Some(4));
        let plan = find("bvn").unwrap().choose(&problem).unwrap().into_plan(true).unwrap();
        assert_eq!(plan.steps.len(), sub_steps, "{ports} ports");
        // Ports that a sub-step leaves over run in parallel to the others.
        let direct = |step: &model::PlanStep| step.load == 1.0 / f64::from(ports / step.step.traffic().degree());
        assert!(plan.steps.iter().all(|step| step.hops == 1 && direct(step)));
        assert!(lightloom::verify_plan(&plan).passed());
    }
    // A binary tree is not invariant under anything: its steps are coloured edge by edge.
    let plan = find("bvn").unwrap().choose(&problem("binary-tree", Collective::Broadcast, 21, 1, None)).unwrap();
    let plan = plan.into_plan(true).unwrap();
    assert!(plan.steps.iter().all(|step| step.step.traffic().degree() == 1 && step.hops == 1));
    assert!(lightloom::verify_plan(&plan).passed(), "{:?}", lightloom::verify_plan(&plan).first_failure());
}

#[test]
fn static_takes_the_best_of_its_list_and_says_what_cannot_serve() {
    let mut problem = problem("recursive-doubling", Collective::ReduceScatter, 8, 1, None);
    let offset = |dst| {
        Topology::new(format!("offset {dst}"), Translations::cyclic(8), [Link { src: 0, dst, count: 1 }]).unwrap()
    };
    let candidates = vec![offset(3), offset(1), offset(2)];
    problem = Problem::new(problem.schedule().clone(), problem.fabric, problem.settings, 1 << 20, candidates).unwrap();
    let choice = find("static").unwrap().choose(&problem).unwrap();
    assert_eq!(problem.table.candidate(choice.candidates[0]).name(), "offset 1");
    // The rings of offset 2 join even ranks with even ones only.
    problem.static_candidates = vec![2];
    let error = find("static").unwrap().choose(&problem).err().unwrap().to_string();
    assert!(error.contains("offset 2") && error.contains("step 1 has no path"), "{error}");
}
