//! Plans of unequal All-to-Alls whose bytes wait between steps.

use lightloom_planners::{Choice, Problem, find};
use model::{CostSettings, Error, Fabric, Initial, Plan, PlanParts, ReconfigurationPolicy, Shape};

const GPUS: u32 = 48;

fn problem(seed: u64, delay_s: f64, initial: Initial) -> Problem {
    let fabric = Fabric {
        shape: Shape::new(GPUS, &[], 4).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial,
        optics: None,
        electrical: None,
    };
    let matrix = block_rounds::workloads::zipf(GPUS, 1e6, 0.4, seed);
    let (schedule, m) = collectives::direct_from_matrix(&matrix).unwrap();
    let ring = topologies::build("ring", &fabric.shape).unwrap();
    Problem::new(schedule, fabric, CostSettings::default(), m.round() as u64, vec![ring]).unwrap()
}

fn weave(problem: &Problem) -> Choice {
    find("weave").unwrap().choose(problem).unwrap()
}

fn waits(plan: &Plan) -> bool {
    let mut sent = vec![0; plan.chunks.count() as usize];
    let chunks = plan.steps.iter().flat_map(|step| step.step.transfers()).flat_map(|transfer| &transfer.chunks);
    chunks.for_each(|&chunk| sent[chunk as usize] += 1);
    sent.iter().any(|&times| times > 1)
}

/// The judge passes the plan, which is no faster than the bound, and a second search makes the same.
#[test]
#[ignore = "large: make test-large"]
fn plans_are_judged_and_made_again() {
    for (seed, delay_s) in [(0, 1e-5), (1, 1e-6), (2, 1e-3)] {
        let problem = problem(seed, delay_s, Initial::Free);
        let choice = weave(&problem);
        let total_s = choice.total_s;
        let plan = choice.into_plan(true).unwrap();
        assert_eq!(lightloom::verify_plan(&plan).first_failure(), None);
        assert!((plan.total_s() - total_s).abs() <= 1e-9 * total_s);
        assert!(plan.bound.seconds <= total_s);
        assert_eq!(weave(&problem).into_plan(true).unwrap(), plan);
    }
}

/// At 10 µs some bytes wait. Their steps in another order are no plan: bytes would leave a rank before they come to it.
#[test]
fn the_judge_refuses_bytes_that_leave_before_they_come() {
    let plan = weave(&problem(0, 1e-5, Initial::Free)).into_plan(true).unwrap();
    assert!(waits(&plan));
    let mut steps = plan.steps.clone();
    steps.reverse();
    let reconfigured = |index: usize| index > 0;
    for (index, step) in steps.iter_mut().enumerate() {
        step.reconfigured = reconfigured(index);
        step.cost.reconfiguration_s = if reconfigured(index) { 1e-5 } else { 0.0 };
    }
    let parts = PlanParts { steps, ..(*plan).clone() };
    let broken: Result<Plan, Error> = Plan::new(parts);
    assert!(lightloom::verify_plan(&broken.unwrap()).first_failure().is_some());
}

/// A plan from a free start runs from a given one after a change, with the same paths.
#[test]
fn the_same_paths_serve_another_start() {
    let free = problem(0, 1e-5, Initial::Free);
    let ring = topologies::build("ring", &free.fabric.shape).unwrap();
    let choice = weave(&free);
    let fabric = Fabric { initial: Initial::Topology(ring), ..free.fabric.clone() };
    let started = choice.started_on(&fabric).unwrap();
    assert!((started.total_s - choice.total_s - 1e-5).abs() <= 1e-12);
    assert_eq!(lightloom::verify_plan(&started.into_plan(true).unwrap()).first_failure(), None);
}
