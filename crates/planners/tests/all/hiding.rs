//! The hidden part of reconfigurations, against brute force over all sequences with a rule of its own, and by hand.
use std::collections::BTreeMap;

use collectives::Options;
use lightloom_planners::{Choice, Problem, REGISTRY, choose, find};
use model::{
    Collective, CostSettings, Fabric, Initial, Link, Overlap, ReconfigurationDelay, ReconfigurationOverlap,
    ReconfigurationPolicy, Shape, Topology, Translations, Window, sum_seconds,
};
use proptest::prelude::*;

fn fabric(gpus: u32, ports: u32) -> Fabric {
    Fabric {
        shape: Shape::new(gpus, &[], ports).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(4e-6),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    }
}

fn circulant(gpus: u32, offsets: &[u32]) -> Topology {
    let links = offsets.iter().map(|&dst| Link { src: 0, dst, count: 1 });
    Topology::new(format!("{offsets:?}"), Translations::cyclic(gpus), links).unwrap()
}

/// The one-way ring with some more circuits, without any symmetry.
fn ring_and(gpus: u32, beside: &[(u32, u32)]) -> Topology {
    let ring = (0..gpus).map(|src| (src, (src + 1) % gpus));
    let mut circuits: Vec<(u32, u32)> = ring.collect();
    for &(src, by) in beside {
        let circuit = (src % gpus, (src + 1 + by % (gpus - 1)) % gpus);
        // Two ports, one of which the ring has.
        let taken = circuits[gpus as usize..].iter().any(|other| other.0 == circuit.0 || other.1 == circuit.1);
        if !taken {
            circuits.push(circuit);
        }
    }
    let links = circuits.into_iter().map(|(src, dst)| Link { src, dst, count: 1 });
    Topology::new(format!("ring and {beside:?}"), Translations::trivial(gpus), links).unwrap()
}

/// The charge by the words of the setting: which GPU has which circuits, one by one.
fn charge_s(fabric: &Fabric, from: &Topology, to: &Topology, step: usize, before_s: f64) -> f64 {
    let circuits = |topology: &Topology| -> BTreeMap<(u32, u32), i64> {
        topology.expanded().into_iter().map(|link| ((link.src, link.dst), i64::from(link.count))).collect()
    };
    let (old, new) = (circuits(from), circuits(to));
    let more = |a: &BTreeMap<(u32, u32), i64>, b: &BTreeMap<(u32, u32), i64>| -> Vec<(u32, u32)> {
        let surplus = a.iter().map(|(pair, count)| (*pair, count - b.get(pair).unwrap_or(&0)));
        surplus.flat_map(|(pair, surplus)| std::iter::repeat_n(pair, surplus.max(0) as usize)).collect()
    };
    let (added, removed) = (more(&new, &old), more(&old, &new));
    if added.is_empty() && removed.is_empty() {
        return 0.0;
    }
    let (terms, overlap) = (fabric.reconfiguration.delay().terms(), fabric.reconfiguration.overlap());
    let window_s = overlap.window.steps.get(&step).copied().unwrap_or(overlap.window.every_s);
    let delay = |ports: usize| terms.fixed_s + terms.per_port_s * ports as f64;
    let ports = i64::from(fabric.shape.ports());
    let fits = (0..fabric.shape.gpus()).all(|gpu| {
        let out: i64 = old.iter().filter(|((src, _), _)| *src == gpu).map(|(_, count)| count).sum();
        let into: i64 = old.iter().filter(|((_, dst), _)| *dst == gpu).map(|(_, count)| count).sum();
        let new_out = added.iter().filter(|(src, _)| *src == gpu).count();
        let new_into = added.iter().filter(|(_, dst)| *dst == gpu).count();
        (new_out == 0 || (new_out == 1 && out < ports)) && (new_into == 0 || (new_into == 1 && into < ports))
    });
    if overlap.background && fits {
        return if added.is_empty() { 0.0 } else { f64::max(0.0, delay(added.len()) - window_s - before_s) };
    }
    f64::max(0.0, delay(added.len().max(removed.len())) - window_s)
}

