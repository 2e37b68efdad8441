//! The planner against all vectors of reconfigurations.

use lightloom_planners::{Bridge, Planner, Problem, find};
use model::{Collective, Initial, Routing};
use proptest::prelude::*;

use super::setting::{BYTE_S, Setting, bridge, check, circulant, near, problem, ring};
use crate::reference::bridge_vectors::{Instance, over_all_vectors};

fn settings() -> impl Strategy<Value = Setting> {
    let kinds = prop_oneof![
        Just(("bruck", Collective::AllToAll)),
        Just(("bruck-doubling", Collective::ReduceScatter)),
        Just(("bruck-doubling", Collective::AllGather)),
        Just(("bruck-doubling", Collective::AllReduce)),
    ];
    // Powers of two as often as others.
    let gpus = prop_oneof![2u32..300, (1u32..9).prop_map(|bits| 1 << bits)];
    (kinds, gpus, 0u32..31, -9.0f64..-5.0, -9.0f64..-5.0, -9.0f64..-2.5).prop_map(
        |((algorithm, collective), gpus, log_size, startup, hop, delay)| Setting {
            algorithm,
            collective,
            gpus: if collective == Collective::AllReduce { gpus.min(64) } else { gpus },
            ports: 1,
            radix: 2,
            size_bytes: 1 << log_size,
            startup_s: 10f64.powf(startup),
            hop_s: 10f64.powf(hop),
            delay_s: 10f64.powf(delay),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(300)))]

    #[test]
    fn equals_the_best_of_all_vectors(setting in settings(), from_ring in prop::bool::ANY) {
        let initial = if from_ring { Initial::Topology(ring(setting.gpus)) } else { Initial::Free };
        let problem = problem(setting, initial);
        let choice = bridge().choose(&problem).unwrap();
        let expected = over_all_vectors(setting.instance(from_ring));
        prop_assert!(near(choice.total_s, expected), "{} {}", choice.total_s, expected);
        prop_assert!(bridge().choose_within(&problem, choice.total_s * 0.999).unwrap().is_none());
        check(choice)?;
    }

    /// §3.7: the same, where only vectors with subrings that blocks can have count.
    #[test]
    fn blocks_equal_the_best_of_their_vectors(
        setting in settings(), log_ranks in 2u32..8, log_block in 1u32..6, from_ring in prop::bool::ANY,
    ) {
        let log_ranks = if setting.collective == Collective::AllReduce { log_ranks.min(6) } else { log_ranks };
        let (gpus, block) = (1 << log_ranks, 1 << log_block.min(log_ranks - 1));
        let setting = Setting { gpus, ..setting };
        let initial = if from_ring { Initial::Topology(ring(gpus)) } else { Initial::Free };
        let problem = problem(setting, initial);
        let planner = Bridge::with_optical_ports(gpus, 2 * gpus / block).unwrap();
        prop_assert_eq!(planner.block(), block);
        let choice = planner.choose(&problem).unwrap();
        let expected = over_all_vectors(Instance { block, ..setting.instance(from_ring) });
        prop_assert!(near(choice.total_s, expected), "{} {}", choice.total_s, expected);
        check(choice)?;
    }

    /// §5: half of the data each way takes the time of one way with twice the bandwidth.
    #[test]
    fn mirrored_copies_halve_the_data(setting in settings(), log_ranks in 1u32..8, from_ring in prop::bool::ANY) {
        let log_ranks = if setting.collective == Collective::AllReduce { log_ranks.min(6) } else { log_ranks };
        let gpus = 1 << log_ranks;
        let setting = Setting { gpus, ports: 2, algorithm: "bruck-mirrored", ..setting };
        let two_way = if gpus == 2 { circulant(2, &[(1, 2)]) } else { circulant(gpus, &[(1, 1), (gpus - 1, 1)]) };
        let initial = if from_ring { Initial::Topology(two_way) } else { Initial::Free };
        let choice = bridge().choose(&problem(setting, initial)).unwrap();
        let expected = over_all_vectors(Instance { byte_s: BYTE_S / 2.0, ..setting.instance(from_ring) });
        prop_assert!((choice.total_s - expected).abs() <= 1e-9 * expected, "{} {}", choice.total_s, expected);
        check(choice)?;
    }

    /// §3.1: radix r ≤ ports + 1, each step's circuits z·r^k, over all vectors.
    #[test]
    fn several_ports_equal_the_best_of_all_vectors(
        setting in settings(), radix in 2u32..5, spare in 0u32..3, gpus in 2u32..90, from_ring in prop::bool::ANY,
    ) {
        let ports = radix - 1 + spare;
        let setting = Setting { gpus, ports, radix, ..setting };
        let initial = if from_ring { Initial::Topology(circulant(gpus, &[(1, ports)])) } else { Initial::Free };
        let given = problem(setting, initial.clone());
        let choice = bridge().choose(&given).unwrap();
        // Weights of the steps, and the circuits of each: as many in parallel as its peers allow.
        let powers: Vec<u32> = (0..).map(|k| radix.min(gpus).pow(k)).take_while(|&power| power < gpus).collect();
        let circuits = |power: u32| {
            let ahead: Vec<u32> = (1..radix).map(|z| z * power).take_while(|&distance| distance < gpus).collect();
            let count = ports / ahead.len() as u32;
            circulant(gpus, &ahead.into_iter().map(|distance| (distance, count)).collect::<Vec<_>>())
        };
        let candidates = powers.iter().map(|&power| circuits(power)).collect();
        let all = Problem::new(given.schedule().clone(), given.fabric.clone(), given.settings, given.size_bytes, candidates).unwrap();
        let rising: Vec<usize> = (0..powers.len()).collect();
        let falling: Vec<usize> = rising.iter().rev().copied().collect();
        let (own, gathers_from) = match setting.collective {
            Collective::AllGather => (falling, 0),
            Collective::AllReduce => ([rising, falling].concat(), powers.len()),
            _ => (rising, powers.len()),
        };
        let change = all.change();
        let mut expected = f64::INFINITY;
        // The lowest bit says whether to leave a given start before the first step.
        for vector in 0..1u32 << own.len() {
            let mut in_force = all.start;
            let mut total_s = 0.0;
            for step in 0..own.len() {
                let mut topology = in_force.unwrap_or(own[step]);
                let starts = step == gathers_from || (step == 0 && all.start.is_none());
                if vector >> step & 1 == 1 || starts {
                    let mut on = step;
                    while step >= gathers_from && on + 1 < own.len() && vector >> (on + 1) & 1 == 0 {
                        on += 1;
                    }
                    topology = own[on];
                }
                total_s += in_force.map_or(0.0, |from| change.between(all.table.candidates(), from, topology));
                total_s += all.step_cost(step, topology).map_or(f64::INFINITY, |(cost, ..)| cost.total_s());
                in_force = Some(topology);
            }
            expected = expected.min(total_s);
        }
        prop_assert!(choice.total_s <= expected * (1.0 + 1e-9), "{} {}", choice.total_s, expected);
        // Going on with a given start past the ReduceScatter is for the planner only.
        if all.start.is_none() {
            prop_assert!(choice.total_s >= expected * (1.0 - 1e-9), "{} {}", choice.total_s, expected);
        }
        check(choice)?;
    }
}

proptest! {
    /// Whatever the algorithm, n, radix and routing: a plan that passes, no slower than either extreme.
    #[test]
    fn every_pattern_gives_a_plan_between_the_bound_and_the_baselines(
        algorithm in prop::sample::select(vec!["bruck", "bruck-doubling", "bruck-mirrored"]),
        setting in settings(),
        gpus in 2u32..40,
        radix in 2u32..6,
        routing in prop::sample::select(Routing::ALL.to_vec()),
    ) {
        let has_no_all_to_all = algorithm == "bruck-doubling" && setting.collective == Collective::AllToAll;
        let algorithm = if has_no_all_to_all { "bruck" } else { algorithm };
        let ports = 2 * (radix - 1);
        let setting = Setting { algorithm, gpus, radix, ports, ..setting };
        let mut given = problem(setting, Initial::Free);
        given.settings.routing = routing;
        let choice = bridge().choose(&given).unwrap();
        let greedy = find("bvn").unwrap().choose(&given).unwrap();
        prop_assert!(choice.total_s <= greedy.total_s * (1.0 + 1e-9), "{} {}", choice.total_s, greedy.total_s);
        check(choice)?;
    }
}
