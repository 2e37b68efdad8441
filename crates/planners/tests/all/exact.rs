//! The exhaustive planner against every set of circuits of one port, and the others against it.
use collectives::Options;
use lightloom_planners::{Before, Problem, REGISTRY, StateSearch, choose, find};
use model::{
    Collective, CostSettings, Fabric, Initial, Link, Overlap, Propagation, ReconfigurationDelay, ReconfigurationPolicy,
    Routing, Schedule, Shape, Topology, Translations,
};
use proptest::prelude::*;

fn one_port(gpus: u32, hop_delay_s: f64, delay_s: f64) -> Fabric {
    Fabric {
        shape: Shape::new(gpus, &[], 1).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    }
}

fn schedule(algorithm: &str, collective: Collective, gpus: u32) -> Option<Schedule> {
    let shape = Shape::new(gpus, &[], 1).unwrap();
    collectives::find(algorithm).unwrap().build(collective, &shape, &Options::default()).ok()
}

/// The circuits 0 → image of 0, 1 → image of 1 and so on, without those from a GPU to itself.
fn topology(images: &[u32]) -> Topology {
    let links = images.iter().zip(0..).map(|(&dst, src)| Link { src, dst, count: 1 });
    let links = links.filter(|link| link.src != link.dst);
    Topology::new(format!("{images:?}"), Translations::trivial(images.len() as u32), links).unwrap()
}

/// Every topology of one port: each GPU sends to another to which no other sends, or to none.
fn all_topologies(gpus: u32) -> Vec<Topology> {
    let mut all = Vec::new();
    for code in 0..u64::from(gpus).pow(gpus) {
        let images: Vec<u32> =
            (0..gpus).map(|gpu| (code / u64::from(gpus).pow(gpu) % u64::from(gpus)) as u32).collect();
        let led_to = |gpu: u32| (0..gpus).filter(|&src| src != gpu && images[src as usize] == gpu).count();
        if (0..gpus).all(|gpu| led_to(gpu) <= 1) {
            all.push(topology(&images));
        }
    }
    all
}

fn schedules(most_gpus: u32) -> impl Strategy<Value = Schedule> {
    let algorithms: Vec<&str> = collectives::REGISTRY.iter().map(|algorithm| algorithm.name()).collect();
    let drawn = (prop::sample::select(algorithms), prop::sample::select(Collective::ALL.to_vec()), 3..=most_gpus);
    drawn.prop_filter_map("the algorithm takes it", |(algorithm, collective, gpus)| {
        schedule(algorithm, collective, gpus)
    })
}

/// The parameters of a problem on one port.
#[derive(Debug, Clone)]
struct Setting {
    schedule: Schedule,
    fabric: Fabric,
    settings: CostSettings,
    size_bytes: u64,
}

impl Setting {
    fn with(&self, candidates: Vec<Topology>) -> Problem {
        let Self { schedule, fabric, settings, size_bytes } = self.clone();
        Problem::new(schedule, fabric, settings, size_bytes, candidates).unwrap()
    }

    fn problem(&self) -> Problem {
        self.with(vec![topologies::build("ring", &self.fabric.shape).unwrap()])
    }
}

/// The start is free, or what the random images make of a permutation.
fn settings(most_gpus: u32) -> impl Strategy<Value = Setting> {
    let size_and_delays = (4u32..28, -8.0f64..-3.0, prop_oneof![Just(0.0), Just(500e-9), Just(20e-6)]);
    let start = prop::option::of(prop::collection::vec(0u32..most_gpus, most_gpus as usize));
    let propagation = prop::sample::select(vec![Propagation::Hops, Propagation::InverseThroughput]);
    (schedules(most_gpus), size_and_delays, start, propagation).prop_map(
        |(schedule, (log_size, log_delay, hop_delay_s), start, propagation)| {
            let gpus = schedule.ranks();
            let mut fabric = one_port(gpus, hop_delay_s, 10f64.powf(log_delay));
            if let Some(draws) = start {
                let mut left: Vec<u32> = (0..gpus).collect();
                let images: Vec<u32> =
                    (0..gpus as usize).map(|gpu| left.remove(draws[gpu] as usize % left.len())).collect();
                // Some circuits are dark, so that the start is a chain now and then.
                let lit = |(gpu, &image): (usize, &u32)| if draws[gpu] % 3 == 0 { gpu as u32 } else { image };
                fabric.initial = Initial::Topology(topology(&images.iter().enumerate().map(lit).collect::<Vec<_>>()));
            }
            let settings = CostSettings { propagation, ..CostSettings::default() };
            Setting { schedule, fabric, settings, size_bytes: 1 << log_size }
        },
    )
}

