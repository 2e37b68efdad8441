//! The harvest planner against brute force, the paper's algorithm 1, its example and its published numbers.
use crate::reference::algorithm_1;

use collectives::Options;
use lightloom_planners::{Change, Problem, find};
use model::{
    Collective, CostSettings, Fabric, Initial, Link, ReconfigurationDelay, ReconfigurationPolicy, Routing, Schedule,
    Shape, Topology, Translations,
};
use proptest::prelude::*;

fn fabric(gpus: u32, ports: u32, delay_s: f64) -> Fabric {
    Fabric {
        shape: Shape::new(gpus, &[], ports).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    }
}

fn schedule(algorithm: &str, collective: Collective, gpus: u32) -> Schedule {
    let shape = Shape::new(gpus, &[], 1).unwrap();
    collectives::find(algorithm).unwrap().build(collective, &shape, &Options::default()).unwrap()
}

fn circulant(gpus: u32, offsets: &[u32]) -> Topology {
    let links = offsets.iter().map(|&dst| Link { src: 0, dst, count: 1 });
    Topology::new(format!("{offsets:?}"), Translations::cyclic(gpus), links).unwrap()
}

fn rings(gpus: u32) -> Vec<Topology> {
    (1..gpus).map(|offset| circulant(gpus, &[offset])).collect()
}

/// The least time over all |C|^s sequences, with the step costs and changes of the problem.
fn brute_force(problem: &Problem) -> f64 {
    let (steps, candidates) = (problem.table.steps(), problem.table.candidates());
    let change = problem.change();
    let cost =
        |step, candidate| problem.step_cost(step, candidate).map_or(f64::INFINITY, |(cost, _, _)| cost.total_s());
    let costs: Vec<Vec<f64>> = (0..steps).map(|step| (0..candidates).map(|c| cost(step, c)).collect()).collect();
    let mut best = f64::INFINITY;
    let mut sequence = vec![0; steps];
    loop {
        let mut in_force = problem.start;
        let mut total = 0.0;
        for (step, &candidate) in sequence.iter().enumerate() {
            total += in_force.map_or(0.0, |from| change.between(candidates, from, candidate)) + costs[step][candidate];
            in_force = Some(candidate);
        }
        best = best.min(total);
        let Some(place) = sequence.iter().rposition(|&candidate| candidate + 1 < candidates) else { return best };
        sequence[place] += 1;
        sequence[place + 1..].fill(0);
    }
}

fn algorithms() -> impl Strategy<Value = (&'static str, Collective, u32)> {
    prop_oneof![
        Just(("recursive-doubling", Collective::ReduceScatter, 8)),
        Just(("recursive-doubling", Collective::AllGather, 8)),
        Just(("recursive-doubling", Collective::AllReduce, 4)),
        Just(("halving-doubling", Collective::ReduceScatter, 8)),
        Just(("swing", Collective::AllGather, 8)),
        Just(("swing", Collective::AllReduce, 4)),
        Just(("bruck", Collective::AllToAll, 7)),
        Just(("direct", Collective::AllToAll, 5)),
        Just(("ring", Collective::AllGather, 5)),
    ]
}

