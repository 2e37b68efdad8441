//! Ports on switches of different speed, against brute force with a rule of its own for circulants, and against a
//! constant delay.
use collectives::Options;
use lightloom_planners::{Problem, REGISTRY, choose, find};
use model::{
    Collective, CostSettings, Fabric, Initial, Link, ReconfigurationDelay, ReconfigurationOverlap,
    ReconfigurationPolicy, Shape, Topology, Translations, sum_seconds,
};
use proptest::prelude::*;

const GPUS: u32 = 8;

fn circulant(offsets: &[u32]) -> Topology {
    let links = offsets.iter().map(|&dst| Link { src: 0, dst, count: 1 });
    Topology::new(format!("{offsets:?}"), Translations::cyclic(GPUS), links).unwrap()
}

/// Generators with the nearest first, as slow ports have them; `None` where a port is dark.
fn by_port(offsets: &[u32], ports: usize) -> Vec<Option<u32>> {
    let mut sorted = offsets.to_vec();
    sorted.sort_by_key(|&offset| (offset.min(GPUS - offset), offset));
    (0..ports).map(|port| sorted.get(port).copied()).collect()
}

#[derive(Debug, Clone)]
struct Instance {
    candidates: Vec<Vec<u32>>,
    delays_s: Vec<f64>,
    collective: Collective,
    log_size: u32,
    start: bool,
}

fn instances() -> impl Strategy<Value = Instance> {
    (2usize..4).prop_flat_map(|ports| {
        (
            prop::collection::vec(prop::collection::vec(1u32..GPUS, 1..=ports), 1..5),
            prop::collection::vec(prop::sample::select(vec![0.0, 1e-7, 1e-6, 3e-6, 1e-5]), ports),
            prop::sample::select(vec![Collective::ReduceScatter, Collective::AllGather]),
            10u32..24,
            any::<bool>(),
        )
            .prop_map(|(mut candidates, delays_s, collective, log_size, start)| {
                // One of them joins all GPUs.
                candidates.push(vec![1; delays_s.len()]);
                Instance { candidates, delays_s, collective, log_size, start }
            })
    })
}

