//! The engines against the second simulator, to the femtosecond.
use crate::plans::by_hand;
use crate::plans::fabric;
use crate::plans::planned;
use crate::reference::one_by_one as reference;
use crate::reference::packets::Circuit;

use std::collections::BTreeMap;

use by_hand::{Sent, by_hand, topology};
use fabric::fabric;
use lightloom_simulate::{
    Forwarding, Injection, ReconfigurationScope, Settings, SimulatedStep, Symmetry, Synchronisation, simulate,
};
use model::{Collective, Initial, Plan, Rank, ReconfigurationPolicy};
use planned::planned;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use reference::{StepRecord, Times, Usage};

fn told(step: &SimulatedStep) -> StepRecord {
    let usage = |circuit: &lightloom_simulate::CircuitUse| Usage {
        bytes: circuit.bytes,
        packets: circuit.packets,
        first_fs: circuit.first_fs,
        last_fs: circuit.last_fs,
        busy_fs: circuit.busy_fs,
        queue_bytes: circuit.queue_bytes,
    };
    let times = |gpu: &lightloom_simulate::GpuTimes| Times {
        ready_fs: gpu.ready_fs,
        first_send_fs: gpu.first_send_fs,
        last_sent_fs: gpu.last_sent_fs,
        last_received_fs: gpu.last_received_fs,
    };
    StepRecord {
        end_fs: step.end_fs,
        circuits: step.expanded_circuits().iter().map(|c| ((c.src, c.dst, c.circuit), usage(c))).collect(),
        gpus: step.expanded_gpus().iter().map(|gpu| (gpu.gpu, times(gpu))).collect(),
    }
}

/// Bytes of the longest queue of each circuit.
type Queues = BTreeMap<Circuit, u64>;

/// Under dataflow, a queue is told for all steps together.
fn without_queues(mut steps: Vec<StepRecord>) -> (Vec<StepRecord>, Queues) {
    let mut queues = Queues::new();
    for (circuit, used) in steps.iter_mut().flat_map(|step| &mut step.circuits) {
        let longest = queues.entry(*circuit).or_insert(0);
        *longest = used.queue_bytes.max(*longest);
        used.queue_bytes = 0;
    }
    (steps, queues)
}

fn same(plan: &Plan, settings: &Settings) -> Result<(), TestCaseError> {
    match (reference::simulate(plan, settings), simulate(plan, settings)) {
        (Some(mut expected), Ok(found)) => {
            let mut steps: Vec<StepRecord> = found.steps.iter().map(told).collect();
            prop_assert_eq!(found.total_fs, expected.iter().map(|step| step.end_fs).max().unwrap_or(0));
            let hops: u64 = expected.iter().flat_map(|step| step.circuits.values()).map(|used| used.packets).sum();
            prop_assert_eq!(found.packet_hops, hops);
            if settings.sync == Synchronisation::Dataflow {
                let (queues, longest);
                (steps, queues) = without_queues(steps);
                (expected, longest) = without_queues(expected);
                prop_assert_eq!(queues, longest);
            }
            for (index, (step, expected)) in steps.iter().zip(&expected).enumerate() {
                for (circuit, used) in &expected.circuits {
                    prop_assert_eq!(step.circuits.get(circuit), Some(used), "step {}, circuit {:?}", index, circuit);
                }
                prop_assert_eq!(&step.gpus, &expected.gpus, "step {}", index);
            }
            prop_assert_eq!(steps, expected);
        }
        (None, Err(error)) => prop_assert!(error.to_string().contains("wait for each other"), "{error}"),
        (expected, found) => prop_assert!(false, "{:?} against {found:?}", expected.is_some()),
    }
    Ok(())
}

fn any_settings(buffers: Vec<Option<u64>>) -> impl Strategy<Value = Settings> {
    (
        prop::sample::select(vec![64_u32, 100, 1000]),
        prop::sample::select(vec![0_u32, 1, 40]),
        prop::sample::select(Injection::ALL),
        prop::sample::select(Forwarding::ALL),
        prop::sample::select(vec![
            (Synchronisation::Barrier, ReconfigurationScope::Global, 0.0),
            (Synchronisation::Barrier, ReconfigurationScope::Ports, 3e-9),
            (Synchronisation::Dataflow, ReconfigurationScope::Global, 0.0),
        ]),
        prop::sample::select(buffers),
        prop::sample::select(Symmetry::ALL),
    )
        .prop_map(
            |(
                payload_bytes,
                header_bytes,
                injection,
                forwarding,
                (sync, reconfiguration, barrier_s),
                buffer,
                symmetry,
            )| {
                let packet = u64::from(payload_bytes + header_bytes);
                Settings {
                    payload_bytes,
                    header_bytes,
                    injection,
                    forwarding,
                    sync,
                    reconfiguration,
                    barrier_s,
                    buffer_bytes: buffer.map(|packets| packets * packet + packets),
                    symmetry,
                    ..Settings::default()
                }
            },
        )
}