/// Up to five circulants, some of them disconnected, with the one-way ring so that something always serves.
fn candidate_sets() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(1u32..8, 1..3), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(150)))]

    #[test]
    fn equals_brute_force_over_all_sequences(
        (algorithm, collective, gpus) in algorithms(),
        sets in candidate_sets(),
        log_size in 4u32..28,
        log_delay in -8.0f64..-3.0,
        per_port in prop::bool::ANY,
        start in prop::bool::ANY,
        routing in prop::sample::select(Routing::ALL.to_vec()),
    ) {
        let mut candidates = vec![circulant(gpus, &[1])];
        for offsets in &sets {
            let offsets: Vec<u32> = offsets.iter().map(|offset| 1 + offset % (gpus - 1)).collect();
            candidates.push(circulant(gpus, &offsets));
        }
        let mut fabric = fabric(gpus, 2, 10f64.powf(log_delay));
        if per_port {
            fabric.reconfiguration = ReconfigurationDelay::per_port(1e-7, 10f64.powf(log_delay) / 8.0).into();
        }
        if start {
            fabric.initial = Initial::Topology(circulant(gpus, &[gpus - 1]));
        }
        let settings = CostSettings { routing, ..CostSettings::default() };
        let problem = Problem::new(schedule(algorithm, collective, gpus), fabric, settings, 1 << log_size, candidates).unwrap();
        let choice = find("harvest").unwrap().choose(&problem).unwrap();
        let expected = brute_force(&problem);
        prop_assert!((choice.total_s - expected).abs() <= 1e-12 * expected, "{} {}", choice.total_s, expected);
        let plan = choice.into_plan(true).unwrap();
        prop_assert!((plan.total_s() - expected).abs() <= 1e-9 * expected);
        prop_assert!(plan.bound.seconds <= plan.total_s() * (1.0 + 1e-12));
        let report = lightloom::verify_plan(&plan);
        prop_assert!(report.passed(), "{:?}", report.first_failure());
    }

    #[test]
    fn equals_algorithm_1_where_the_start_is_free(
        (algorithm, collective, gpus) in algorithms(),
        log_size in 4u32..28,
        log_delay in -8.0f64..-3.0,
    ) {
        let delay_s = 10f64.powf(log_delay);
        let problem =
            Problem::new(schedule(algorithm, collective, gpus), fabric(gpus, 1, delay_s), CostSettings::default(), 1 << log_size, rings(gpus)).unwrap();
        let choice = find("harvest").unwrap().choose(&problem).unwrap();
        let completion_time = |a: usize, b: usize| {
            let time = |candidate| {
                (a - 1..b).map(|step| problem.step_cost(step, candidate).map_or(f64::INFINITY, |(c, _, _)| c.total_s())).sum::<f64>()
            };
            (0..problem.table.candidates()).map(|c| (c, time(c))).min_by(|x, y| x.1.total_cmp(&y.1)).unwrap()
        };
        let reference = algorithm_1::harvest(problem.table.steps(), delay_s, &completion_time);
        prop_assert!((choice.total_s - reference.total_s).abs() <= 1e-12 * reference.total_s);
        prop_assert!(choice.reconfigurations() <= reference.reconfigurations);
    }

    #[test]
    fn the_closed_form_is_the_optimum_over_all_permutations(
        collective in prop::sample::select(vec![Collective::ReduceScatter, Collective::AllGather, Collective::AllReduce]),
        log_size in 4u32..30,
        log_delay in -8.0f64..-3.0,
    ) {
        // One port and four GPUs: every topology is a permutation without fixed points, perhaps with ports dark.
        let mut all = Vec::new();
        for code in 0..256u32 {
            let image: Vec<u32> = (0..4).map(|rank| code >> (2 * rank) & 3).collect();
            let distinct = (0..4).all(|i| (0..i).all(|j| image[i] != image[j]));
            if distinct && (0..4).all(|rank| image[rank as usize] != rank) {
                let links = image.iter().zip(0..).map(|(&dst, src)| Link { src, dst, count: 1 });
                all.push(Topology::new(format!("{image:?}"), Translations::trivial(4), links).unwrap());
            }
        }
        prop_assert_eq!(all.len(), 9);
        let fabric = fabric(4, 1, 10f64.powf(log_delay));
        let with_all = Problem::new(schedule("recursive-doubling", collective, 4), fabric, CostSettings::default(), 1 << log_size, all).unwrap();
        let expected = brute_force(&with_all);
        let closed = find("harvest").unwrap().choose(&with_all).unwrap();
        prop_assert!((closed.total_s - expected).abs() <= 1e-12 * expected, "{} {}", closed.total_s, expected);
    }

    #[test]
    fn closed_form_and_search_agree(
        collective in prop::sample::select(vec![Collective::ReduceScatter, Collective::AllGather, Collective::AllReduce]),
        log_ranks in 1u32..8,
        log_size in 4u32..32,
        log_delay in -9.0f64..-2.0,
    ) {
        let gpus = 1 << log_ranks;
        let problem = Problem::new(
            schedule("recursive-doubling", collective, gpus),
            fabric(gpus, 1, 10f64.powf(log_delay)),
            CostSettings::default(),
            1 << log_size,
            rings(gpus),
        ).unwrap();
        prop_assert!(lightloom_planners::RecursiveDoubling::of(&problem).is_some());
        let mut search = lightloom_planners::StateSearch::new(&problem.table);
        let searched = search.run(&problem.rates(), &problem.charges(), lightloom_planners::Before::Nothing, f64::INFINITY).unwrap().unwrap();
        let closed = find("harvest").unwrap().choose(&problem).unwrap();
        prop_assert!((closed.total_s - searched).abs() <= 1e-12 * searched);
    }
}

