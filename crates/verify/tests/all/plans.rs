//! A valid plan passes; every number of it, changed by itself, fails its own check.
#[allow(dead_code, reason = "each test file uses a part of them")]
use crate::schedules;

use model::{
    Bound, CostSettings, Fabric, Initial, Link, Plan, PlanParts, PlanStep, Propagation, ReconfigurationDelay,
    ReconfigurationOverlap, RoutedEntry, RoutedPath, Routes, Shape, StepCost, Topology, Translations, Window,
};
use schedules::{doubling_all_gather, forget_symmetry};

const N: u32 = 8;
const SIZE: u64 = 1 << 20;

fn ring() -> Topology {
    Topology::new("ring", Translations::cyclic(N), [Link { src: 0, dst: 1, count: 1 }]).unwrap()
}

fn fabric(per_port_s: f64) -> Fabric {
    Fabric {
        shape: Shape::new(N, &[], 1).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 5e-7,
        barrier_s: 0.0,
        hop_delay_s: 3e-7,
        reconfiguration: ReconfigurationDelay::per_port(1e-5, per_port_s).into(),
        initial: Initial::Topology(ring()),
        optics: None,
        electrical: None,
    }
}

/// Doubling AllGather on 8 GPUs with one port: two steps on the ring, the third on its own circuits
/// u → u + 4. Times by hand: on the one-way ring, offset h takes h hops and puts h transfers on a link.
fn parts(per_port_s: f64, propagation: Propagation) -> PlanParts {
    let schedule = doubling_all_gather(N, 1);
    let jump = Topology::new("jump", Translations::cyclic(N), [Link { src: 0, dst: 4, count: 1 }]).unwrap();
    let step = |index: usize, topology: usize, hops: u32, nodes: Vec<u32>| {
        let bytes = (SIZE >> 3 << index) as f64;
        let reconfigured = index == 2;
        PlanStep {
            step: schedule.steps()[index].clone(),
            topology,
            reconfigured,
            transfer_bytes: bytes,
            hops,
            load: f64::from(hops),
            electrical_load: 0.0,
            routes: Routes {
                symmetry: Translations::cyclic(N),
                arcs: vec![RoutedEntry { src: 0, dst: 1 << index, paths: vec![RoutedPath { share: 1.0, nodes }] }],
            },
            cost: StepCost {
                startup_s: 5e-7,
                propagation_s: 3e-7 * f64::from(hops),
                transmission_s: bytes * f64::from(hops) / 1e11,
                // All 8 transmitters change their circuit.
                reconfiguration_s: if reconfigured { 1e-5 + 8.0 * per_port_s } else { 0.0 },
                barrier_s: 0.0,
            },
        }
    };
    PlanParts {
        algorithm: "recursive-doubling".into(),
        planner: "by hand".into(),
        size_bytes: SIZE,
        fabric: fabric(per_port_s),
        settings: CostSettings { propagation, ..CostSettings::default() },
        chunks: schedule.chunks().clone(),
        topologies: vec![ring(), jump],
        steps: vec![step(0, 0, 1, vec![0, 1]), step(1, 0, 2, vec![0, 1, 2]), step(2, 1, 1, vec![0, 4])],
        bound: Bound { seconds: 1e-5, class: "any".into() },
        narrow_bound: None,
    }
}

fn failures(parts: PlanParts) -> Vec<&'static str> {
    let report = lightloom_verify::plan(&Plan::new(parts).unwrap());
    report.checks.iter().filter(|check| !check.passed).map(|check| check.name).collect()
}

#[test]
fn a_valid_plan_passes() {
    for per_port_s in [0.0, 2e-8] {
        for &propagation in Propagation::ALL {
            let plan = Plan::new(parts(per_port_s, propagation)).unwrap();
            assert_eq!(lightloom_verify::plan(&plan).first_failure(), None);
        }
    }
}

#[test]
fn paths_may_be_split_and_written_without_symmetry() {
    // Two-way ring, offset 4 both ways: half of each transfer one way, half the other; 4 hops, load 2.
    let mut parts = parts(0.0, Propagation::Hops);
    let both = Topology::new(
        "two-way",
        Translations::cyclic(N),
        [Link { src: 0, dst: 1, count: 1 }, Link { src: 0, dst: N - 1, count: 1 }],
    )
    .unwrap();
    parts.fabric.shape = Shape::new(N, &[], 2).unwrap();
    parts.topologies[1] = both;
    let whole = forget_symmetry(&doubling_all_gather(N, 1));
    let last = &mut parts.steps[2];
    last.step = whole.steps()[2].clone();
    (last.hops, last.load) = (4, 2.0);
    last.cost.propagation_s = 3e-7 * 4.0;
    last.cost.transmission_s = last.transfer_bytes * 2.0 / 1e11;
    let path = |src: u32, by: u32| RoutedPath { share: 0.5, nodes: (0..5).map(|hop| (src + by * hop) % N).collect() };
    last.routes = Routes {
        symmetry: Translations::trivial(N),
        arcs: (0..N)
            .map(|src| RoutedEntry { src, dst: (src + 4) % N, paths: vec![path(src, 1), path(src, N - 1)] })
            .collect(),
    };
    assert_eq!(failures(parts.clone()), Vec::<&str>::new());
    parts.steps[2].routes.arcs.pop();
    assert_eq!(failures(parts), ["routes"]);
}