/// Random links, random walks over them as paths with random shares, random sizes; two topologies in turn.
fn random_plan() -> impl Strategy<Value = Plan> {
    let links = prop::collection::vec((0_u32..5, 1_u32..5, 1_u32..3), 3..12);
    let walk = (0_u32..5, prop::collection::vec(0_usize..8, 1..6), 1_u32..5);
    let steps =
        prop::collection::vec((0_usize..2, prop::collection::vec(prop::collection::vec(walk, 1..4), 1..8)), 1..4);
    (links.clone(), links, steps, 1_u64..60, prop::sample::select(vec![0.0, 1e-9, 7e-9, 300e-9])).prop_map(
        |(first, second, steps, size, hop_delay_s)| {
            let mut fabric = fabric(&[5], 24);
            fabric.bandwidth_bps = 7.3e11;
            fabric.startup_s = 2e-9;
            fabric.hop_delay_s = hop_delay_s;
            fabric.reconfiguration = ReconfigurationPolicy::constant(20e-9);
            // A ring besides, so that there is a way out of every GPU.
            let graph = |links: &[(u32, u32, u32)]| -> Vec<(u32, u32, u32)> {
                let drawn = links.iter().map(|&(src, to, count)| (src, (src + to) % 5, count));
                let mut merged: BTreeMap<(u32, u32), u32> = BTreeMap::new();
                drawn
                    .chain((0..5).map(|gpu| (gpu, (gpu + 1) % 5, 1)))
                    .for_each(|(a, b, c)| *merged.entry((a, b)).or_insert(0) += c);
                merged.into_iter().map(|((src, dst), count)| (src, dst, count)).collect()
            };
            let graphs = [graph(&first), graph(&second)];
            let topologies = graphs.iter().map(|links| topology(5, links)).collect::<Vec<_>>();
            fabric.initial = Initial::Topology(topologies[0].clone());
            let walked = |graph: &[(u32, u32, u32)], start: Rank, turns: &[usize]| {
                turns.iter().fold(vec![start], |mut nodes, &turn| {
                    let here = nodes[nodes.len() - 1];
                    let out: Vec<u32> = graph.iter().filter(|link| link.0 == here).map(|link| link.1).collect();
                    nodes.push(out[turn % out.len()]);
                    nodes
                })
            };
            let steps: Vec<(usize, f64, Vec<Sent>)> = steps
                .iter()
                .map(|(at, arcs)| {
                    let mut sent: BTreeMap<(Rank, Rank), Sent> = BTreeMap::new();
                    for walks in arcs {
                        let (src, turns, chunks) = &walks[0];
                        let first = walked(&graphs[*at], *src, turns);
                        let dst = first[first.len() - 1];
                        let others = walks[1..].iter().map(|(_, turns, _)| walked(&graphs[*at], *src, turns));
                        let paths: Vec<Vec<Rank>> =
                            std::iter::once(first).chain(others.filter(|path| path[path.len() - 1] == dst)).collect();
                        let share = |path: usize| match (chunks % 2, path) {
                            (0, _) => 1.0 / paths.len() as f64,
                            (_, 0) => 1.0 - 0.3 * (paths.len() - 1) as f64,
                            _ => 0.3,
                        };
                        let paths = paths.iter().enumerate().map(|(i, path)| (share(i), path.clone())).collect();
                        if *src != dst {
                            sent.insert((*src, dst), (*src, dst, *chunks, paths));
                        }
                    }
                    if sent.is_empty() {
                        sent.insert((0, 1), (0, 1, 1, vec![(1.0, vec![0, 1])]));
                    }
                    (*at, 1.7, sent.into_values().collect())
                })
                .collect();
            by_hand(fabric, size * 997, topologies, &steps)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(600)))]

    #[test]
    fn random_plans_take_the_same_times(plan in random_plan(), settings in any_settings(vec![None])) {
        if settings.check(&plan.fabric).is_ok() {
            same(&plan, &settings)?;
        }
    }

    #[test]
    fn random_plans_with_full_buffers_take_the_same_times(
        plan in random_plan(), settings in any_settings(vec![Some(1), Some(2), Some(5)])
    ) {
        if settings.check(&plan.fabric).is_ok() {
            same(&plan, &settings)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(60)))]

    #[test]
    fn plans_of_planners_take_the_same_times(
        settings in any_settings(vec![None, Some(1), Some(9)]),
        (dims, ports, collective, algorithm, topology) in prop::sample::select(vec![
            (vec![8], 1, Collective::AllReduce, "recursive-doubling", Some("shifted-ring:1,one-way")),
            (vec![8], 1, Collective::AllReduce, "recursive-doubling", None),
            (vec![8], 2, Collective::AllToAll, "bruck", Some("ring")),
            (vec![9], 2, Collective::AllToAll, "direct", Some("ring")),
            (vec![3, 3], 4, Collective::AllToAll, "direct", Some("torus")),
            (vec![4, 4], 4, Collective::AllReduce, "swing", Some("torus")),
            (vec![8], 3, Collective::AllReduce, "recursive-doubling", Some("hypercube")),
            (vec![8], 3, Collective::Broadcast, "binomial-tree", Some("hypercube")),
        ]),
        size in 1_u64..40, hop_delay_s in prop::sample::select(vec![0.0, 20e-9, 500e-9])
    ) {
        let mut fabric = fabric(&dims, ports);
        fabric.hop_delay_s = hop_delay_s;
        fabric.initial = Initial::Topology(topologies::build("ring", &fabric.shape).unwrap());
        let plan = planned(fabric, collective, algorithm, size * 991, topology);
        if settings.check(&plan.fabric).is_ok() {
            same(&plan, &settings)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(40)))]

    /// Hundreds of packets from each sender: what is under way comes back, and is left out, in most of these.
    #[test]
    fn long_messages_of_paced_senders_take_the_same_times(
        (dims, ports, collective, algorithm, topology) in prop::sample::select(vec![
            (vec![8], 1, Collective::AllReduce, "recursive-doubling", "shifted-ring:1,one-way"),
            (vec![6], 2, Collective::AllToAll, "direct", "ring"),
            (vec![3, 3], 4, Collective::AllToAll, "direct", "torus"),
            (vec![4, 4], 4, Collective::AllReduce, "swing", "torus"),
        ]),
        payload_bytes in prop::sample::select(vec![64_u32, 100]),
        (header_bytes, forwarding) in prop::sample::select(vec![
            (0_u32, Forwarding::StoreAndForward), (36, Forwarding::StoreAndForward), (36, Forwarding::CutThrough),
        ]),
        packets in 40_u64..500, rest in 0_u64..2, hop_delay_s in prop::sample::select(vec![1e-9, 20e-9, 90e-9]),
        buffer in prop::sample::select(vec![None, Some(3), Some(40)]),
        sync in prop::sample::select(Synchronisation::ALL), symmetry in prop::sample::select(Symmetry::ALL),
    ) {
        let mut fabric = fabric(&dims, ports);
        fabric.hop_delay_s = hop_delay_s;
        let gpus = dims.iter().map(|&dim| u64::from(dim)).product::<u64>();
        let size = (packets * u64::from(payload_bytes) + rest) * gpus;
        let plan = planned(fabric, collective, algorithm, size, Some(topology));
        let buffer_bytes = buffer.map(|packets| packets * u64::from(payload_bytes + header_bytes));
        let injection = Injection::Paced;
        let paced = Settings { payload_bytes, header_bytes, injection, forwarding, sync, buffer_bytes, symmetry, ..Settings::default() };
        same(&plan, &paced)?;
    }
}

/// Thousands of packets over three paths, two of which begin with the same circuit, and another transfer behind them.
#[test]
fn long_transfers_over_several_paths_take_the_same_times() {
    let circuits = topology(5, &[(0, 1, 1), (0, 2, 1), (1, 2, 2), (1, 3, 1), (2, 4, 1), (3, 4, 1)]);
    for shares in [[0.6, 0.3, 0.1], [1.0 / 3.0; 3]] {
        let ways = [vec![0, 1, 2, 4], vec![0, 1, 3, 4], vec![0, 2, 4]];
        let sprayed = shares.into_iter().zip(ways).collect();
        let sent = vec![(0, 4, 3, sprayed), (0, 2, 1, vec![(1.0, vec![0, 1, 2])])];
        let plan = by_hand(fabric(&[5], 24), 6 << 20, vec![circuits.clone()], &[(0, 1.7, sent)]);
        for buffer_bytes in [None, Some(300)] {
            same(&plan, &Settings { payload_bytes: 100, buffer_bytes, ..Settings::default() }).unwrap();
        }
    }
}