/// Bruck's All-to-All on 16 GPUs, of which one candidate and most patterns have no symmetry in common.
fn without_common_symmetry(size_bytes: u64, delay_s: f64) -> Problem {
    let shape = Shape::new(16, &[4, 4], 4).unwrap();
    let candidates =
        ["kautz", "random-regular:1", "torus", "shifted-ring:5"].map(|name| topologies::build(name, &shape).unwrap());
    let fabric = Fabric { shape, ..fabric(16, 4, delay_s) };
    let schedule = schedule("bruck", Collective::AllToAll, 16);
    Problem::new(schedule, fabric, CostSettings::default(), size_bytes, candidates.into()).unwrap()
}

#[test]
fn bounds_before_flows_lose_nothing() {
    let bounded = without_common_symmetry(1 << 20, 1e-5);
    let pairs = (0..bounded.table.patterns().len()).flat_map(|p| (0..bounded.table.candidates()).map(move |c| (p, c)));
    assert!(pairs.filter(|&(p, c)| bounded.table.load_bound(p, c).is_some()).count() >= 4);
    for log_size in [10, 16, 20, 24, 28] {
        for delay_s in [1e-8, 1e-6, 1e-5, 1e-4, 1e-3] {
            let problem = without_common_symmetry(1 << log_size, delay_s);
            let choice = find("harvest").unwrap().choose(&problem).unwrap();
            let constant = find("static").unwrap().choose(&problem).unwrap();
            let expected = brute_force(&problem);
            assert!((choice.total_s - expected).abs() <= 1e-12 * expected, "{} {expected}", choice.total_s);
            let on =
                |c| (0..problem.table.steps()).map(|step| problem.step_cost(step, c).unwrap().0.total_s()).sum::<f64>();
            let expected = (0..problem.table.candidates()).map(on).fold(f64::INFINITY, f64::min);
            assert!((constant.total_s - expected).abs() <= 1e-12 * expected, "{} {expected}", constant.total_s);
            // A limit below the optimum is noticed, one at it is kept.
            for planner in ["harvest", "static"] {
                let total_s = find(planner).unwrap().choose(&problem).unwrap().total_s;
                let within = |limit_s| find(planner).unwrap().choose_within(&problem, limit_s).unwrap();
                assert!(within(total_s * (1.0 - 1e-9)).is_none() && within(total_s).is_some());
            }
        }
    }
}

#[test]
fn neither_threads_nor_earlier_searches_show() {
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let problem = without_common_symmetry(1 << 22, 1e-5);
            let first = find("harvest").unwrap().choose(&problem).unwrap();
            let _ = find("static").unwrap().choose(&problem).unwrap();
            let again = find("harvest").unwrap().choose(&problem).unwrap();
            assert_eq!((&first.candidates, first.total_s), (&again.candidates, again.total_s));
            (first.candidates, first.total_s)
        })
    };
    assert_eq!(with_threads(1), with_threads(4));
}

#[test]
fn published_schedules_come_out() {
    // HARVEST's published schedules, 64 GPUs, one port, 800 Gbit/s, α = δ = 500 ns, 1 MiB, α_r = 1 µs.
    for (algorithm, collective, total_s, reconfigurations) in
        [("recursive-doubling", Collective::AllReduce, 41.972e-6, 8), ("direct", Collective::AllToAll, 134.650e-6, 60)]
    {
        let schedule = schedule(algorithm, collective, 64);
        let problem = Problem::new(schedule, fabric(64, 1, 1e-6), CostSettings::default(), 1 << 20, rings(64)).unwrap();
        let choice = find("harvest").unwrap().choose(&problem).unwrap();
        assert!((choice.total_s - total_s).abs() < 1e-4 * total_s, "{algorithm}: {}", choice.total_s);
        assert_eq!(choice.reconfigurations(), reconfigurations, "{algorithm}");
    }
}