#[test]
fn each_number_has_its_check() {
    type Damage = fn(&mut PlanParts);
    let cases: &[(&str, Damage)] = &[
        ("startup", |p| p.steps[0].cost.startup_s *= 1.0 + 1e-9),
        ("propagation", |p| p.steps[1].cost.propagation_s *= 1.0 - 1e-9),
        ("transmission", |p| p.steps[1].cost.transmission_s *= 1.0 + 1e-9),
        ("reconfiguration", |p| p.steps[2].cost.reconfiguration_s += 1e-9),
        ("bound", |p| p.bound.seconds = 1.0),
        ("bound", |p| p.bound.seconds = f64::NAN),
        ("bound", |p| p.bound.seconds = -1.0),
        ("ports", |p| {
            let more = [Link { src: 0, dst: 1, count: 1 }, Link { src: 0, dst: 2, count: 1 }];
            p.topologies.push(Topology::new("wide", Translations::cyclic(N), more).unwrap());
        }),
        ("ports", |p| {
            // One circuit out of each GPU, all of them into GPU 0 or 1.
            let funnel = (0..N).map(|src| Link { src, dst: u32::from(src == 0), count: 1 });
            p.topologies.push(Topology::new("funnel", Translations::trivial(N), funnel).unwrap());
        }),
        ("routes", |p| p.steps[1].routes.arcs.clear()),
        ("routes", |p| p.steps[1].routes.arcs[0].dst = 3),
        ("routes", |p| p.steps[1].routes.arcs[0].src = N),
        ("routes", |p| p.steps[1].routes.arcs[0].paths.clear()),
        ("routes", |p| p.steps[1].routes.arcs[0].paths[0].share = 0.9),
        ("routes", |p| p.steps[1].routes.arcs[0].paths[0].nodes = vec![0, 2]),
        ("routes", |p| p.steps[1].routes.arcs[0].paths[0].nodes = vec![0, 1]),
        ("routes", |p| p.steps[1].routes.arcs[0].paths[0].nodes = vec![0, N, 2]),
        ("routes", |p| p.steps[1].routes.arcs[0].paths[0].nodes = (0..=N + 2).map(|hop| hop % N).collect()),
        ("routes", |p| {
            let again = p.steps[1].routes.arcs[0].clone();
            p.steps[1].routes.arcs.push(RoutedEntry { src: 1, dst: 3, ..again });
        }),
        ("routes", |p| {
            let path = p.steps[1].routes.arcs[0].paths[0].clone();
            let shares = [1.5, -0.5];
            p.steps[1].routes.arcs[0].paths =
                shares.map(|share| RoutedPath { share, ..path.clone() }).into_iter().collect();
        }),
        ("routes", |p| p.steps[1].routes.symmetry = Translations::xor(N)),
        ("routes", |p| p.steps[1].routes.symmetry = Translations::cyclic(N - 1)),
    ];
    for (index, (name, damage)) in cases.iter().enumerate() {
        let mut damaged = parts(0.0, Propagation::Hops);
        damage(&mut damaged);
        assert_eq!(failures(damaged), [*name], "case {index}");
    }
}

#[test]
fn what_is_derived_follows_the_number_that_is_wrong() {
    type Damage = fn(&mut PlanParts);
    let cases: &[(&[&str], Damage)] = &[
        (&["hops", "propagation"], |p| p.steps[1].hops = 3),
        (&["load", "transmission"], |p| p.steps[1].load *= 1.0 + 1e-8),
        (&["transfer-bytes", "transmission"], |p| p.steps[1].transfer_bytes *= 1.0 + 1e-11),
        (&["transfer-bytes"], |p| p.size_bytes *= 2),
        (&["startup"], |p| p.fabric.startup_s *= 2.0),
        (&["propagation"], |p| p.fabric.hop_delay_s *= 2.0),
        (&["transmission"], |p| p.fabric.bandwidth_bps *= 2.0),
        (&["reconfiguration"], |p| p.fabric.reconfiguration = ReconfigurationDelay::constant(2e-5).into()),
        (&["reconfiguration"], |p| p.fabric.reconfiguration = ReconfigurationDelay::per_port(1e-5, 1e-9).into()),
        (&["propagation"], |p| p.settings.propagation = Propagation::InverseThroughput),
        (&["held", "postcondition"], |p| {
            p.steps.remove(0);
        }),
    ];
    for (index, (names, damage)) in cases.iter().enumerate() {
        let mut damaged = parts(0.0, Propagation::Hops);
        // Two ports: hops and ports · load then differ.
        if index == 9 {
            damaged.fabric.shape = Shape::new(N, &[], 2).unwrap();
        }
        damage(&mut damaged);
        assert_eq!(failures(damaged), *names, "case {index}");
    }
}

