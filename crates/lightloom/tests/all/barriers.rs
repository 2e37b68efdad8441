//! A barrier before each step costs what a longer startup would, and is stated by itself.
use crate::random_requests;

use collectives::Options;
use lightloom::{Request, Size, TopologyRef, Workload, plan};
use model::{
    Collective, CostSettings, Fabric, Initial, Plan, PlanStep, ReconfigurationPolicy, Shape, StepCost, sum_seconds,
};
use proptest::prelude::*;
use random_requests::requests;

/// Sums of few multiples of this are exact.
const QUANTUM_S: f64 = 1.0 / (1_u64 << 32) as f64;

fn with_times(request: &Request, startup_s: f64, barrier_s: f64) -> Request {
    Request { fabric: Fabric { startup_s, barrier_s, ..request.fabric.clone() }, ..request.clone() }
}

/// The step with its barrier counted as startup.
fn joined(step: &PlanStep) -> PlanStep {
    let StepCost { startup_s, barrier_s, .. } = step.cost;
    PlanStep { cost: StepCost { startup_s: startup_s + barrier_s, barrier_s: 0.0, ..step.cost }, ..step.clone() }
}

/// Ring AllReduce on a ring that never changes.
fn ring(gpus: u32, barrier_s: f64) -> Plan {
    let request = Request {
        fabric: Fabric {
            shape: Shape::new(gpus, &[], 1).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 5e-7,
            barrier_s,
            hop_delay_s: 3e-7,
            reconfiguration: ReconfigurationPolicy::constant(1e-5),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        },
        workload: Workload::Collective {
            collective: Collective::AllReduce,
            algorithm: Some("ring".into()),
            options: Options::default(),
        },
        size: Size::Buffer(1 << 20),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: Some("static".into()),
        candidates: None,
        static_topologies: Some(vec![TopologyRef::Named("ring".into())]),
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    };
    plan(&request).unwrap()
}

#[test]
fn every_step_of_a_ring_waits_once() {
    for gpus in [2, 3, 8, 64] {
        for barrier_s in [0.0, 4e-6, 41.7e-6] {
            let made = ring(gpus, barrier_s);
            let steps = 2 * (gpus - 1);
            // α + b + δ and a block of m/n at 100 GB/s, 2(n − 1) times.
            let step_s = 5e-7 + barrier_s + 3e-7 + f64::from(1_u32 << 20) / f64::from(gpus) / 1e11;
            let expected_s = f64::from(steps) * step_s;
            assert_eq!(made.steps.len(), steps as usize);
            assert!((made.total_s() - expected_s).abs() <= 1e-12 * expected_s, "{gpus} GPUs, {barrier_s} s");
            assert!(made.steps.iter().all(|step| step.cost.barrier_s == barrier_s && step.cost.startup_s == 5e-7));
            assert!(made.bound.seconds <= made.total_s());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

    #[test]
    fn startup_and_barrier_make_the_plan_of_their_sum(
        request in requests(),
        startup in 0_u32..20_000,
        barrier in 0_u32..200_000,
    ) {
        let [startup_s, barrier_s] = [startup, barrier].map(|number| f64::from(number) * QUANTUM_S);
        let apart = plan(&with_times(&request, startup_s, barrier_s));
        let together = plan(&with_times(&request, startup_s + barrier_s, 0.0));
        let (Ok(apart), Ok(together)) = (&apart, &together) else {
            prop_assert_eq!(apart.is_ok(), together.is_ok());
            return Ok(());
        };
        prop_assert_eq!(apart.total_s(), together.total_s());
        prop_assert_eq!((&apart.planner, &apart.algorithm), (&together.planner, &together.algorithm));
        prop_assert_eq!(&apart.topologies, &together.topologies);
        prop_assert_eq!(apart.steps.iter().map(joined).collect::<Vec<_>>(), together.steps.clone());
        prop_assert_eq!(&apart.bound, &together.bound);
        let report = lightloom::verify_plan(apart);
        prop_assert!(report.passed(), "{:?}", report);
    }

    #[test]
    fn a_barrier_costs_at_most_one_a_step(request in requests(), barrier_s in 1e-8..1e-4f64) {
        // The best topologies of every algorithm, and the best algorithm: no plan of these is missed.
        let request = Request { planner: Some("harvest".into()), ..request };
        let startup_s = request.fabric.startup_s;
        let (Ok(without), Ok(with)) = (plan(&request), plan(&with_times(&request, startup_s, barrier_s))) else {
            return Ok(());
        };
        let most_s = without.total_s() + without.steps.len() as f64 * barrier_s;
        prop_assert!(with.total_s() >= without.total_s() * (1.0 - 1e-12));
        prop_assert!(with.total_s() <= most_s * (1.0 + 1e-12));
        prop_assert!(with.steps.len() <= without.steps.len(), "{} {}", with.steps.len(), without.steps.len());
        let waited_s = sum_seconds(with.steps.iter().map(|step| step.cost.barrier_s));
        prop_assert!((waited_s - with.steps.len() as f64 * barrier_s).abs() <= 1e-12 * waited_s);
    }
}
