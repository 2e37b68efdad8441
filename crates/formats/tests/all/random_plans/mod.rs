//! Plans whose parts agree with each other, whatever they cost.

use std::collections::BTreeSet;

use model::{
    Bound, Chunks, Collective, CostSettings, Electrical, Fabric, Initial, Link, Op, OpticalLayer, Overlap, Piece, Plan,
    PlanParts, PlanStep, Propagation, ReconfigurationDelay, ReconfigurationOverlap, ReconfigurationPolicy, RoutedEntry,
    RoutedPath, Routes, Routing, Shape, Step, StepCost, Topology, Transfer, Translations, Window,
};
use proptest::prelude::*;

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0, 1e-12..1e-3, Just(1.0 / 3.0), Just(f64::MIN_POSITIVE), 1.0..1e9]
}

/// Any chunks that `n` ranks can have.
fn any_chunks(n: u32) -> impl Strategy<Value = Chunks> {
    let owned = [Collective::AllReduce, Collective::ReduceScatter, Collective::AllGather, Collective::AllToAll];
    let pieces = prop::collection::vec((0..n, 0..n, 1e-6..1.0f64), 1..9);
    prop_oneof![
        (prop::sample::select(owned.to_vec()), 1u32..4).prop_map(move |(c, parts)| Chunks::even(c, n, parts).unwrap()),
        (prop::sample::select(vec![Collective::AllReduce, Collective::Broadcast, Collective::Reduce]), 0..n, 1u32..9)
            .prop_map(move |(c, root, parts)| Chunks::buffer(c, n, root, parts).unwrap()),
        (prop::sample::select(vec![Collective::Gather, Collective::Scatter]), 0..n, 1u32..4)
            .prop_map(move |(c, root, parts)| Chunks::rooted(c, n, root, parts).unwrap()),
        pieces.prop_map(move |pieces| {
            let pieces = pieces.into_iter().map(|(src, dst, share)| Piece { src, dst, share }).collect();
            Chunks::pieces(n, pieces).unwrap()
        }),
    ]
}

type RawStep = (Vec<(u32, u32, bool, BTreeSet<u32>)>, usize, Vec<f64>, u32);

/// A time that a fabric may have, s.
fn accepted_time() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 9 => (-15.0..6.0f64).prop_map(|log| 10f64.powf(log).clamp(1e-15, 1e6))]
}

/// Any plan whose parts agree, whatever they cost.
pub fn any_plan() -> impl Strategy<Value = Plan> {
    let groups = |n: u32| {
        let mut groups = vec![Translations::trivial(n), Translations::cyclic(n)];
        if n.is_power_of_two() {
            groups.push(Translations::xor(n));
        }
        if n.is_multiple_of(2) {
            groups.push(Translations::periodic(n, 2));
        }
        prop::sample::select(groups)
    };
    (2u32..10)
        .prop_flat_map(move |n| {
            let links = prop::collection::vec((0..n, 1..n, 1u32..3), 1..5);
            let transfers = prop::collection::vec(
                (0..n, 1..n, any::<bool>(), prop::collection::btree_set(0u32..1000, 1..12)),
                1..4,
            );
            (
                any_chunks(n),
                prop::collection::vec((groups(n), links), 1..4),
                prop::collection::vec((transfers, 0usize..3, prop::collection::vec(positive(), 6), 1u32..9), 1..4),
                groups(n),
                prop::collection::vec(accepted_time(), 6),
                (any::<bool>(), 0usize..3, any::<bool>(), 1u64..(1 << 53), "\\PC{1,20}"),
            )
        })
        .prop_map(|(chunks, topologies, steps, group, numbers, (free, routing, rule, size_bytes, name))| {
            let n = chunks.ranks();
            let group = if chunks.is_translatable() { group } else { Translations::trivial(n) };
            let topologies: Vec<Topology> = topologies
                .into_iter()
                .enumerate()
                .map(|(id, (group, links))| {
                    let links = links.into_iter().map(|(src, by, count)| Link { src, dst: (src + by) % n, count });
                    Topology::new(format!("{name} {id}"), group, links).unwrap()
                })
                .collect();
            let initial = if free { Initial::Free } else { Initial::Topology(topologies[0].clone()) };
            let mut before = if free { None } else { Some(0) };
            let mut planned = Vec::new();
            for step in steps {
                planned.push(planned_step(step, &group, &chunks, &topologies, &mut before));
            }
            Plan::new(PlanParts {
                algorithm: name.clone(),
                planner: name.clone(),
                size_bytes,
                fabric: Fabric {
                    shape: Shape::new(n, &[], 1024).unwrap(),
                    bandwidth_bps: 1.0 + numbers[0],
                    startup_s: numbers[1],
                    barrier_s: numbers[3],
                    hop_delay_s: numbers[2],
                    electrical: rule.then_some(Electrical {
                        gpus: n,
                        bandwidth_bps: 1.0 + numbers[0],
                        hop_delay_s: numbers[2],
                    }),
                    reconfiguration: ReconfigurationPolicy::new(
                        match free {
                            true => ReconfigurationDelay::per_port(numbers[3], numbers[4]),
                            false => {
                                ReconfigurationDelay::of_switches(numbers[3], numbers.repeat(171)[..1024].to_vec())
                            }
                        },
                        ReconfigurationOverlap {
                            background: rule,
                            window: Window {
                                every_s: numbers[5],
                                steps: (0..routing).map(|at| (at, numbers[at])).collect(),
                            },
                        },
                    ),
                    initial,
                    optics: free.then(|| OpticalLayer::new("islands:3x2").unwrap()),
                },
                settings: CostSettings {
                    routing: Routing::ALL[routing],
                    propagation: Propagation::ALL[usize::from(rule)],
                    overlap: Overlap::ALL[usize::from(!rule)],
                },
                chunks,
                topologies,
                steps: planned,
                bound: Bound { seconds: numbers[5], class: name.clone() },
                narrow_bound: free.then_some(Bound { seconds: numbers[4], class: name }),
            })
            .unwrap()
        })
}

fn planned_step(
    (transfers, topology, numbers, hops): RawStep,
    group: &Translations,
    chunks: &Chunks,
    topologies: &[Topology],
    before: &mut Option<usize>,
) -> PlanStep {
    let n = chunks.ranks();
    let topology = topology % topologies.len();
    let reconfigured = before.is_some_and(|before| !topologies[before].same_links(&topologies[topology]));
    *before = Some(topology);
    let transfers = transfers.into_iter().map(|(src, by, copies, carried)| {
        let carried: BTreeSet<u32> = carried.into_iter().map(|chunk| chunk % chunks.count()).collect();
        let op = if copies { Op::Copy } else { Op::Reduce };
        Transfer { src, dst: (src + by) % n, op, chunks: carried.into_iter().collect() }
    });
    let step = Step::new(group.clone(), transfers, chunks).unwrap();
    let paths = |src, dst| vec![RoutedPath { share: numbers[0], nodes: vec![src, dst] }; 2];
    let arcs = step.transfers().iter().map(|t| RoutedEntry { src: t.src, dst: t.dst, paths: paths(t.src, t.dst) });
    PlanStep {
        routes: Routes { symmetry: group.clone(), arcs: arcs.collect() },
        step,
        topology,
        reconfigured,
        transfer_bytes: numbers[1],
        hops,
        load: numbers[2],
        electrical_load: numbers[2],
        cost: StepCost {
            startup_s: numbers[3],
            propagation_s: numbers[4],
            transmission_s: numbers[5],
            reconfiguration_s: if reconfigured { numbers[0] } else { 0.0 },
            barrier_s: numbers[2],
        },
    }
}