#[test]
fn per_port_delay_counts_the_larger_of_set_up_and_torn_down() {
    // From the ring to one circuit: 8 torn down, 1 set up.
    let mut parts = parts(2e-8, Propagation::Hops);
    let one = Topology::new("one", Translations::trivial(N), [Link { src: 0, dst: 4, count: 1 }]).unwrap();
    parts.topologies[1] = one;
    assert_eq!(failures(parts), ["routes"], "the reconfiguration term still holds: 8 ports change");
}

#[test]
fn a_thousand_ranks_of_direct_all_to_all() {
    let n = 1024;
    let schedule = schedules::direct_all_to_all(n);
    let ring = Topology::new("ring", Translations::cyclic(n), [Link { src: 0, dst: 1, count: 1 }]).unwrap();
    let fabric = Fabric { shape: Shape::new(n, &[], 1).unwrap(), initial: Initial::Free, ..fabric(0.0) };
    let steps = schedule.steps().iter().zip(1u32..).map(|(step, hops)| PlanStep {
        step: step.clone(),
        topology: 0,
        reconfigured: false,
        transfer_bytes: SIZE as f64 / f64::from(n),
        hops,
        load: f64::from(hops),
        electrical_load: 0.0,
        routes: Routes {
            symmetry: Translations::cyclic(n),
            arcs: vec![RoutedEntry {
                src: 0,
                dst: hops,
                paths: vec![RoutedPath { share: 1.0, nodes: (0..=hops).collect() }],
            }],
        },
        cost: StepCost {
            startup_s: 5e-7,
            propagation_s: 3e-7 * f64::from(hops),
            transmission_s: SIZE as f64 / f64::from(n) * f64::from(hops) / 1e11,
            reconfiguration_s: 0.0,
            barrier_s: 0.0,
        },
    });
    let parts = PlanParts {
        algorithm: "direct".into(),
        planner: "static".into(),
        size_bytes: SIZE,
        fabric,
        settings: CostSettings::default(),
        chunks: schedule.chunks().clone(),
        topologies: vec![ring],
        steps: steps.collect(),
        bound: Bound { seconds: 0.0, class: "any".into() },
        narrow_bound: None,
    };
    assert_eq!(lightloom_verify::plan(&Plan::new(parts).unwrap()).first_failure(), None);
}

/// The plan on two ports, of which it uses one: the third step's circuits are set up during the second.
fn in_background(window: &str) -> PlanParts {
    let mut parts = parts(2e-8, Propagation::Hops);
    parts.fabric.shape = Shape::new(N, &[], 2).unwrap();
    overlap(&mut parts, true, Window::parse("window", window).unwrap());
    // α + 2·δ + 2·256 KiB at 800 Gbit/s.
    let second_s = 5e-7 + 6e-7 + 5.24288e-6;
    let window_s = parts.fabric.reconfiguration.window_s(2);
    parts.steps[2].cost.reconfiguration_s = 1e-5 + 8.0 * 2e-8 - second_s - window_s;
    parts
}

fn overlap(parts: &mut PlanParts, background: bool, window: Window) {
    let policy = &mut parts.fabric.reconfiguration;
    *policy = policy.with_overlap(ReconfigurationOverlap { background, window });
}

#[test]
fn what_is_hidden_is_recomputed() {
    for window in ["0s", "1us", "1us,3=2us"] {
        assert_eq!(failures(in_background(window)), [""; 0], "{window}");
        let mut parts = in_background(window);
        parts.steps[2].cost.reconfiguration_s *= 1.0 + 1e-9;
        assert_eq!(failures(parts), ["reconfiguration"]);
        // Neither another step's window nor a setting that is not set hides anything.
        let mut parts = in_background(window);
        overlap(&mut parts, true, Window::parse("window", "2=1us").unwrap());
        assert_eq!(failures(parts), if window == "0s" { vec![] } else { vec!["reconfiguration"] });
        let mut parts = in_background(window);
        overlap(&mut parts, false, Window::parse("window", window).unwrap());
        assert_eq!(failures(parts), ["reconfiguration"]);
        // With one port it is live.
        let mut parts = in_background(window);
        parts.fabric.shape = Shape::new(N, &[], 1).unwrap();
        assert_eq!(failures(parts), ["reconfiguration"]);
    }
    // Longer windows hide all of it.
    let mut parts = in_background("1us");
    overlap(&mut parts, true, Window::parse("window", "1ms").unwrap());
    parts.steps[2].cost.reconfiguration_s = 0.0;
    assert_eq!(failures(parts), [""; 0]);
}
