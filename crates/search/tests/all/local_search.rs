//! Quality that local search must reach, and properties of whatever it finds.
use std::time::Duration;

use collectives::{Options, find};
use fronts::RoutingNetwork;
use lightloom_search::{Circulants, PricedStep, SearchLimits, local_search};
use model::{Collective, Schedule, Shape, Traffic, TrafficEntry, Translations};
use proptest::prelude::*;

const ALL: u64 = 1_000_000;

fn schedule(algorithm: &str, collective: Collective, ranks: u32) -> Schedule {
    let shape = Shape::new(ranks, &[], 2).unwrap();
    find(algorithm).unwrap().build(collective, &shape, &Options::default()).unwrap()
}

/// Σ m_i/m·load_i is the cost.
fn load_only(schedule: &Schedule) -> Vec<PricedStep<'_>> {
    let steps = schedule.steps().iter();
    steps.map(|step| PricedStep { traffic: step.traffic(), hop_s: 0.0, load_s: step.share() }).collect()
}

fn searched(schedule: &Schedule, seed: u64, evaluations: u64) -> f64 {
    let steps = load_only(schedule);
    let circulants = Circulants::new(schedule.ranks(), 2, &steps, ALL).unwrap();
    let limits = SearchLimits { seed, evaluations, budget: None };
    let (topology, load) = local_search(&circulants, 0..steps.len(), limits).unwrap().unwrap();
    assert!(topology.check_ports(2).is_ok());
    let network = RoutingNetwork::new(&topology);
    let again: f64 = steps.iter().map(|step| step.cost_s(&network).unwrap()).sum();
    assert!((again - load).abs() <= 1e-9 * load);
    load
}

/// 0.775 is the optimum over all topologies, by an integer cone program; the best circulant has 0.875.
#[test]
fn swing_on_eight_ranks_reaches_the_optimum() {
    let load = searched(&schedule("swing", Collective::ReduceScatter, 8), 2, 60_000);
    assert!((load - 0.775).abs() < 1e-9, "{load}");
}

/// The best circulant has 6.6111.
#[test]
#[ignore = "large: make test-large"]
fn bruck_all_to_all_on_64_ranks_is_far_below_the_best_circulant() {
    let load = searched(&schedule("bruck", Collective::AllToAll, 64), 4, 2000);
    assert!(load <= 5.74, "{load}");
}

/// The best circulant, {1, 2}, has 7/6.
#[test]
fn recursive_doubling_on_32_ranks_is_below_the_best_circulant() {
    let load = searched(&schedule("recursive-doubling", Collective::ReduceScatter, 32), 1, 2000);
    assert!(load < 7.0 / 6.0, "{load}");
}

/// Recursive doubling by XOR, whose group is Z_2^4: no circulant is invariant under it.
#[test]
fn groups_that_no_circulant_shares_are_searched_from_random_links() {
    let schedule = schedule("halving-doubling", Collective::ReduceScatter, 16);
    let steps = load_only(&schedule);
    let circulants = Circulants::new(16, 2, &steps, ALL).unwrap();
    let best = circulants.best(0..steps.len(), 1).pop().unwrap().1;
    assert!(searched(&schedule, 1, 2000) < best);
}

/// A pattern of 8 ranks under one of several groups.
fn any_traffic() -> impl Strategy<Value = Traffic> {
    let group = prop_oneof![
        Just(Translations::cyclic(8)),
        Just(Translations::periodic(8, 2)),
        Just(Translations::xor(8)),
        Just(Translations::trivial(8)),
    ];
    let arcs = prop::collection::vec((0u32..8, 1u32..8, 1u32..5), 1..4);
    (group, arcs).prop_map(|(group, arcs)| {
        let arc = |&(src, by, weight): &(u32, u32, u32)| TrafficEntry {
            src,
            dst: (src + by) % 8,
            weight: f64::from(weight) / 4.0,
        };
        Traffic::new(group, arcs.iter().map(arc)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(32)))]

    #[test]
    fn it_is_never_dearer_than_the_best_circulant_and_deterministic(
        patterns in prop::collection::vec((any_traffic(), 0.0f64..1.0, 0.1f64..2.0), 1..4), ports in 1u32..4, seed in any::<u64>(),
    ) {
        let steps: Vec<PricedStep> =
            patterns.iter().map(|(traffic, hop_s, load_s)| PricedStep { traffic, hop_s: *hop_s, load_s: *load_s }).collect();
        let circulants = Circulants::new(8, ports, &steps, ALL).unwrap();
        let limits = SearchLimits { seed, evaluations: 300, budget: None };
        let found = local_search(&circulants, 0..steps.len(), limits).unwrap();
        prop_assert_eq!(&found, &local_search(&circulants, 0..steps.len(), limits).unwrap());
        if let Some((_, best_s)) = circulants.best(0..steps.len(), 1).pop() {
            let (topology, cost_s) = found.unwrap();
            prop_assert!(cost_s <= best_s && topology.check_ports(ports).is_ok());
            let network = RoutingNetwork::new(&topology);
            let again_s: f64 = steps.iter().map(|step| step.cost_s(&network).unwrap()).sum();
            prop_assert!((again_s - cost_s).abs() <= 1e-9 * (1.0 + cost_s));
        }
    }
}

#[test]
fn no_time_leaves_the_best_circulant() {
    let schedule = schedule("swing", Collective::ReduceScatter, 8);
    let steps = load_only(&schedule);
    let circulants = Circulants::new(8, 2, &steps, ALL).unwrap();
    for (evaluations, budget) in [(0, None), (u64::MAX, Some(Duration::ZERO))] {
        let found =
            local_search(&circulants, 0..steps.len(), SearchLimits { seed: 0, evaluations, budget }).unwrap().unwrap();
        assert_eq!(found.1, 0.875);
    }
}