/// HARVEST §3.2, figure 2 and table 1: cyclic recursive doubling on eight GPUs with one port.
#[test]
fn the_walk_through_of_figure_2() {
    let schedule = schedule("recursive-doubling", Collective::ReduceScatter, 8);
    let matchings: Vec<Topology> = [1, 2, 4].map(|offset| circulant(8, &[offset])).into();
    let problem = Problem::new(schedule, fabric(8, 1, 1e-6), CostSettings::default(), 1 << 20, matchings).unwrap();
    let hops_and_load = |sequence: [usize; 3]| -> Vec<(u32, f64)> {
        sequence
            .iter()
            .enumerate()
            .map(|(step, &c)| problem.step_cost(step, c).unwrap())
            .map(|(_, h, l)| (h, l))
            .collect()
    };
    // (a)–(c): on G1 throughout, congestion rises to 2 in step 2 and to 4 in step 3; table 1's worst is 4x and 4x.
    assert_eq!(hops_and_load([0, 0, 0]), [(1, 1.0), (2, 2.0), (4, 4.0)]);
    // (d), (e): G1, G2, G2 leaves a congestion of 2 and two hops.
    assert_eq!(hops_and_load([0, 1, 1]), [(1, 1.0), (1, 1.0), (2, 2.0)]);
    // (f): G1, G2, G3 is free of congestion.
    assert_eq!(hops_and_load([0, 1, 2]), [(1, 1.0), (1, 1.0), (1, 1.0)]);
    // Table 1's last column, and each of its rows is the best at some delay.
    let at = |delay_s: f64| {
        let mut problem = problem.clone();
        problem.fabric.reconfiguration = ReconfigurationPolicy::constant(delay_s);
        let choice = find("harvest").unwrap().choose(&problem).unwrap();
        (choice.candidates.clone(), choice.reconfigurations())
    };
    assert_eq!(at(1e-3), (vec![0, 0, 0], 0));
    assert_eq!(at(4e-6), (vec![0, 1, 1], 1));
    assert_eq!(at(1e-8), (vec![0, 1, 2], 2));
}

#[test]
fn a_start_topology_is_charged_for() {
    let schedule = schedule("recursive-doubling", Collective::AllGather, 8);
    let mut started = fabric(8, 1, 2e-6);
    started.initial = Initial::Topology(circulant(8, &[1]));
    let free = Problem::new(schedule.clone(), fabric(8, 1, 2e-6), CostSettings::default(), 1 << 26, rings(8)).unwrap();
    let started = Problem::new(schedule, started, CostSettings::default(), 1 << 26, rings(8)).unwrap();
    let planner = find("harvest").unwrap();
    let (free, started) = (planner.choose(&free).unwrap(), planner.choose(&started).unwrap());
    // 64 MiB: every step wants its own ring, the first of them offset 4.
    assert_eq!((free.reconfigurations(), started.reconfigurations()), (2, 3));
    assert!((started.total_s - free.total_s - 2e-6).abs() < 1e-15);
    let plan = started.into_plan(true).unwrap();
    assert!(plan.steps[0].reconfigured && plan.steps[0].cost.reconfiguration_s == 2e-6);
}

#[test]
fn delays_per_port_count_the_ports_that_change() {
    let mut fabric = fabric(8, 1, 0.0);
    fabric.reconfiguration = ReconfigurationDelay::per_port(1e-6, 1e-7).into();
    let schedule = schedule("recursive-doubling", Collective::ReduceScatter, 8);
    let problem = Problem::new(schedule, fabric, CostSettings::default(), 1 << 30, rings(8)).unwrap();
    // Every port changes between two different rings.
    let Change::Matrix(delays) = problem.change() else { panic!("a matrix of delays") };
    assert_eq!(delays.len(), 49);
    assert!((delays[1] - 1.8e-6).abs() < 1e-18 && delays[0] == 0.0);
    let plan = find("harvest").unwrap().choose(&problem).unwrap().into_plan(true).unwrap();
    assert_eq!(plan.reconfigurations(), 2);
    assert!((plan.steps[1].cost.reconfiguration_s - 1.8e-6).abs() < 1e-18);
}
