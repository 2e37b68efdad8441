//! Plans of two tiers: verified, never slower than circuits alone, never below their bound, as fast as by hand and in
//! the simulation.

use std::sync::Arc;

use collectives::Options;
use lightloom::{Request, Workload, plan, verify_plan};
use model::{Collective, Electrical, Fabric, Faults, Initial, Plan, PlanParts};
use proptest::prelude::*;

/// Seconds of a hop inside an island, and bit/s of a GPU there.
const INSIDE: (f64, f64) = (2.5e-7, 3.6e12);

fn request(collective: Collective, gpus: u32, ports: u32, islands: Option<u32>, size_bytes: u64) -> Request {
    let electrical = islands.map(|gpus| Electrical { gpus, bandwidth_bps: INSIDE.1, hop_delay_s: INSIDE.0 });
    let fabric = Fabric { electrical, ..crate::faults::fabric(gpus, ports, Faults::default(), Initial::Free) };
    crate::faults::request(fabric, collective, size_bytes, &Arc::default())
}

/// A matrix is planned on circuits alone, and its bound is that of both tiers for its own bytes.
#[test]
fn unequal_all_to_alls_are_planned_on_circuits() {
    let matrix: Vec<Vec<f64>> = (0..4)
        .map(|src| (0..4).map(|dst| if src == dst { 0.0 } else { 1e6 * f64::from(src * 4 + dst) }).collect())
        .collect();
    let (blocks, m) = collectives::UnequalBlocks::of_matrix(matrix).unwrap();
    let matrix = |islands| Request {
        workload: Workload::Matrix(blocks.clone()),
        ..request(Collective::AllToAll, 4, 2, islands, m.round() as u64)
    };
    let (both, alone) = (plan(&matrix(Some(2))).unwrap(), plan(&matrix(None)).unwrap());
    assert_eq!(verify_plan(&both).first_failure(), None);
    assert_eq!(both.total_s(), alone.total_s());
    assert!(both.bound.seconds < alone.bound.seconds);
}

fn failed(plan: &Plan, change: impl FnOnce(&mut PlanParts)) -> Vec<&'static str> {
    let mut parts = PlanParts::clone(plan);
    change(&mut parts);
    let report = verify_plan(&Plan::new(parts).unwrap());
    report.checks.into_iter().filter(|check| !check.passed).map(|check| check.name).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(32)))]

    #[test]
    #[ignore = "large: make test-large"]
    fn plans_are_verified_and_between_the_bound_and_circuits_alone(
        collective in prop::sample::select(Collective::ALL), islands in 1_u32..5, k in 2_u32..5, ports in 1_u32..4,
        log_size in 0_u32..28, root in 0_u32..20,
    ) {
        let (gpus, size_bytes) = (islands * k, 1 << log_size);
        let rooted = |islands| {
            let mut request = request(collective, gpus, ports, islands, size_bytes);
            if collective.has_root() {
                let options = Options { root: Some(root % gpus), ..Options::default() };
                request.workload = Workload::Collective { collective, algorithm: None, options };
            }
            request
        };
        let both = plan(&rooted(Some(k))).unwrap();
        let alone = plan(&rooted(None)).unwrap();
        prop_assert!(verify_plan(&both).passed());
        prop_assert!(both.total_s() <= alone.total_s() * (1.0 + 1e-12));
        prop_assert!(both.bound.seconds <= both.total_s());
        // What holds for both tiers holds for circuits alone.
        prop_assert!(both.bound.seconds <= alone.total_s());
        let simulated = simulate::simulate(&both, &simulate::Settings::default()).unwrap();
        prop_assert!(simulated.total_s() > 0.0 && simulated.steps.len() == both.steps.len());
    }
}

#[test]
fn one_island_takes_what_its_switch_does() {
    let (k, m) = (8.0, 1024.0 * 1024.0);
    let share_s = m * (k - 1.0) / k * 8.0 / INSIDE.1;
    let step_s = 5e-7 + INSIDE.0 + share_s;
    for (collective, expected_s) in [
        (Collective::AllGather, step_s),
        (Collective::ReduceScatter, step_s),
        (Collective::AllToAll, step_s),
        (Collective::AllReduce, 2.0 * step_s),
    ] {
        let mut request = request(collective, 8, 1, Some(8), m as u64);
        // Slow circuits, so that they are no help.
        request.fabric.bandwidth_bps = 1e9;
        let found = plan(&request).unwrap();
        assert!((found.total_s() - expected_s).abs() < 1e-9 * expected_s, "{collective:?}: {}", found.total_s());
    }
}

#[test]
fn packets_of_an_island_take_their_time_at_both_ends_of_the_switch() {
    let mut asked = request(Collective::AllGather, 8, 1, Some(8), 8 * 4096);
    asked.fabric.bandwidth_bps = 1e9;
    let found = plan(&asked).unwrap();
    // Seven packets go up one after the other, and the last one down; each GPU gets one at a time.
    let packet_s = 4096.0 * 8.0 / INSIDE.1;
    let expected_s = 5e-7 + 8.0 * packet_s + INSIDE.0;
    let simulated = simulate::simulate(&found, &simulate::Settings::default()).unwrap();
    assert!((simulated.total_s() - expected_s).abs() < 1e-13, "{}", simulated.total_s());
    let flows = simulate::Settings { level: simulate::Level::Flow, ..simulate::Settings::default() };
    let refused = simulate::simulate(&found, &flows).unwrap_err().to_string();
    assert!(refused.starts_with("level: flow is not accepted"), "{refused}");
}

#[test]
fn numbers_of_the_electrical_tier_that_are_changed_are_found() {
    let found = plan(&request(Collective::AllReduce, 16, 1, Some(4), 1 << 20)).unwrap();
    assert_eq!(found.planner, "two-tier");
    assert_eq!(failed(&found, |_| ()), [""; 0]);
    assert_eq!(failed(&found, |parts| parts.steps[0].electrical_load *= 0.5), ["electrical-load"]);
    // Without switches there are no ways inside islands; with slower ones every step takes longer.
    assert!(failed(&found, |parts| parts.fabric.electrical = None).contains(&"routes"));
    let slower = |parts: &mut PlanParts| {
        if let Some(islands) = &mut parts.fabric.electrical {
            islands.bandwidth_bps *= 0.5;
            islands.hop_delay_s *= 2.0;
        }
    };
    let names = failed(&found, slower);
    assert!(names.contains(&"transmission") && names.contains(&"propagation"), "{names:?}");
}

#[test]
fn planners_that_are_named_use_circuits_alone() {
    let mut asked = request(Collective::AllReduce, 16, 2, Some(4), 1 << 20);
    asked.planner = Some("harvest".into());
    let with = plan(&asked).unwrap();
    asked.fabric.electrical = None;
    let without = plan(&asked).unwrap();
    assert_eq!(with.total_s().to_bits(), without.total_s().to_bits());
    assert!(with.steps.iter().all(|step| step.electrical_load == 0.0));
}
