//! PCCL: exact within algorithm 1's constraint, at algorithm 2's cost, and the paper's numbers.
use collectives::Options;
use lightloom_planners::{Choice, Problem, find};
use model::{
    Chunks, Collective, CostSettings, Fabric, Initial, Link, Op, ReconfigurationDelay, ReconfigurationPolicy, Routing,
    Schedule, Shape, Step, Topology, Transfer, Translations,
};
use proptest::prelude::*;

/// PCCL §5: α = 3 µs a hop and nothing else, β = 1/450 s/GB.
fn fabric(shape: &Shape, delay_s: f64, initial: Initial) -> Fabric {
    Fabric {
        shape: shape.clone(),
        bandwidth_bps: 3.6e12,
        startup_s: 0.0,
        barrier_s: 0.0,
        hop_delay_s: 3e-6,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial,
        optics: None,
        electrical: None,
    }
}

fn schedule(algorithm: &str, collective: Collective, shape: &Shape, radix: Option<u32>) -> Schedule {
    let options = Options { radix, ..Options::default() };
    collectives::find(algorithm).unwrap().build(collective, shape, &options).unwrap()
}

/// The start topologies of §5, with the ports that they need, and the hypercube.
fn starts() -> Vec<(Shape, Topology)> {
    [
        ("ring", vec![], 2),
        ("torus", vec![8, 16], 4),
        ("torus", vec![8, 4, 4], 6),
        ("grid", vec![8, 16], 4),
        ("grid", vec![8, 4, 4], 6),
        ("hypercube", vec![], 7),
    ]
    .into_iter()
    .map(|(name, dims, ports)| {
        let shape = Shape::new(128, &dims, ports).unwrap();
        let topology = topologies::build(name, &shape).unwrap();
        (shape, topology)
    })
    .collect()
}

const SINGLE_PATH: CostSettings = CostSettings {
    routing: Routing::SinglePath,
    propagation: model::Propagation::Hops,
    overlap: model::Overlap::Additive,
};

/// `algorithm` with the start as the only standard topology.
fn started(shape: &Shape, start: &Topology, algorithm: &str, size: u64, delay_s: f64) -> Problem {
    let schedule = schedule(algorithm, Collective::ReduceScatter, shape, None);
    let fabric = fabric(shape, delay_s, Initial::Topology(start.clone()));
    Problem::new(schedule, fabric, SINGLE_PATH, size, vec![start.clone()]).unwrap()
}

fn plan_of(planner: &str, problem: &Problem) -> Choice {
    let choice = find(planner).unwrap().choose(problem).unwrap();
    let plan = choice.clone().into_plan(true).unwrap();
    assert!(lightloom::verify_plan(&plan).passed(), "{:?}", lightloom::verify_plan(&plan).first_failure());
    assert!((plan.total_s() - choice.total_s).abs() <= 1e-12 * choice.total_s);
    assert_eq!(plan.reconfigurations(), choice.reconfigurations());
    choice
}

fn names(choice: &Choice) -> Vec<&str> {
    choice.candidates.iter().map(|&candidate| choice.problem.table.candidate(candidate).name()).collect()
}

/// Figures 7 and 8: 256 MB at 5 µs takes log2(128) = 7 reconfigurations from every start topology.
#[test]
fn seven_reconfigurations_at_five_microseconds() {
    let moved = 127.0 / 128.0 * 256e6 / 450e9;
    for (shape, start) in starts() {
        let problem = started(&shape, &start, "halving-doubling", 256_000_000, 5e-6);
        let (single, parallel) = (plan_of("pccl", &problem), plan_of("pccl-parallel", &problem));
        assert_eq!(parallel.reconfigurations(), 7, "{}", start.name());
        let expected = 7.0 * 8e-6 + moved / f64::from(shape.ports());
        assert!((parallel.total_s - expected).abs() < 1e-12 * expected, "{}", start.name());
        // The hypercube has every round's own circuits already.
        let changes = if start.name() == "hypercube" { 0 } else { 7 };
        assert_eq!(single.reconfigurations(), changes, "{}", start.name());
        let expected = 7.0 * 3e-6 + changes as f64 * 5e-6 + moved;
        assert!((single.total_s - expected).abs() < 1e-12 * expected, "{}: {}", start.name(), single.total_s);
        // Other standard topologies that may be used as well change nothing.
        let mut more = Problem::new(
            problem.schedule().clone(),
            problem.fabric.clone(),
            SINGLE_PATH,
            256_000_000,
            topologies::candidates::build(&["static-baselines".into()], &shape, &[], 0).unwrap(),
        )
        .unwrap();
        more.static_candidates = (0..more.table.candidates()).collect();
        assert_eq!(plan_of("pccl", &more).reconfigurations(), changes, "{}", start.name());
    }
}

