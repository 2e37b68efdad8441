//! The all-to-all paper's planner: its costs as plans that the verifier accepts.
use collectives::Options;
use lightloom_planners::{Choice, Problem, find};
use model::{
    Collective, CostSettings, Fabric, Initial, Link, Propagation, ReconfigurationDelay, ReconfigurationPolicy, Routing,
    Shape, Topology, Translations,
};
use proptest::prelude::*;

const NAME: &str = "reconfigure-all-to-all";
/// T = α + δ + β·block in [`problem`] with blocks of 4 MB: 1 µs + 40 µs.
const HOP_S: f64 = 41e-6;

fn problem_of(algorithm: &str, collective: Collective, gpus: u32, ports: u32, delay_s: f64, start: Initial) -> Problem {
    let shape = Shape::new(gpus, &[], ports).unwrap();
    let schedule = collectives::find(algorithm).unwrap().build(collective, &shape, &Options::default()).unwrap();
    let ring = topologies::build("ring", &shape).unwrap();
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial: start,
        optics: None,
        electrical: None,
    };
    let size = 4_000_000 * u64::from(gpus);
    Problem::new(schedule, fabric, CostSettings::default(), size, vec![ring]).unwrap()
}

fn problem(gpus: u32, ports: u32, delay_s: f64, start: Initial) -> Problem {
    problem_of("direct", Collective::AllToAll, gpus, ports, delay_s, start)
}

/// Neighbours in pairs: a topology of one port that no strategy uses for more than two ranks.
fn pairs(gpus: u32) -> Initial {
    let links = (0..gpus / 2 * 2).map(|src| Link { src, dst: src ^ 1, count: 1 });
    Initial::Topology(Topology::new("pairs", Translations::trivial(gpus), links).unwrap())
}

fn choose(problem: &Problem) -> Choice {
    find(NAME).unwrap().choose(problem).unwrap()
}

/// Completion time of the plan, after the verifier has passed it.
fn judged(choice: Choice) -> f64 {
    let total_s = choice.total_s;
    let plan = choice.into_plan(true).unwrap();
    assert_eq!(lightloom::verify_plan(&plan).first_failure(), None);
    assert!((plan.total_s() - total_s).abs() <= 1e-12 * total_s, "{} {total_s}", plan.total_s());
    assert!(plan.steps.iter().all(|step| step.hops == 1 && step.load == 1.0));
    total_s
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected
}

/// §2.3, n = 8, k = 1, the first topology charged: 16T + 2R at R = 7T, 28T + R where R is large, 7T + 7R where
/// it is small.
#[test]
fn the_papers_three_costs() {
    for (delay, hops, topologies) in [(7.0, 16.0, 2.0), (100.0, 28.0, 1.0), (0.5, 7.0, 7.0)] {
        let delay_s = delay * HOP_S;
        let choice = choose(&problem(8, 1, delay_s, pairs(8)));
        assert_eq!(choice.reconfigurations(), topologies as usize);
        assert!(close(judged(choice), topologies * delay_s + hops * HOP_S), "R = {delay} T");
    }
}

/// A start that the strategy uses goes first and is not charged; a free start is not charged either.
#[test]
fn the_start_is_honoured() {
    let delay_s = 7.0 * HOP_S;
    let backward = Link { src: 0, dst: 7, count: 1 };
    let backward = Topology::new("backward", Translations::cyclic(8), [backward]).unwrap();
    for start in [Initial::Free, Initial::Topology(backward.clone())] {
        let given = start != Initial::Free;
        let choice = choose(&problem(8, 1, delay_s, start));
        assert_eq!(choice.reconfigurations(), 1);
        if given {
            assert!(choice.problem.table.candidate(choice.candidates[0]).same_links(&backward));
        }
        assert!(close(judged(choice), delay_s + 16.0 * HOP_S));
    }
}

/// One GPU's worth of ports to every peer: one step, whatever the delay.
#[test]
fn enough_ports_need_one_step() {
    let choice = choose(&problem(5, 4, 1.0, Initial::Free));
    assert_eq!(choice.candidates.len(), 1);
    assert!(close(judged(choice), HOP_S));
}

#[test]
fn others_than_direct_all_to_all_are_refused_with_a_reason() {
    let planner = find(NAME).unwrap();
    for (algorithm, collective, word) in
        [("bruck", Collective::AllToAll, "`direct`"), ("ring", Collective::AllGather, "plans all-to-all")]
    {
        let refused = planner.choose(&problem_of(algorithm, collective, 8, 1, 1e-5, Initial::Free));
        let error = refused.err().unwrap().to_string();
        assert!(error.contains(NAME) && error.contains(word), "{error}");
    }
}

#[test]
fn nothing_is_chosen_above_the_limit() {
    let planner = find(NAME).unwrap();
    for ports in [1, 2] {
        let problem = problem(12, ports, 50e-6, Initial::Free);
        let total_s = choose(&problem).total_s;
        assert!(planner.choose_within(&problem, total_s * 0.999).unwrap().is_none());
        assert!(planner.choose_within(&problem, total_s).unwrap().is_some());
    }
}

