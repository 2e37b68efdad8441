//! One GPU of each orbit gives what all GPUs give, bit for bit.
use crate::plans::fabric;
use crate::plans::planned;

use fabric::fabric;
use lightloom_simulate::{
    Forwarding, Injection, Level, ReconfigurationScope, Settings, Simulation, Symmetry, Synchronisation, simulate,
};
use model::{Collective, Initial, Plan, ReconfigurationDelay};
use planned::planned;
use proptest::prelude::*;

/// Everything that a simulation tells, GPU by GPU.
fn expanded(mut found: Simulation) -> Simulation {
    for step in &mut found.steps {
        (step.circuits, step.gpus) = (step.expanded_circuits(), step.expanded_gpus());
        step.symmetry = model::Translations::trivial(step.symmetry.ranks());
    }
    found
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let kinds = prop::sample::select(vec![
        (vec![8], 1, Collective::AllReduce, "recursive-doubling", Some("shifted-ring:1,one-way")),
        (vec![16], 1, Collective::AllReduce, "recursive-doubling", None),
        (vec![12], 2, Collective::AllToAll, "bruck", Some("ring")),
        (vec![12], 2, Collective::AllToAll, "direct", None),
        (vec![3, 4], 4, Collective::AllToAll, "direct", Some("torus")),
        (vec![4, 4], 4, Collective::AllReduce, "swing", Some("torus")),
        (vec![4, 4], 8, Collective::AllReduce, "bucket", Some("torus")),
        (vec![2, 3, 4], 6, Collective::AllGather, "ring", Some("torus")),
        (vec![16], 4, Collective::AllReduce, "recursive-doubling", Some("hypercube")),
        (vec![16], 4, Collective::AllReduce, "halving-doubling", Some("hypercube")),
        (vec![16], 4, Collective::AllToAll, "pairwise-xor", Some("hypercube")),
        (vec![15], 3, Collective::AllToAll, "direct", Some("circulant:1,2,6")),
    ]);
    (kinds, 1_u64..200, prop::sample::select(vec![0.0, 30e-9, 500e-9]), prop::bool::ANY).prop_map(
        |((dims, ports, collective, algorithm, topology), size, hop_delay_s, free)| {
            let mut fabric = fabric(&dims, ports);
            fabric.hop_delay_s = hop_delay_s;
            if !free {
                let by_port = (1..=ports).map(|port| f64::from(port) * 1e-6);
                fabric.reconfiguration = ReconfigurationDelay::of_switches(0.0, by_port.collect()).into();
                fabric.initial = Initial::Topology(topologies::build("ring", &fabric.shape).unwrap());
            }
            planned(fabric, collective, algorithm, size * 4099, topology)
        },
    )
}

fn any_settings() -> impl Strategy<Value = Settings> {
    (
        prop::sample::select(Injection::ALL),
        prop::sample::select(Forwarding::ALL),
        prop::sample::select(Synchronisation::ALL),
        prop::sample::select(ReconfigurationScope::ALL),
        prop::sample::select(vec![None, Some(1000), Some(4000)]),
    )
        .prop_map(|(injection, forwarding, sync, reconfiguration, buffer_bytes)| Settings {
            payload_bytes: 900,
            header_bytes: 30,
            injection,
            forwarding,
            sync,
            reconfiguration,
            buffer_bytes,
            ..Settings::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]

    #[test]
    fn packets_on_orbits_take_the_times_of_all(plan in any_plan(), settings in any_settings()) {
        let full = simulate(&plan, &Settings { symmetry: Symmetry::Full, ..settings });
        match (simulate(&plan, &settings), full) {
            (Ok(orbits), Ok(full)) => prop_assert_eq!(expanded(orbits), full),
            (Err(_), Err(_)) => {}
            (orbits, full) => prop_assert!(false, "{:?} {:?}", orbits.err(), full.err()),
        }
    }

    #[test]
    fn flows_on_orbits_take_the_times_of_all(
        plan in any_plan(), sync in prop::sample::select(Synchronisation::ALL)
    ) {
        let settings = Settings { level: Level::Flow, sync, ..Settings::default() };
        let full = simulate(&plan, &Settings { symmetry: Symmetry::Full, ..settings }).unwrap();
        let orbits = simulate(&plan, &settings).unwrap();
        prop_assert!((orbits.total_s() / full.total_s() - 1.0).abs() < 1e-9);
        prop_assert_eq!(orbits.wire_bytes, full.wire_bytes);
    }

    #[test]
    fn the_same_input_gives_the_same_output(plan in any_plan(), settings in any_settings()) {
        prop_assert_eq!(simulate(&plan, &settings), simulate(&plan, &settings));
    }
}