/// Figure 9: 1 GB at 1 ms takes 4 reconfigurations on the two-way ring, which the last rounds return to. With all
/// ports in parallel it pays to reconfigure once more.
#[test]
fn four_reconfigurations_at_one_millisecond() {
    for (shape, start) in starts() {
        let problem = started(&shape, &start, "halving-doubling", 1_000_000_000, 1e-3);
        let choice = plan_of("pccl", &problem);
        let changes = choice.reconfigurations();
        if start.name() == "ring" {
            assert_eq!(changes, 4);
            assert_eq!(names(&choice)[..3], ["matching-1", "matching-2", "matching-3"]);
            assert!(names(&choice)[3..].iter().all(|&name| name == "ring"));
            let gigabytes = 0.5 + 0.25 + 0.125 + 8.0 / 16.0 + 4.0 / 32.0 + 2.0 / 64.0 + 1.0 / 128.0;
            let expected = 4e-3 + (3.0 + 8.0 + 4.0 + 2.0 + 1.0) * 3e-6 + gigabytes / 450.0;
            assert!((choice.total_s - expected).abs() < 1e-12 * expected);
            let parallel = plan_of("pccl-parallel", &problem);
            assert_eq!(parallel.reconfigurations(), 5);
            assert!(parallel.total_s < choice.total_s);
        } else {
            assert!(changes == 0 || changes == 2, "{}: {changes}", start.name());
        }
    }
}

/// Figures 7–9: with the schedule of halving/doubling it is at most the log2 n reconfigurations that it may
/// buy slower than the best algorithm on the start topology; with that algorithm's schedule it is never
/// slower. Swing on a torus or grid uses all ports of a GPU, which only parallel circuits match.
#[test]
fn never_slower_than_the_best_baseline_and_the_reconfigurations() {
    for ((shape, start), size, delay_s) in starts().into_iter().flat_map(|start| {
        [1_000, 1_000_000, 32_000_000, 256_000_000, 1_000_000_000]
            .into_iter()
            .flat_map(move |size| [5e-6, 50e-6, 1e-3].map(|delay_s| (start.clone(), size, delay_s)))
    }) {
        let seconds = |planner: &str, algorithm| {
            let problem = started(&shape, &start, algorithm, size, delay_s);
            find(planner).unwrap().choose(&problem).unwrap().total_s
        };
        let accepted = |name: &&str| {
            let algorithm = collectives::find(name).unwrap();
            algorithm.accepts(Collective::ReduceScatter, &shape, &Options::default()).is_ok()
        };
        for planner in ["pccl", "pccl-parallel"] {
            let mut best_s = f64::INFINITY;
            for algorithm in ["ring", "bucket", "halving-doubling", "swing"].into_iter().filter(accepted) {
                let baseline_s = seconds("static", algorithm);
                assert!(seconds(planner, algorithm) <= baseline_s * (1.0 + 1e-12), "{algorithm} on {}", start.name());
                if planner == "pccl-parallel" || shape.dims().len() == 1 || algorithm != "swing" {
                    best_s = best_s.min(baseline_s);
                }
            }
            let ours_s = seconds(planner, "halving-doubling");
            let limit_s = best_s + 7.0 * delay_s;
            assert!(ours_s <= limit_s * (1.0 + 1e-12), "{planner} from {}: {size} {delay_s}", start.name());
        }
    }
}

