//! Choices keep what the capabilities of their planners say, for every planner of the registry.
use std::collections::BTreeSet;

use collectives::Options;
use lightloom_planners::{Problem, REGISTRY};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Schedule, Shape};
use proptest::prelude::*;

fn schedules() -> impl Strategy<Value = (Schedule, Shape)> {
    let algorithms: Vec<&str> = collectives::REGISTRY.iter().map(|algorithm| algorithm.name()).collect();
    let drawn = (prop::sample::select(algorithms), prop::sample::select(Collective::ALL.to_vec()), 2u32..9, 1u32..4);
    drawn.prop_filter_map("the algorithm takes it", |(algorithm, collective, gpus, ports)| {
        let shape = Shape::new(gpus, &[], ports).ok()?;
        let schedule = collectives::find(algorithm).ok()?.build(collective, &shape, &Options::default()).ok()?;
        Some((schedule, shape))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

    #[test]
    fn choices_keep_what_capabilities_say((schedule, shape) in schedules(), log_size in 6u32..28, log_delay in -8.0f64..-3.0) {
        let fabric = Fabric {
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            barrier_s: 0.0,
            hop_delay_s: 500e-9,
            reconfiguration: ReconfigurationPolicy::constant(10f64.powf(log_delay)),
            initial: Initial::Free,
            shape: shape.clone(),
            optics: None,
            electrical: None,
        };
        let ring = topologies::build("ring", &shape).unwrap();
        let (settings, size_bytes) = (CostSettings::default(), 1u64 << log_size);
        let problem = Problem::new(schedule.clone(), fabric, settings, size_bytes, vec![ring.clone()]).unwrap();
        for planner in REGISTRY {
            let (name, has) = (planner.name(), planner.capabilities());
            let Ok(choice) = planner.choose(&problem) else { continue };
            prop_assert_eq!(choice.planner, name);
            let used: BTreeSet<usize> = choice.candidates.iter().copied().collect();
            prop_assert!(!has.keeps_one_topology || used.len() == 1, "{}", name);
            prop_assert!(has.fixed_routing.is_none_or(|only| only == choice.problem.settings.routing), "{}", name);
            if !has.replaces_algorithm && !has.chooses_algorithm {
                prop_assert_eq!(choice.problem.schedule().algorithm(), schedule.algorithm(), "{}", name);
                let (given, made) = (schedule.steps().len(), choice.problem.schedule().steps().len());
                prop_assert!(planner.changes_steps(&schedule, shape.ports()) || given == made, "{}", name);
            }
            prop_assert!(!has.is_fast() || has.least_sum.holds_for(&schedule), "{}", name);
        }
    }
}

#[test]
fn names_are_different_and_each_is_described_on_one_line() {
    let names: BTreeSet<&str> = REGISTRY.iter().map(|planner| planner.name()).collect();
    assert_eq!(names.len(), REGISTRY.len());
    for planner in REGISTRY {
        for text in [planner.name(), planner.summary(), planner.source()] {
            assert!(!text.is_empty() && !text.contains('\n'), "{}", planner.name());
        }
    }
    let one = REGISTRY.iter().filter(|planner| planner.capabilities().keeps_one_topology).count();
    assert_eq!(one, 1, "topologies that are named by themselves are for one planner");
}