/// The least time over all sequences of candidates.
fn brute_force(problem: &Problem) -> f64 {
    let (steps, candidates) = (problem.table.steps(), problem.table.candidates());
    let cost = |step, candidate| problem.step_cost(step, candidate).map_or(f64::INFINITY, |(cost, ..)| cost.total_s());
    let costs: Vec<Vec<f64>> = (0..steps).map(|step| (0..candidates).map(|c| cost(step, c)).collect()).collect();
    let mut best = f64::INFINITY;
    for code in 0..candidates.pow(steps as u32) {
        let sequence: Vec<usize> = (0..steps).map(|step| code / candidates.pow(step as u32) % candidates).collect();
        let mut terms = Vec::new();
        let mut before = problem.start.map(|start| (start, 0.0));
        for (step, &candidate) in sequence.iter().enumerate() {
            if let Some((from, before_s)) = before {
                let (from, to) = (problem.table.candidate(from), problem.table.candidate(candidate));
                terms.push(charge_s(&problem.fabric, from, to, step, before_s));
            }
            terms.push(costs[step][candidate]);
            before = Some((candidate, costs[step][candidate]));
        }
        best = best.min(sum_seconds(terms));
    }
    best
}

/// The plan's time, after the verifier and, where it knows packets, the simulator have agreed with it.
fn judged(choice: Choice) -> f64 {
    let (planner, total_s) = (choice.planner, choice.total_s);
    let plan = choice.into_plan(true).unwrap();
    assert_eq!(lightloom::verify_plan(&plan).first_failure(), None, "{planner}");
    assert!((plan.total_s() - total_s).abs() <= 1e-12 * total_s, "{planner}: {} {total_s}", plan.total_s());
    assert!(plan.bound.seconds <= total_s * (1.0 + 1e-12), "{planner}: {} {total_s}", plan.bound.seconds);
    if plan.settings.overlap == Overlap::Pipelined {
        let simulated_s = simulate::simulate(&plan, &simulate::Settings::default()).unwrap().total_s();
        let rounding_s = 1e-15 * 3.0 * plan.steps.len() as f64;
        assert!((simulated_s - total_s).abs() <= 1e-12 * total_s + rounding_s, "{planner}: {simulated_s} {total_s}");
    }
    total_s
}