/// A problem that moves `matrix[src][dst]` bytes.
fn unequal(matrix: &[Vec<f64>], ports: u32, delay_s: f64, start: Initial) -> Problem {
    let equal = problem(matrix.len() as u32, ports, delay_s, start);
    let (schedule, m) = collectives::direct_from_matrix(matrix).unwrap();
    let ring = topologies::build("ring", &equal.fabric.shape).unwrap();
    Problem::new(schedule, equal.fabric, equal.settings, m.round() as u64, vec![ring]).unwrap()
}

/// §4.4: two large flows that a shifted ring would serve in different rounds, of one and of five hops, come to
/// share a round of one hop when ranks are relabelled.
#[test]
fn large_flows_share_a_round() {
    let n = 8;
    let (small, large) = (1e6, 400e6);
    let mut matrix = vec![vec![small; n]; n];
    (matrix[0][1], matrix[2][7]) = (large, large);
    let choice = choose(&unequal(&matrix, 1, 10.0, Initial::Free));
    let time = |bytes: f64| 1e-6 + bytes * 8.0 / 8e11;
    // One ring: the round of one hop with large blocks, 27 slots of small ones.
    let expected = time(large) + 27.0 * time(small);
    assert!((judged(choice) - expected).abs() < 1e-6 * expected);
}

proptest! {
    /// Equal blocks with a different diagonal are pieces too: relabelling changes nothing, and the price is that of
    /// equal blocks.
    #[test]
    fn pieces_of_one_size_cost_what_equal_blocks_do(n in 3u32..9, ports in 1u32..3, exponent in -6i32..4) {
        let delay_s = HOP_S * 2f64.powi(exponent);
        let mut matrix = vec![vec![4e6; n as usize]; n as usize];
        matrix[0][0] = 1.0;
        let pieces = judged(choose(&unequal(&matrix, ports, delay_s, pairs(n))));
        let equal = judged(choose(&problem(n, ports, delay_s, pairs(n))));
        prop_assert!((pieces - equal).abs() <= 1e-6 * equal, "{pieces} {equal}");
    }

    /// Any matrix, zeros included.
    #[test]
    fn unequal_plans_pass_the_judge(
        n in 2u32..8, ports in 1u32..4, exponent in -6i32..4, charged: bool,
        entries in prop::collection::vec(prop_oneof![1 => Just(0.0), 3 => 1e3..1e7f64], 64),
    ) {
        let mut matrix: Vec<Vec<f64>> = entries.chunks(8).take(n as usize).map(|row| row[..n as usize].to_vec()).collect();
        matrix[0][1] += 1e4;
        let start = if charged { pairs(n) } else { Initial::Free };
        let choice = choose(&unequal(&matrix, ports, HOP_S * 2f64.powi(exponent), start));
        let bound_s = choice.bound().seconds;
        prop_assert!(bound_s <= judged_unequal(choice) * (1.0 + 1e-12));
    }
}

/// As [`judged`], where a step's circuits may carry less than its largest block.
fn judged_unequal(choice: Choice) -> f64 {
    let total_s = choice.total_s;
    let plan = choice.into_plan(true).unwrap();
    assert_eq!(lightloom::verify_plan(&plan).first_failure(), None);
    total_s
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

    /// Every plan passes the verifier, lies above its bound and above theorem 1, and does not depend on the
    /// routing that the user prefers for other planners.
    #[test]
    fn plans_pass_the_judge(
        n in 2u32..20, ports in 1u32..4, exponent in -8i32..4, per_port: bool, charged: bool, published: bool,
    ) {
        let delay_s = HOP_S * 2f64.powi(exponent);
        let start = if charged { pairs(n) } else { Initial::Free };
        let mut problem = problem(n, ports, delay_s, start);
        if per_port {
            problem.fabric.reconfiguration = ReconfigurationDelay::per_port(delay_s, delay_s / f64::from(n)).into();
        }
        problem.settings.routing = if published { Routing::EqualSplit } else { Routing::ConcurrentFlow };
        if published {
            problem.settings.propagation = Propagation::InverseThroughput;
        }
        let choice = choose(&problem);
        let hops = choice.candidates.len() as f64;
        let mut used = choice.candidates.clone();
        used.dedup();
        let topologies = used.len() as u32;
        prop_assert!(choice.candidates.len() as u64 >= bounds::all_to_all_hops(n, ports, topologies));
        let bound_s = choice.bound().seconds;
        let changes = choice.reconfigurations() as f64;
        let total_s = judged(choice);
        prop_assert!(bound_s <= total_s * (1.0 + 1e-12));
        if !per_port {
            // By throughput a round in which one of the ports is busy is charged a hop delay for each of them.
            let most_s = if published { HOP_S + f64::from(ports - 1) * 500e-9 } else { HOP_S };
            let of_hops_s = total_s - changes * delay_s;
            prop_assert!(of_hops_s >= hops * HOP_S * (1.0 - 1e-9) && of_hops_s <= hops * most_s * (1.0 + 1e-9));
        }
    }
}