/// Eq. 1 and algorithm 2, computed transfer by transfer on a two-way ring: PCCL's α is the hop delay.
#[test]
fn a_round_costs_alpha_dilation_and_beta_congestion() {
    let shape = Shape::new(16, &[], 2).unwrap();
    let ring = topologies::build("ring", &shape).unwrap();
    for algorithm in ["halving-doubling", "recursive-doubling", "swing"] {
        let problem = started(&shape, &ring, algorithm, 1 << 24, 1.0);
        let choice = plan_of("pccl", &problem);
        assert_eq!(choice.reconfigurations(), 0);
        let mut expected = 0.0;
        for step in problem.schedule().steps() {
            let (mut dilation, mut usage) = (0, vec![0u32; 32]);
            for transfer in step.expanded(problem.schedule().chunks()) {
                let ahead = (transfer.dst + 16 - transfer.src) % 16;
                let (forward, length) = if ahead <= 8 { (true, ahead) } else { (false, 16 - ahead) };
                dilation = dilation.max(length);
                for hop in 0..length {
                    let edge = if forward { transfer.src + hop } else { transfer.src + 16 - hop } % 16;
                    usage[(edge + if forward { 0 } else { 16 }) as usize] += 1;
                }
            }
            let bytes = f64::from(1 << 24) * step.share();
            let congestion = f64::from(*usage.iter().max().unwrap());
            expected += 3e-6 * f64::from(dilation) + congestion * bytes / 450e9;
        }
        assert!((choice.total_s - expected).abs() < 1e-12 * expected, "{algorithm}: {} {expected}", choice.total_s);
    }
}

/// Bruck of radix 4 has three peers a round.
#[test]
fn ports_are_divided_or_the_round_is_split() {
    for (ports, rounds, circuits) in [(1, 9, 1), (2, 6, 1), (3, 3, 1), (5, 3, 1), (6, 3, 2)] {
        let shape = Shape::new(64, &[], ports).unwrap();
        let bruck = schedule("bruck", Collective::AllToAll, &shape, Some(4));
        let ring = topologies::build("ring", &shape).unwrap();
        let fabric = fabric(&shape, 0.0, Initial::Topology(ring.clone()));
        let problem = Problem::new(bruck, fabric, SINGLE_PATH, 1 << 30, vec![ring]).unwrap();
        for (planner, circuits) in [("pccl", 1), ("pccl-parallel", circuits)] {
            let choice = plan_of(planner, &problem);
            assert_eq!(choice.problem.table.steps(), rounds, "{ports} ports");
            let last = choice.problem.table.candidate(choice.candidates[rounds - 1]);
            assert_eq!(last.name(), format!("matching-{rounds}"));
            let widest = last.links().iter().map(|link| link.count).max().unwrap();
            // Two ports leave single peers, which may have both.
            assert_eq!(widest, if planner == "pccl-parallel" && ports == 2 { 2 } else { circuits }, "{ports} ports");
        }
    }
}

/// A rank that passes on in a round what it receives in it would do so a round late.
#[test]
fn what_cannot_be_split_is_refused() {
    let chunks = Chunks::even(Collective::AllGather, 3, 1).unwrap();
    let transfer = |src, dst| Transfer { src, dst, op: Op::Copy, chunks: vec![0] };
    let step = Step::new(Translations::trivial(3), [transfer(0, 1), transfer(1, 2), transfer(0, 2)], &chunks).unwrap();
    let schedule = Schedule::new("chain", chunks, vec![step]).unwrap();
    let shape = Shape::new(3, &[], 1).unwrap();
    let ring = topologies::build("ring", &shape).unwrap();
    let problem = Problem::new(schedule, fabric(&shape, 0.0, Initial::Free), SINGLE_PATH, 1 << 10, vec![ring]).unwrap();
    for planner in ["pccl", "pccl-parallel"] {
        let error = find(planner).unwrap().choose(&problem).err().unwrap().to_string();
        assert!(error.starts_with(&format!("planner: {planner} refuses")) && error.contains("rank 1"), "{error}");
    }
}

