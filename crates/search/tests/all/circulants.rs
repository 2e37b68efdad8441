//! The best circulants against all circulants, and against loads that are known.
use collectives::{Options, find};
use fronts::RoutingNetwork;
use lightloom_search::{Circulants, PricedStep};
use model::{Collective, Link, Schedule, Shape, Topology, Traffic, TrafficEntry, Translations};
use proptest::prelude::*;

const ALL: u64 = 1_000_000;

fn schedule(algorithm: &str, collective: Collective, ranks: u32) -> Schedule {
    let shape = Shape::new(ranks, &[], 2).unwrap();
    find(algorithm).unwrap().build(collective, &shape, &Options::default()).unwrap()
}

fn priced(schedule: &Schedule, hop_s: f64) -> Vec<PricedStep<'_>> {
    let steps = schedule.steps().iter();
    steps.map(|step| PricedStep { traffic: step.traffic(), hop_s, load_s: step.share() }).collect()
}

fn cost_s(topology: &Topology, steps: &[PricedStep]) -> Option<f64> {
    let network = RoutingNetwork::new(topology);
    steps.iter().map(|step| step.cost_s(&network)).sum()
}

/// Costs of all circulants that join the steps' pairs, cheapest first.
fn all_costs(ranks: u32, ports: u32, steps: &[PricedStep]) -> Vec<f64> {
    let mut costs = Vec::new();
    let mut generators = vec![1; ports as usize];
    loop {
        // Every ascending list of generators.
        if generators.windows(2).all(|pair| pair[0] <= pair[1]) {
            let links = generators.iter().map(|&dst| Link { src: 0, dst, count: 1 });
            let topology = Topology::new("all", Translations::cyclic(ranks), links).unwrap();
            costs.extend(cost_s(&topology, steps));
        }
        let Some(next) = generators.iter().rposition(|&generator| generator < ranks - 1) else { break };
        generators[next] += 1;
        generators[next + 1..].fill(1);
    }
    costs.sort_by(f64::total_cmp);
    costs
}

/// A pattern under one of several groups of 12 ranks.
fn any_traffic() -> impl Strategy<Value = Traffic> {
    let group = prop_oneof![
        Just(Translations::cyclic(12)),
        Just(Translations::periodic(12, 3)),
        Just(Translations::grid(&[3, 4], &[1, 1])),
        Just(Translations::trivial(12)),
    ];
    let arcs = prop::collection::vec((0u32..12, 1u32..12, 1u32..5), 1..4);
    (group, arcs).prop_map(|(group, arcs)| {
        let arc = |&(src, by, weight): &(u32, u32, u32)| TrafficEntry {
            src,
            dst: (src + by) % 12,
            weight: f64::from(weight) / 4.0,
        };
        Traffic::new(group, arcs.iter().map(arc)).unwrap()
    })
}

/// The best circulant for all steps together, and its cost in seconds.
fn best(ranks: u32, ports: u32, steps: &[PricedStep]) -> (Topology, f64) {
    Circulants::new(ranks, ports, steps, ALL).unwrap().best(0..steps.len(), 1).pop().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

    #[test]
    fn the_best_of_each_interval_are_those_of_all(
        patterns in prop::collection::vec((any_traffic(), 0.0f64..2.0, 0.0f64..2.0), 1..4), ports in 1u32..3, count in 1usize..5,
    ) {
        let steps: Vec<PricedStep> =
            patterns.iter().map(|(traffic, hop_s, load_s)| PricedStep { traffic, hop_s: *hop_s, load_s: *load_s }).collect();
        let circulants = Circulants::new(12, ports, &steps, ALL).unwrap();
        prop_assert!(circulants.is_exhaustive());
        let candidates = circulants.candidates(count);
        for from in 0..steps.len() {
            for to in from + 1..=steps.len() {
                let expected = all_costs(12, ports, &steps[from..to]);
                let found = circulants.best(from..to, count);
                prop_assert_eq!(found.len(), expected.len().min(count));
                for ((topology, found_s), expected_s) in found.iter().zip(&expected) {
                    prop_assert!((found_s - expected_s).abs() <= 1e-9 * (1.0 + expected_s));
                    prop_assert!((cost_s(topology, &steps[from..to]).unwrap() - found_s).abs() <= 1e-12);
                    prop_assert!(topology.check_ports(ports).is_ok());
                    prop_assert!(candidates.iter().any(|candidate| candidate.same_links(topology)));
                }
            }
        }
    }

    #[test]
    fn adding_ports_one_by_one_finds_circulants_that_are_no_better_than_the_best(
        patterns in prop::collection::vec(any_traffic(), 1..3), most in 11u64..70,
    ) {
        let steps: Vec<PricedStep> =
            patterns.iter().map(|traffic| PricedStep { traffic, hop_s: 0.1, load_s: 1.0 }).collect();
        let circulants = Circulants::new(12, 3, &steps, most).unwrap();
        prop_assert!(!circulants.is_exhaustive());
        if let Some((topology, found_s)) = circulants.best(0..steps.len(), 1).pop() {
            prop_assert_eq!(topology.degree(), 3);
            prop_assert!((cost_s(&topology, &steps).unwrap() - found_s).abs() <= 1e-12);
            prop_assert!(found_s >= all_costs(12, 3, &steps)[0] - 1e-9);
        }
    }
}

/// Two ports, all steps on one topology. Recursive doubling: {1, 2} carries distance 2^i over 2^(i−1) links of 2 and
/// half of distance 1 over each generator, and so on; the sums are rational numbers with small denominators.
#[test]
fn loads_of_all_steps_on_one_circulant_are_those_known() {
    let cases = [
        ("recursive-doubling", Collective::ReduceScatter, 32, "circulant:1,2", 7.0 / 6.0),
        ("recursive-doubling", Collective::ReduceScatter, 64, "circulant:1,2", 4.0 / 3.0),
        ("recursive-doubling", Collective::ReduceScatter, 256, "circulant:1,4", 1.6),
        ("swing", Collective::ReduceScatter, 8, "circulant:1,3", 0.875),
        ("bruck", Collective::AllToAll, 8, "circulant:1,2", 1.5),
    ];
    for (algorithm, collective, ranks, name, load) in cases {
        let schedule = schedule(algorithm, collective, ranks);
        let (topology, found) = best(ranks, 2, &priced(&schedule, 0.0));
        assert_eq!(topology.name(), name);
        assert!((found - load).abs() < 1e-9, "{algorithm} of {ranks}: {found}");
    }
}

#[test]
fn a_circulant_joins_the_pairs_that_are_asked_for_and_need_not_join_others() {
    let schedule = schedule("direct", Collective::AllToAll, 6);
    let steps = priced(&schedule, 1.0);
    // All offsets need a generator of Z_6.
    let all = best(6, 1, &steps);
    assert_eq!(all.0.name(), "circulant:1");
    let only_two = best(6, 1, &steps[1..2]);
    assert_eq!((only_two.0.name(), only_two.1), ("circulant:2", 1.0 + steps[1].load_s));
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let schedule = schedule("direct", Collective::AllToAll, 6);
    let steps = priced(&schedule, 1.0);
    assert!(Circulants::new(7, 1, &steps, ALL).is_err());
    assert!(Circulants::new(6, 0, &steps, ALL).is_err());
    assert!(Circulants::new(6, 1, &[], ALL).is_err());
    assert!(Circulants::new(6, 1, &steps, 4).is_err());
}