#[derive(Debug, Clone)]
struct Instance {
    algorithm: (&'static str, Collective, u32),
    offsets: Vec<Vec<u32>>,
    beside: Vec<Vec<(u32, u32)>>,
    ports: u32,
    log_size: u32,
    delay_s: f64,
    per_port: bool,
    start: bool,
    overlap: Overlap,
    hiding: ReconfigurationOverlap,
}

fn hidings() -> impl Strategy<Value = ReconfigurationOverlap> {
    let time = || prop_oneof![Just(0.0), 1e-7..1e-5f64];
    let window = (time(), prop::collection::btree_map(0usize..4, time(), 0..3));
    let window = window.prop_map(|(every_s, steps)| Window { every_s, steps });
    let none = Just(Window::default());
    (any::<bool>(), prop_oneof![none, window])
        .prop_map(|(background, window)| ReconfigurationOverlap { background, window })
}

fn instances() -> impl Strategy<Value = Instance> {
    let algorithms = vec![
        ("recursive-doubling", Collective::ReduceScatter, 8),
        ("recursive-doubling", Collective::AllGather, 8),
        ("recursive-doubling", Collective::AllReduce, 4),
        ("swing", Collective::AllReduce, 4),
        ("bruck", Collective::AllToAll, 7),
        ("direct", Collective::AllToAll, 5),
        ("ring", Collective::AllGather, 5),
    ];
    (
        prop::sample::select(algorithms),
        prop::collection::vec(prop::collection::vec(1u32..8, 1..5), 1..4),
        prop::collection::vec(prop::collection::vec((0u32..8, 0u32..7), 1..5), 0..2),
        (2u32..5, 8u32..24),
        -7.0f64..-4.5,
        any::<[bool; 3]>(),
        hidings(),
    )
        .prop_map(
            |(algorithm, offsets, beside, (ports, log_size), log_delay, [per_port, start, pipelined], hiding)| {
                let overlap = if pipelined { Overlap::Pipelined } else { Overlap::Additive };
                let delay_s = 10f64.powf(log_delay);
                Instance { algorithm, offsets, beside, ports, log_size, delay_s, per_port, start, overlap, hiding }
            },
        )
}

fn problem(of: &Instance) -> Problem {
    let (algorithm, collective, gpus) = of.algorithm;
    let mut candidates = vec![circulant(gpus, &[1])];
    let place = |topology: Topology, candidates: &mut Vec<Topology>| {
        if !candidates.iter().any(|other| other.same_links(&topology)) {
            candidates.push(topology);
        }
    };
    for offsets in &of.offsets {
        let offsets = offsets.iter().take(of.ports as usize).map(|offset| 1 + offset % (gpus - 1));
        let offsets: Vec<u32> = offsets.collect();
        place(circulant(gpus, &offsets), &mut candidates);
    }
    of.beside.iter().for_each(|beside| place(ring_and(gpus, beside), &mut candidates));
    let mut fabric = fabric(gpus, of.ports);
    let delay = match of.per_port {
        true => ReconfigurationDelay::per_port(of.delay_s / 2.0, of.delay_s / 20.0),
        false => ReconfigurationDelay::constant(of.delay_s),
    };
    fabric.reconfiguration = ReconfigurationPolicy::new(delay, of.hiding.clone());
    if of.start {
        fabric.initial = Initial::Topology(circulant(gpus, &[gpus - 1]));
    }
    let settings = CostSettings { overlap: of.overlap, ..CostSettings::default() };
    let shape = Shape::new(gpus, &[], 1).unwrap();
    let schedule = collectives::find(algorithm).unwrap().build(collective, &shape, &Options::default()).unwrap();
    Problem::new(schedule, fabric, settings, 1 << of.log_size, candidates).unwrap()
}

fn with(problem: &Problem, hiding: ReconfigurationOverlap) -> Problem {
    let reconfiguration = problem.fabric.reconfiguration.with_overlap(hiding);
    Problem { fabric: Fabric { reconfiguration, ..problem.fabric.clone() }, ..problem.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]

    #[test]
    fn harvest_equals_brute_force_over_all_sequences(of in instances()) {
        let problem = problem(&of);
        let expected = brute_force(&problem);
        let found = judged(find("harvest").unwrap().choose(&problem).unwrap());
        prop_assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
    }

    #[test]
    fn every_planner_is_charged_by_the_same_rule(of in instances()) {
        let problem = problem(&of);
        for planner in REGISTRY {
            if let Ok(Some(choice)) = choose(*planner, &problem, f64::INFINITY) {
                let limit_s = choice.total_s;
                judged(choice);
                prop_assert!(choose(*planner, &problem, limit_s * (1.0 + 1e-9)).unwrap().is_some(), "{}", planner.name());
                prop_assert!(choose(*planner, &problem, limit_s * (1.0 - 1e-6)).unwrap().is_none(), "{}", planner.name());
            }
        }
    }

    #[test]
    fn hiding_more_never_takes_longer(of in instances(), more_s in 0.0..1e-5f64) {
        let best = |hiding: &ReconfigurationOverlap| {
            find("harvest").unwrap().choose(&with(&problem(&of), hiding.clone())).unwrap().total_s
        };
        let hidden = of.hiding.clone();
        let found = best(&hidden);
        let at_most = |other: f64| found <= other * (1.0 + 1e-12);
        prop_assert!(at_most(best(&ReconfigurationOverlap::default())));
        let (in_windows, in_background) =
            (ReconfigurationOverlap { background: false, ..hidden.clone() }, ReconfigurationOverlap { window: Window::default(), ..hidden.clone() });
        prop_assert!(at_most(best(&in_windows)));
        prop_assert!(at_most(best(&in_background)));
        let mut longer = hidden.clone();
        longer.window.every_s += more_s;
        longer.window.steps.values_mut().for_each(|window_s| *window_s += more_s);
        prop_assert!(best(&longer) <= found * (1.0 + 1e-12));
    }

    #[test]
    fn a_window_of_nothing_is_none(of in instances()) {
        let nothing = Window { every_s: 0.0, steps: (0..3).map(|step| (step, 0.0)).collect() };
        let none = with(&problem(&of), ReconfigurationOverlap { window: Window::default(), ..of.hiding.clone() });
        let zero = with(&none, ReconfigurationOverlap { window: nothing, ..of.hiding });
        let best = |problem: &Problem| find("harvest").unwrap().choose(problem).unwrap();
        prop_assert_eq!(best(&zero).total_s, best(&none).total_s);
        prop_assert_eq!(best(&zero).candidates, best(&none).candidates);
    }
}

/// ReduceScatter by recursive doubling on 4 GPUs, 400 kB: 2 µs of bytes over distance 1, then 1 µs over distance 2;
/// α = δ = 0.5 µs, α_r = 4 µs, two ports, of which these candidates use one.
fn by_hand(hiding: ReconfigurationOverlap) -> (f64, Vec<f64>) {
    let shape = Shape::new(4, &[], 2).unwrap();
    let doubling = collectives::find("recursive-doubling").unwrap();
    let schedule = doubling.build(Collective::ReduceScatter, &shape, &Options::default()).unwrap();
    let candidates = vec![circulant(4, &[1]), circulant(4, &[2])];
    let mut fabric = fabric(4, 2);
    fabric.reconfiguration = fabric.reconfiguration.with_overlap(hiding);
    let problem = Problem::new(schedule, fabric, CostSettings::default(), 400_000, candidates).unwrap();
    let plan = find("harvest").unwrap().choose(&problem).unwrap().into_plan(true).unwrap();
    let charges = plan.steps.iter().map(|step| (step.cost.reconfiguration_s * 1e9).round()).collect();
    ((plan.total_s() * 1e9).round(), charges)
}

#[test]
fn each_rule_by_hand() {
    let window = |text: &str| Window::parse("window", text).unwrap();
    let hiding = |background, text: &str| ReconfigurationOverlap { background, window: window(text) };
    // Staying: 3 µs on the ring, then 0.5 + 2·0.5 + 2·1 = 3.5 µs over two hops.
    assert_eq!(by_hand(ReconfigurationOverlap::default()), (6500.0, vec![0.0, 0.0]));
    // The dark port turns for 3 of the 4 µs while the first step takes its time; the second takes 2 µs.
    assert_eq!(by_hand(hiding(true, "0s")), (6000.0, vec![0.0, 1000.0]));
    // Computation before the second step hides 0.4 µs more.
    assert_eq!(by_hand(hiding(true, "400ns")), (5600.0, vec![0.0, 600.0]));
    assert_eq!(by_hand(hiding(true, "2=3us")), (5000.0, vec![0.0, 0.0]));
    // Without the dark port, 3.5 µs of computation leave 0.5 µs; 2 µs would leave 2, more than staying costs.
    assert_eq!(by_hand(hiding(false, "2=3500ns")), (5500.0, vec![0.0, 500.0]));
    assert_eq!(by_hand(hiding(false, "2us")), (6500.0, vec![0.0, 0.0]));
    // Before the first step nothing is changed.
    assert_eq!(by_hand(hiding(false, "1=1ms")), (6500.0, vec![0.0, 0.0]));
}