/// With free hops, or with what they cost counted as bandwidth, infinitely many still rule a topology out.
#[test]
fn a_topology_without_paths_is_left_alone_whatever_a_hop_costs() {
    let shape = Shape::new(8, &[], 2).unwrap();
    let dark = topologies::build("dark", &shape).unwrap();
    let ring = topologies::build("ring", &shape).unwrap();
    for propagation in [model::Propagation::Hops, model::Propagation::InverseThroughput] {
        for start in [Initial::Free, Initial::Topology(dark.clone())] {
            let schedule = schedule("recursive-doubling", Collective::AllReduce, &shape, None);
            let fabric = Fabric { hop_delay_s: 0.0, startup_s: 1e-6, ..fabric(&shape, 5e-6, start) };
            let settings = CostSettings { propagation, ..SINGLE_PATH };
            let candidates = vec![dark.clone(), ring.clone()];
            let problem = Problem::new(schedule, fabric, settings, 1 << 20, candidates).unwrap();
            for planner in ["pccl", "pccl-parallel", "static", "harvest"] {
                let choice = plan_of(planner, &problem);
                assert!(choice.total_s.is_finite() && !names(&choice).contains(&"dark"), "{planner}");
            }
        }
    }
}

fn circulant(gpus: u32, offsets: &[u32], count: u32) -> Topology {
    let links = offsets.iter().map(|&dst| Link { src: 0, dst, count });
    Topology::new(format!("{offsets:?}"), Translations::cyclic(gpus), links).unwrap()
}

/// Algorithm 1 by trying every sequence that it allows.
struct BruteForce {
    /// Costs `[round][topology]`, s; the rounds' own circuits come last, in order.
    costs: Vec<Vec<f64>>,
    topologies: Vec<Topology>,
    standard: Vec<usize>,
    delay: ReconfigurationDelay,
}

impl BruteForce {
    fn new(problem: &Problem, standard: &[Topology], parallel: bool) -> Self {
        let schedule = problem.schedule();
        let ports = problem.fabric.shape.ports();
        let own = |step: &Step| {
            let count = if parallel { ports / step.traffic().degree() } else { 1 };
            let links = step.traffic().expanded().into_iter().map(|arc| Link { src: arc.src, dst: arc.dst, count });
            Topology::new("own", Translations::trivial(schedule.ranks()), links).unwrap()
        };
        let mut topologies = match &problem.fabric.initial {
            Initial::Free | Initial::Repeated => Vec::new(),
            Initial::Topology(topology) => vec![topology.clone()],
        };
        topologies.extend(standard.iter().cloned());
        let standard = (0..topologies.len()).filter(|&index| connected(&topologies[index])).collect();
        topologies.extend(schedule.steps().iter().map(own));
        let fabric = Fabric { initial: Initial::Free, ..problem.fabric.clone() };
        let all = Problem::new(schedule.clone(), fabric, SINGLE_PATH, problem.size_bytes, topologies.clone()).unwrap();
        let cost = |round, topology| all.step_cost(round, topology).map_or(f64::INFINITY, |(cost, ..)| cost.total_s());
        let costs = (0..schedule.steps().len())
            .map(|round| (0..topologies.len()).map(|topology| cost(round, topology)).collect())
            .collect();
        Self { costs, topologies, standard, delay: problem.fabric.reconfiguration.delay().clone() }
    }

    fn best_s(&self, round: usize, before: Option<usize>) -> f64 {
        let Some(costs) = self.costs.get(round) else { return 0.0 };
        let own = self.topologies.len() - self.costs.len() + round;
        let options = before.into_iter().chain(self.standard.iter().copied()).chain([own]);
        options
            .filter(|&option| costs[option].is_finite())
            .map(|option| {
                let change_s = before
                    .map_or(0.0, |before| self.delay.between_s(&self.topologies[before], &self.topologies[option]));
                change_s + costs[option] + self.best_s(round + 1, Some(option))
            })
            .fold(f64::INFINITY, f64::min)
    }
}

/// By Floyd and Warshall.
fn connected(topology: &Topology) -> bool {
    let n = topology.ranks() as usize;
    let mut reaches = vec![vec![false; n]; n];
    topology.expanded().iter().for_each(|link| reaches[link.src as usize][link.dst as usize] = true);
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                reaches[from][to] |= reaches[from][via] && reaches[via][to];
            }
        }
    }
    reaches
        .iter()
        .enumerate()
        .all(|(from, row)| row.iter().enumerate().all(|(to, is_reached)| from == to || *is_reached))
}

