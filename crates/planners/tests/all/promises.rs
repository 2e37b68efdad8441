//! The promises of planners before they solve flows: nothing that they choose takes less.
use collectives::Options;
use lightloom_planners::{Problem, REGISTRY};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Routing, Shape};
use proptest::prelude::*;
use topologies::candidates;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

    #[test]
    fn choices_take_no_less_than_was_promised(
        gpus in 4u32..14, ports in 1u32..4, log_size in 6u32..28, log_delay in -8.0f64..-3.0,
        algorithm in prop::sample::select(vec!["direct", "pairwise-xor", "bruck"]), routing in prop::sample::select(Routing::ALL.to_vec()),
        starts_on_ring in prop::bool::ANY,
    ) {
        let shape = Shape::new(gpus, &[], ports).unwrap();
        let schedule = collectives::find(algorithm).unwrap();
        let Ok(schedule) = schedule.build(Collective::AllToAll, &shape, &Options::default()) else { return Ok(()) };
        let patterns: Vec<_> = schedule.steps().iter().map(|step| step.traffic()).collect();
        let families: Vec<String> = candidates::defaults().into_iter().map(String::from).collect();
        let all = candidates::build(&families, &shape, &patterns, 0).unwrap();
        let ring = topologies::build("ring", &shape).unwrap();
        let fabric = Fabric {
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            barrier_s: 0.0,
            hop_delay_s: 500e-9,
            reconfiguration: ReconfigurationPolicy::constant(10f64.powf(log_delay)),
            initial: if starts_on_ring { Initial::Topology(ring) } else { Initial::Free },
            shape: shape.clone(),
            optics: None,
            electrical: None,
        };
        let settings = CostSettings { routing, ..CostSettings::default() };
        let problem = Problem::new(schedule.clone(), fabric, settings, 1 << log_size, all).unwrap();
        let mut promised = 0;
        for planner in REGISTRY {
            let Some(promise) = planner.promise(&problem) else { continue };
            promised += 1;
            let choice = planner.choose(&problem).unwrap();
            let least_s = lightloom_planners::least_seconds(&schedule, &problem.fabric, settings, problem.size_bytes);
            prop_assert!(least_s <= choice.total_s, "{} {least_s} {}", planner.name(), choice.total_s);
            prop_assert!(promise.least_s <= choice.total_s * (1.0 + 1e-12), "{} {promise:?} {}", planner.name(), choice.total_s);
            prop_assert!(routing == Routing::ConcurrentFlow || promise.work == 0);
        }
        prop_assert!(promised >= 2);
    }
}