/// Whether both have the same steps, whoever made them.
fn same_steps(ours: &Schedule, theirs: &Schedule) -> bool {
    let alike = |(a, b): (&model::Step, &model::Step)| a.traffic() == b.traffic() && a.share() == b.share();
    ours.steps().len() == theirs.steps().len() && ours.steps().iter().zip(theirs.steps()).all(alike)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(192)))]

    #[test]
    fn equals_the_search_over_every_set_of_circuits(setting in settings(5)) {
        let problem = setting.problem();
        let exact = find("exact").unwrap().choose(&problem).unwrap();
        let all = setting.with(all_topologies(problem.fabric.shape.gpus()));
        let mut search = StateSearch::new(&all.table);
        let before = all.start.map_or(Before::Nothing, Before::Candidate);
        let expected = search.run(&all.rates(), &all.charges(), before, f64::INFINITY).unwrap().unwrap();
        prop_assert!((exact.total_s - expected).abs() <= 1e-12 * expected, "{} {expected}", exact.total_s);
        let plan = exact.into_plan(true).unwrap();
        prop_assert!((plan.bound.seconds - plan.total_s()).abs() <= 1e-12 * plan.total_s());
        let report = lightloom::verify_plan(&plan);
        prop_assert!(report.passed(), "{:?}", report.first_failure());
    }

    #[test]
    fn no_planner_is_faster_on_the_same_steps(setting in settings(7)) {
        let problem = setting.problem();
        let exact = find("exact").unwrap().choose(&problem).unwrap();
        let bound = bounds::given_schedule(problem.schedule(), &problem.fabric, problem.settings, problem.size_bytes);
        prop_assert!(bound.seconds() <= exact.total_s * (1.0 + 1e-12), "{} {}", bound.seconds(), exact.total_s);
        for planner in REGISTRY {
            let Ok(Some(choice)) = choose(*planner, &problem, f64::INFINITY) else { continue };
            if same_steps(choice.problem.schedule(), problem.schedule()) {
                let (theirs, ours) = (choice.total_s, exact.total_s);
                prop_assert!(theirs >= ours * (1.0 - 1e-12), "{} {theirs} {ours}", planner.name());
            }
        }
    }

    #[test]
    fn rings_of_the_steps_own_distances_are_optimal_for_recursive_doubling(
        collective in prop::sample::select(vec![Collective::ReduceScatter, Collective::AllGather, Collective::AllReduce]),
        gpus in prop::sample::select(vec![4u32, 8]),
        log_size in 4u32..30,
        log_delay in -8.0f64..-3.0,
    ) {
        // HARVEST's observation 4, which its candidates rest on.
        let rings: Vec<Topology> = (0..gpus.ilog2())
            .map(|k| topology(&(0..gpus).map(|gpu| (gpu + (1 << k)) % gpus).collect::<Vec<_>>()))
            .collect();
        let fabric = one_port(gpus, 500e-9, 10f64.powf(log_delay));
        let steps = schedule("recursive-doubling", collective, gpus).unwrap();
        let problem = Problem::new(steps, fabric, CostSettings::default(), 1 << log_size, rings).unwrap();
        let harvest = find("harvest").unwrap().choose(&problem).unwrap().total_s;
        let exact = find("exact").unwrap().choose(&problem).unwrap().total_s;
        prop_assert!((harvest - exact).abs() <= 1e-12 * exact, "{harvest} {exact}");
    }
}

/// The planner's refusal of `fabric` and `settings`.
fn refusal(fabric: Fabric, settings: CostSettings) -> String {
    let gpus = fabric.shape.gpus();
    let ring = topologies::build("ring", &fabric.shape).unwrap();
    let steps = schedule("ring", Collective::AllGather, gpus).unwrap();
    let problem = Problem::new(steps, fabric, settings, 1 << 20, vec![ring]).unwrap();
    find("exact").unwrap().choose(&problem).err().unwrap().to_string()
}

#[test]
fn what_it_does_not_take_is_refused_by_name() {
    let (fabric, settings) = (one_port(4, 0.0, 1e-6), CostSettings::default());
    let large = refusal(one_port(10, 0.0, 1e-6), settings);
    assert!(large.starts_with("gpus: ") && large.contains("at most 9"), "{large}");
    let wide = refusal(Fabric { shape: Shape::new(4, &[], 2).unwrap(), ..fabric.clone() }, settings);
    assert!(wide.starts_with("ports: "), "{wide}");
    let per_port = ReconfigurationDelay::per_port(0.0, 1e-9).into();
    let per_port = refusal(Fabric { reconfiguration: per_port, ..fabric.clone() }, settings);
    assert!(per_port.starts_with("reconfiguration_delay: "), "{per_port}");
    let pipelined = refusal(fabric.clone(), CostSettings { overlap: Overlap::Pipelined, ..settings });
    assert!(pipelined.starts_with("overlap: "), "{pipelined}");
    // With one port there is one path, whatever the routing.
    for &routing in Routing::ALL {
        let ring = topologies::build("ring", &fabric.shape).unwrap();
        let steps = schedule("ring", Collective::AllGather, 4).unwrap();
        let settings = CostSettings { routing, ..settings };
        let problem = Problem::new(steps, fabric.clone(), settings, 1 << 20, vec![ring]).unwrap();
        assert_eq!(find("exact").unwrap().choose(&problem).unwrap().reconfigurations(), 0);
    }
}