fn algorithms() -> impl Strategy<Value = (&'static str, Collective, u32)> {
    prop_oneof![
        Just(("recursive-doubling", Collective::AllReduce, 4)),
        Just(("halving-doubling", Collective::ReduceScatter, 8)),
        Just(("halving-doubling", Collective::AllReduce, 8)),
        Just(("swing", Collective::AllGather, 8)),
        Just(("bruck", Collective::AllToAll, 7)),
        Just(("direct", Collective::AllToAll, 6)),
        Just(("dex", Collective::AllToAll, 8)),
        Just(("ring", Collective::AllGather, 5)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]

    #[test]
    fn equals_brute_force_over_all_allowed_sequences(
        (algorithm, collective, gpus) in algorithms(),
        ports in 1u32..4,
        sets in prop::collection::vec(prop::collection::vec(1u32..8, 1..4), 1..3),
        start in prop::option::of(1u32..8),
        log_size in 10u32..32,
        log_delay in -8.0f64..-2.0,
        per_port in prop::bool::ANY,
        startup in prop::bool::ANY,
        parallel in prop::bool::ANY,
    ) {
        let shape = Shape::new(gpus, &[], ports).unwrap();
        let offset = |raw: u32| 1 + raw % (gpus - 1);
        // Sets that are not connected are no standard topologies.
        let given: Vec<Topology> = sets.iter().map(|set| {
            let mut offsets: Vec<u32> = set.iter().map(|&raw| offset(raw)).take(ports as usize).collect();
            offsets.sort_unstable();
            offsets.dedup();
            let count = ports / offsets.len() as u32;
            circulant(gpus, &offsets, count)
        }).collect();
        let initial = start.map_or(Initial::Free, |raw| Initial::Topology(circulant(gpus, &[offset(raw)], 1)));
        let mut fabric = fabric(&shape, 10f64.powf(log_delay), initial.clone());
        if per_port {
            fabric.reconfiguration = ReconfigurationDelay::per_port(1e-6, 10f64.powf(log_delay) / 8.0).into();
        }
        fabric.startup_s = if startup { 1e-6 } else { 0.0 };
        // The settings given do not matter: PCCL routes its own way.
        let mut problem = Problem::new(schedule(algorithm, collective, &shape, None), fabric, CostSettings::default(), 1 << log_size, given.clone()).unwrap();
        problem.static_candidates = given.iter().filter_map(|topology| problem.table.position(topology)).collect();
        let standard: Vec<Topology> = given.iter().filter(|topology| !matches!(&initial, Initial::Topology(i) if i.same_links(topology))).map(|topology| {
            let thin: Vec<u32> = topology.links().iter().map(|link| link.dst).collect();
            if parallel { topology.clone() } else { circulant(gpus, &thin, 1) }
        }).collect();
        let planner = if parallel { "pccl-parallel" } else { "pccl" };
        let choice = find(planner).unwrap().choose(&problem).unwrap();
        let force = BruteForce::new(&problem, &standard, parallel);
        let before = matches!(initial, Initial::Topology(_)).then_some(0);
        let expected = force.best_s(0, before);
        prop_assert!((choice.total_s - expected).abs() <= 1e-12 * expected, "{} {expected}", choice.total_s);
        // The limit is the one that it keeps.
        let within = |limit_s| find(planner).unwrap().choose_within(&problem, limit_s).unwrap().is_some();
        prop_assert!(within(expected * (1.0 + 1e-9)) && !within(expected * (1.0 - 1e-9)));
        let plan = choice.into_plan(true).unwrap();
        prop_assert!(plan.bound.seconds <= plan.total_s() * (1.0 + 1e-12));
        prop_assert!((plan.total_s() - expected).abs() <= 1e-12 * expected);
        let report = lightloom::verify_plan(&plan);
        prop_assert!(report.passed(), "{:?}", report.first_failure());
    }
}