fn problem(of: &Instance, policy: impl Into<ReconfigurationPolicy>) -> Problem {
    let shape = Shape::new(GPUS, &[], of.delays_s.len() as u32).unwrap();
    let mut candidates: Vec<Topology> = Vec::new();
    for topology in of.candidates.iter().map(|offsets| circulant(offsets)) {
        if !candidates.iter().any(|other| other.same_links(&topology)) {
            candidates.push(topology);
        }
    }
    let fabric = Fabric {
        shape: shape.clone(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 300e-9,
        reconfiguration: policy.into(),
        initial: if of.start { Initial::Topology(circulant(&[1])) } else { Initial::Free },
        optics: None,
        electrical: None,
    };
    let doubling = collectives::find("recursive-doubling").unwrap();
    let schedule = doubling.build(of.collective, &shape, &Options::default()).unwrap();
    Problem::new(schedule, fabric, CostSettings::default(), 1 << of.log_size, candidates).unwrap()
}

fn switches(delays_s: &[f64]) -> ReconfigurationDelay {
    ReconfigurationDelay::of_switches(0.0, delays_s.to_vec())
}

fn best_s(of: &Instance, policy: impl Into<ReconfigurationPolicy>) -> f64 {
    find("harvest").unwrap().choose(&problem(of, policy)).unwrap().total_s
}

/// The least time over all sequences of candidates, with generators compared port by port.
fn brute_force(of: &Instance) -> f64 {
    let problem = problem(of, switches(&of.delays_s));
    let ports = of.delays_s.len();
    let mut slowest_first = of.delays_s.clone();
    slowest_first.sort_by(|a, b| b.total_cmp(a));
    let offsets = |candidate: usize| -> Vec<u32> {
        let links = problem.table.candidate(candidate).expanded().into_iter().filter(|link| link.src == 0);
        links.flat_map(|link| vec![link.dst; link.count as usize]).collect()
    };
    let assigned: Vec<_> =
        (0..problem.table.candidates()).map(|candidate| by_port(&offsets(candidate), ports)).collect();
    let charge_s = |from: usize, to: usize| {
        let slowest = (0..ports).find(|&port| assigned[from][port] != assigned[to][port]);
        slowest.map_or(0.0, |port| slowest_first[port])
    };
    let cost = |step, candidate| problem.step_cost(step, candidate).map_or(f64::INFINITY, |(cost, ..)| cost.total_s());
    let (steps, candidates) = (problem.table.steps(), problem.table.candidates());
    let mut best = f64::INFINITY;
    for code in 0..candidates.pow(steps as u32) {
        let sequence: Vec<usize> = (0..steps).map(|step| code / candidates.pow(step as u32) % candidates).collect();
        let before = problem.start.into_iter().chain(sequence.iter().copied());
        let changes =
            before.zip(&sequence[usize::from(problem.start.is_none())..]).map(|(from, &to)| charge_s(from, to));
        let times = sequence.iter().enumerate().map(|(step, &candidate)| cost(step, candidate));
        best = best.min(sum_seconds(times.chain(changes)));
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(150)))]

    #[test]
    fn harvest_equals_brute_force_over_all_sequences(of in instances()) {
        let (found, expected) = (best_s(&of, switches(&of.delays_s)), brute_force(&of));
        prop_assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
    }

    #[test]
    fn every_planner_is_charged_by_the_same_rule(of in instances(), background: bool, window_s in prop::sample::select(vec![0.0, 2e-7])) {
        let window = model::Window { every_s: window_s, ..model::Window::default() };
        let policy = ReconfigurationPolicy::new(switches(&of.delays_s), ReconfigurationOverlap { background, window });
        let problem = problem(&of, policy);
        for planner in REGISTRY {
            if let Ok(Some(choice)) = choose(*planner, &problem, f64::INFINITY) {
                let total_s = choice.total_s;
                let plan = choice.into_plan(true).unwrap();
                let verdict = lightloom::verify_plan(&plan);
                prop_assert_eq!(verdict.first_failure(), None, "{}", planner.name());
                prop_assert!((plan.total_s() - total_s).abs() <= 1e-12 * total_s, "{}", planner.name());
                prop_assert!(plan.bound.seconds <= total_s * (1.0 + 1e-12), "{}: {}", planner.name(), plan.bound.class);
            }
        }
    }

    /// To the last bit, whoever plans.
    #[test]
    fn delays_that_are_alike_are_one_delay(of in instances()) {
        let delay_s = of.delays_s[0];
        let alike = problem(&of, switches(&vec![delay_s; of.delays_s.len()]));
        let one = problem(&of, ReconfigurationDelay::constant(delay_s));
        for planner in REGISTRY {
            let total_s = |problem: &Problem| choose(*planner, problem, f64::INFINITY).map(|found| found.map(|it| it.total_s));
            match (total_s(&alike), total_s(&one)) {
                (Ok(alike), Ok(one)) => prop_assert_eq!(alike, one, "{}", planner.name()),
                (alike, one) => prop_assert_eq!(alike.is_err(), one.is_err(), "{}", planner.name()),
            }
        }
    }

    #[test]
    fn a_slower_port_never_helps(of in instances(), port in 0usize..3, more_s in 0.0..1e-5f64, background: bool) {
        let overlap = ReconfigurationOverlap { background, ..ReconfigurationOverlap::default() };
        let mut slower = of.delays_s.clone();
        let port = port % slower.len();
        slower[port] += more_s;
        let at = |delays_s: &[f64]| best_s(&of, ReconfigurationPolicy::new(switches(delays_s), overlap.clone()));
        prop_assert!(at(&of.delays_s) <= at(&slower) * (1.0 + 1e-12));
        // Between the fastest port and the slowest of all.
        let constant = |delay_s| best_s(&of, ReconfigurationPolicy::constant(delay_s));
        let least_s = of.delays_s.iter().copied().fold(f64::INFINITY, f64::min);
        let most_s = of.delays_s.iter().copied().fold(0.0, f64::max);
        prop_assert!(best_s(&of, switches(&of.delays_s)) >= constant(least_s) * (1.0 - 1e-12));
        prop_assert!(at(&of.delays_s) <= constant(most_s) * (1.0 + 1e-12));
    }
}

/// One circuit out of each GPU is replaced twice. Each change needs one port, but no assignment replaces a port of the
/// fast switch both times: what is kept is on the slow one, and the second change keeps what the first has replaced.
#[test]
fn what_single_changes_need_is_not_what_a_plan_needs() {
    let orders = |a, b| [[a, b], [b, a]];
    let slow_changes = |from: [u32; 2], to: [u32; 2]| usize::from(from[0] != to[0]);
    let least = orders(1, 2).into_iter().flat_map(|first| {
        orders(3, 2).into_iter().flat_map(move |second| {
            orders(3, 4).into_iter().map(move |third| slow_changes(first, second) + slow_changes(second, third))
        })
    });
    assert_eq!(least.min(), Some(1));
    let delay = switches(&[1e-6, 1e-3]);
    let changes =
        [([1, 2], [3, 2]), ([3, 2], [3, 4])].map(|(from, to)| delay.between_s(&circulant(&from), &circulant(&to)));
    assert_eq!(changes, [1e-3, 1e-3]);
    // The nearest stays on the slow port.
    assert_eq!(delay.between_s(&circulant(&[1, 2]), &circulant(&[1, 3])), 1e-6);
}

#[test]
fn a_list_is_one_delay_for_each_port() {
    let of = Instance {
        candidates: vec![vec![1, 1]],
        delays_s: vec![1e-6; 2],
        collective: Collective::AllGather,
        log_size: 10,
        start: false,
    };
    let mut fabric = problem(&of, switches(&[1e-6, 2e-6])).fabric;
    fabric.reconfiguration = switches(&[1e-6; 3]).into();
    let error = fabric.check().unwrap_err().to_string();
    assert_eq!(
        error,
        "reconfiguration_delay: a list of 3 delays is not accepted; it takes one delay for all ports, or one for each \
        of the 2 ports"
    );
}
