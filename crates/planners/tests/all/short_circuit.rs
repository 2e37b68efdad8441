//! Short-circuiting rings: the thresholds and speed-ups of the paper's figures, and every threshold by hand.
use collectives::Options;
use lightloom_planners::{Choice, Problem, Thresholds, find};
use model::{
    Chunks, Collective, CostSettings, Fabric, Initial, Op, ReconfigurationDelay, ReconfigurationPolicy, Schedule,
    Shape, Step, Transfer, Translations,
};
use proptest::prelude::*;

const NS: f64 = 1e-9;
const US: f64 = 1e-6;
/// Bytes per second of a link of 800 Gbit/s.
const RATE: f64 = 1e11;

/// The paper's setting: 800 Gbit/s, no startup, one port, the ring at first.
fn problem(algorithm: &str, collective: Collective, gpus: u32, size: u64, hop_s: f64, delay_s: f64) -> Problem {
    let shape = Shape::new(gpus, &[], 1).unwrap();
    let schedule = collectives::find(algorithm).unwrap().build(collective, &shape, &Options::default()).unwrap();
    with_schedule(schedule, shape, size, hop_s, delay_s)
}

fn with_schedule(schedule: Schedule, shape: Shape, size: u64, hop_s: f64, delay_s: f64) -> Problem {
    let ring = topologies::build("ring", &shape).unwrap();
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8.0 * RATE,
        startup_s: 0.0,
        barrier_s: 0.0,
        hop_delay_s: hop_s,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial: Initial::Topology(ring.clone()),
        optics: None,
        electrical: None,
    };
    Problem::new(schedule, fabric, CostSettings::default(), size, vec![ring]).unwrap()
}

fn reduce_scatter(size: u64, hop_s: f64, delay_s: f64) -> Problem {
    problem("recursive-doubling", Collective::ReduceScatter, 32, size, hop_s, delay_s)
}

fn choose(problem: &Problem) -> Choice {
    let choice = find("short-circuit").unwrap().choose(problem).unwrap();
    let plan = choice.clone().into_plan(true).unwrap();
    assert!(lightloom::verify_plan(&plan).passed(), "{:?}", lightloom::verify_plan(&plan).first_failure());
    assert!((plan.total_s() - choice.total_s).abs() <= 1e-12 * choice.total_s);
    assert!(plan.bound.seconds <= plan.total_s() * (1.0 + 1e-12));
    choice
}

/// Eq. 4, left side, on the steps 0 … s−1 of a ReduceScatter.
fn equation_4(steps: i32, threshold: i32, size: f64, hop_s: f64, delay_s: f64) -> f64 {
    let two = |exponent| 2f64.powi(exponent);
    let on_ring: f64 = (0..threshold).map(|i| two(i) * hop_s + two(i) * size / two(i + 1) / RATE).sum();
    let on_own: f64 = (threshold..steps).map(|i| delay_s + hop_s + size / two(i + 1) / RATE).sum();
    on_ring + on_own
}

/// Eq. 3.
fn equation_3(gpus: u32, size: f64, hop_s: f64) -> f64 {
    f64::from(gpus - 1) * (hop_s + size / f64::from(gpus) / RATE)
}

/// Figures 2 and 3 at 32 B and a hop delay of 1 µs.
#[test]
fn thresholds_of_small_messages() {
    for (delay_s, threshold) in
        [(10.0 * NS, 1), (100.0 * NS, 1), (500.0 * NS, 1), (US, 1), (5.0 * US, 3), (10.0 * US, 4)]
    {
        let problem = reduce_scatter(32, US, delay_s);
        let found = Thresholds::of(&problem).unwrap();
        assert_eq!(found.reduce_scatter, Some(threshold), "{delay_s}");
        let choice = choose(&problem);
        assert_eq!(choice.total_s, found.recursive_doubling_s, "Ring is slower at every delay");
        assert_eq!(choice.candidates.iter().take_while(|&&candidate| candidate == 0).count(), threshold);
        assert_eq!(choice.reconfigurations(), 5 - threshold);
    }
}

/// The whole table of figure 2: the best threshold by eq. 4, falling as reconfiguration gets faster or hops
/// slower; from 4 MB on always 1; and a speed-up over Ring that is never below 0 %.
#[test]
fn the_table_of_figure_2() {
    let hops = [100.0 * NS, 250.0 * NS, 500.0 * NS, US, 2.0 * US];
    let delays = [10.0 * NS, 50.0 * NS, 100.0 * NS, 500.0 * NS, US, 2.0 * US, 5.0 * US, 10.0 * US];
    for size in [32, 32_000, 4_000_000, 4 << 20, 32_000_000, 32 << 20] {
        for (row, &hop_s) in hops.iter().enumerate() {
            let mut before = 0;
            for &delay_s in &delays {
                let problem = reduce_scatter(size, hop_s, delay_s);
                let found = Thresholds::of(&problem).unwrap();
                let times: Vec<f64> = (1..=5).map(|t| equation_4(5, t, size as f64, hop_s, delay_s)).collect();
                let best_s = times.iter().copied().fold(f64::INFINITY, f64::min);
                let threshold = found.reduce_scatter.unwrap();
                assert!((found.recursive_doubling_s - best_s).abs() <= 1e-12 * best_s);
                assert!(times[threshold - 1] <= best_s * (1.0 + 1e-12), "{size} {hop_s} {delay_s}: {threshold}");
                let ring_s = equation_3(32, size as f64, hop_s);
                assert!((found.ring_s - ring_s).abs() <= 1e-12 * ring_s);
                if size >= 4_000_000 {
                    assert_eq!(threshold, 1, "{size} {hop_s} {delay_s}");
                }
                assert!(threshold >= before, "{size} {hop_s} {delay_s}");
                before = threshold;
                if row > 0 {
                    let shorter_hops = Thresholds::of(&reduce_scatter(size, hops[row - 1], delay_s)).unwrap();
                    assert!(threshold <= shorter_hops.reduce_scatter.unwrap());
                }
                let choice = choose(&problem);
                assert!(choice.total_s <= ring_s * (1.0 + 1e-12));
                let algorithm = choice.problem.schedule().algorithm();
                assert_eq!(algorithm, if best_s < ring_s { "recursive-doubling" } else { "ring" });
            }
        }
    }
}

/// §4: up to 515 % at 32 B and 8 % at 32 MB, at a hop delay of 1 µs and a reconfiguration delay of 10 ns.
#[test]
fn speed_ups_over_ring() {
    for (size, percent) in [(32, 515.0), (32_000_000, 8.0), (32 << 20, 8.0)] {
        let choice = choose(&reduce_scatter(size, US, 10.0 * NS));
        let speed_up = (equation_3(32, size as f64, US) / choice.total_s - 1.0) * 100.0;
        assert!((speed_up - percent).abs() < 0.5, "{size}: {speed_up}");
    }
}

/// Figure 1 and §2.3: on a static ring of 16, Ring beats recursive doubling for every size; hops sum to
/// n − 1 with both.
#[test]
#[ignore = "large: make test-large"]
fn ring_beats_recursive_doubling_on_a_static_ring() {
    for collective in [Collective::ReduceScatter, Collective::AllGather, Collective::AllReduce] {
        let halves = if collective == Collective::AllReduce { 2.0 } else { 1.0 };
        for size in [32, 1_000, 1_000_000, 32_000_000] {
            for hop_s in [100.0 * NS, 500.0 * NS, US] {
                let times = ["ring", "recursive-doubling"].map(|algorithm| {
                    let problem = problem(algorithm, collective, 16, size, hop_s, 1.0);
                    let plan = find("static").unwrap().choose(&problem).unwrap().into_plan(true).unwrap();
                    let propagation_s: f64 = plan.steps.iter().map(|step| step.cost.propagation_s).sum();
                    assert!((propagation_s - halves * 15.0 * hop_s).abs() < 1e-12 * propagation_s);
                    plan.total_s()
                });
                assert!(times[0] < times[1], "{size} {hop_s}: {times:?}");
                // With reconfigurations this slow, that is what is left to do.
                let choice = choose(&problem("recursive-doubling", collective, 16, size, hop_s, 1.0));
                assert_eq!(choice.problem.schedule().algorithm(), "ring");
                assert!((choice.total_s - times[0]).abs() <= 1e-12 * times[0]);
            }
        }
        // About twice as long for large messages: (s/2) over (n−1)/n.
        let large = |algorithm| {
            let problem = problem(algorithm, collective, 16, 1 << 40, US, 1.0);
            find("static").unwrap().choose(&problem).unwrap().total_s
        };
        assert!((large("recursive-doubling") / large("ring") - 2.0 * 16.0 / 15.0).abs() < 1e-3);
    }
}

/// The mirror image of the ReduceScatter: its own circuits first, then the ring, which it has to return to.
/// By itself, at 10 µs, that is not worth it; in an AllReduce the change to its first circuits is spared, so that
/// both halves cost the same.
#[test]
fn the_allgather_returns_to_the_ring() {
    for (delay_s, alone, after_reducing) in [(10.0 * NS, 4, 4), (US, 4, 4), (5.0 * US, 2, 2), (10.0 * US, 0, 1)] {
        let gather = problem("recursive-doubling", Collective::AllGather, 32, 32, US, delay_s);
        let found = Thresholds::of(&gather).unwrap();
        assert_eq!((found.reduce_scatter, found.all_gather), (None, Some(alone)), "{delay_s}");
        let return_s = if alone > 0 { delay_s } else { 0.0 };
        let expected = equation_4(5, 5 - alone as i32, 32.0, US, delay_s) + return_s;
        assert!((found.recursive_doubling_s - expected).abs() <= 1e-12 * expected, "{delay_s}");
        let both = problem("recursive-doubling", Collective::AllReduce, 32, 32, US, delay_s);
        let found = Thresholds::of(&both).unwrap();
        let half = Thresholds::of(&reduce_scatter(32, US, delay_s)).unwrap();
        assert_eq!((found.reduce_scatter, found.all_gather), (half.reduce_scatter, Some(after_reducing)));
        let expected = 2.0 * half.recursive_doubling_s;
        assert!((found.recursive_doubling_s - expected).abs() <= 1e-12 * expected, "{delay_s}");
    }
}

/// Partners that differ in one bit, distance 1 first: on a two-way ring eq. 1 holds for them as well.
#[test]
fn partners_in_one_bit_cost_the_same_on_a_two_way_ring() {
    let chunks = Chunks::even(Collective::ReduceScatter, 32, 1).unwrap();
    let steps = (0..5u32).map(|bit| {
        let transfers = (0..32u32).map(|src| {
            let dst = src ^ (1 << bit);
            let owners = (0..32).filter(|owner| (owner ^ dst) & ((2 << bit) - 1) == 0);
            Transfer { src, dst, op: Op::Reduce, chunks: owners.collect() }
        });
        Step::new(Translations::trivial(32), transfers, &chunks).unwrap()
    });
    let schedule = Schedule::new("xor-doubling", chunks.clone(), steps.collect()).unwrap();
    let shape = Shape::new(32, &[], 2).unwrap();
    let problem = with_schedule(schedule, shape, 32, US, 5.0 * US);
    let choice = choose(&problem);
    assert_eq!(choice.candidates[..3], [0; 3]);
    assert_eq!(choice.reconfigurations(), 2);
    // The second port doubles what the own circuits carry.
    let bytes: f64 = 3.0 * 16.0 + (2.0 + 1.0) / 2.0;
    let expected = 7.0 * US + 2.0 * 6.0 * US + bytes / RATE;
    assert!((choice.total_s - expected).abs() <= 1e-12 * expected, "{} {expected}", choice.total_s);
}

/// Eq. 3 and 4 for any number of GPUs, by counting blocks: step i sends those whose owners are an odd multiple of 2^i
/// ahead, over 2^i hops on the ring. Every plan is executed symbolically.
#[test]
#[ignore = "large: make test-large"]
fn any_number_of_gpus() {
    let size: u64 = 6_400_000;
    for gpus in 2u32..=64 {
        let block = size as f64 / f64::from(gpus);
        let distances: Vec<u32> = (0..7).map(|i| 1 << i).filter(|&distance| distance < gpus).collect();
        let bytes = |d: u32| (1..gpus).filter(|owner| owner % (2 * d) == d).count() as f64 * block;
        for (hop_s, delay_s) in [(US, 10.0 * NS), (US, 3.0 * US), (10.0 * US, 20.0 * US), (100.0 * NS, 1e-3)] {
            let by_threshold = |threshold: usize| {
                let step_s = |(i, &d): (usize, &u32)| match i < threshold {
                    true => f64::from(d) * (hop_s + bytes(d) / RATE),
                    false => delay_s + hop_s + bytes(d) / RATE,
                };
                distances.iter().enumerate().map(step_s).sum::<f64>()
            };
            let doubling_s = (1..=distances.len()).map(by_threshold).fold(f64::INFINITY, f64::min);
            let ring_s = equation_3(gpus, size as f64, hop_s);
            let half = problem("bruck-doubling", Collective::ReduceScatter, gpus, size, hop_s, delay_s);
            let found = Thresholds::of(&half).unwrap();
            assert!((found.recursive_doubling_s / doubling_s - 1.0).abs() <= 1e-12, "{gpus} {delay_s}");
            assert!((found.ring_s / ring_s - 1.0).abs() <= 1e-12, "{gpus}");
            let best_s = doubling_s.min(ring_s);
            assert!((choose(&half).total_s / best_s - 1.0).abs() <= 1e-12, "{gpus} {delay_s}");
            let both = choose(&problem("bruck-doubling", Collective::AllReduce, gpus, size, hop_s, delay_s));
            assert!((both.total_s / (2.0 * best_s) - 1.0).abs() <= 1e-12, "{gpus} {delay_s}");
            let gather = choose(&problem("bruck-doubling", Collective::AllGather, gpus, size, hop_s, delay_s));
            assert!(gather.total_s >= best_s * (1.0 - 1e-12) && gather.total_s <= ring_s * (1.0 + 1e-12));
        }
    }
}

/// 33 GPUs, which have no partners in one bit: Ring where changes are slow, as the paper's strategy falls back, and else
/// six steps where folding one GPU into the others has six, too, one of them with the whole buffer.
#[test]
fn thirty_three_gpus() {
    let of = |delay_s| choose(&problem("bruck-doubling", Collective::ReduceScatter, 33, 32_000_000, US, delay_s));
    assert_eq!(of(1e-3).problem.schedule().algorithm(), "ring");
    let fast = of(10.0 * NS);
    assert_eq!((fast.problem.schedule().algorithm(), fast.candidates.len()), ("bruck-doubling", 6));
    let folded_s = 6.0 * US + 5.0 * 10.0 * NS + 32e6 / RATE + 31.0 / 32.0 * 32e6 / RATE;
    assert!(fast.total_s < 0.6 * folded_s, "{} {folded_s}", fast.total_s);
}

#[test]
fn other_schedules_are_refused() {
    for (algorithm, collective) in [
        ("halving-doubling", Collective::ReduceScatter),
        ("swing", Collective::AllReduce),
        ("ring", Collective::AllGather),
        ("bruck", Collective::AllToAll),
        ("binomial-tree", Collective::Broadcast),
    ] {
        let problem = problem(algorithm, collective, 8, 1 << 20, US, US);
        let error = find("short-circuit").unwrap().choose(&problem).err().unwrap().to_string();
        assert!(error.starts_with("planner: short-circuit refuses") && error.contains("distances 1, 2, 4"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(150)))]

    /// Every pair of thresholds, charged by hand from a start that may be anything.
    #[test]
    fn equals_every_threshold_tried(
        collective in prop::sample::select(vec![Collective::ReduceScatter, Collective::AllGather, Collective::AllReduce]),
        log_ranks in 1u32..8,
        ports in 1u32..4,
        log_size in 4u32..34,
        log_delay in -8.0f64..-3.0,
        per_port in prop::bool::ANY,
        start in prop::sample::select(vec!["free", "ring:one-way", "shifted-ring:3,one-way"]),
        startup in prop::bool::ANY,
    ) {
        let (gpus, s) = (1u32 << log_ranks, log_ranks as usize);
        prop_assume!(gpus > 4 || start != "shifted-ring:3,one-way");
        let shape = Shape::new(gpus, &[], ports).unwrap();
        let mut problem = problem("recursive-doubling", collective, gpus, 1 << log_size, 500.0 * NS, 0.0);
        let mut fabric = problem.fabric.clone();
        fabric.shape = shape.clone();
        fabric.startup_s = if startup { 200.0 * NS } else { 0.0 };
        let delay_s = 10f64.powf(log_delay);
        fabric.reconfiguration = if per_port { ReconfigurationDelay::per_port(0.0, delay_s / 8.0).into() } else { ReconfigurationPolicy::constant(delay_s) };
        fabric.initial = if start == "free" { Initial::Free } else { Initial::Topology(topologies::build(start, &shape).unwrap()) };
        // All circuits of a GPU change with every one of these topologies.
        let change_s = if per_port { delay_s / 8.0 * f64::from(gpus * ports) } else { delay_s };
        let ring = topologies::build("ring:one-way", &shape).unwrap();
        problem = Problem::new(problem.schedule().clone(), fabric.clone(), CostSettings::default(), 1 << log_size, vec![ring]).unwrap();

        // Distance of the one-way ring in force, by step: 1 where the ring is, else the step's own.
        let size = (1u64 << log_size) as f64;
        let exponents: Vec<u32> = match collective {
            Collective::ReduceScatter => (0..log_ranks).collect(),
            Collective::AllGather => (0..log_ranks).rev().collect(),
            _ => (0..log_ranks).chain((0..log_ranks).rev()).collect(),
        };
        let time = |stay: usize, leave: usize| {
            let reducing = if collective == Collective::AllGather { 0 } else { s };
            let mut in_force = match start { "free" => None, "ring:one-way" => Some(1), _ => Some(3) };
            let mut total_s = 0.0;
            for (step, &exponent) in exponents.iter().enumerate() {
                let own = if step < reducing { step >= stay } else { step - reducing < leave };
                let distance = if own { 1u32 << exponent } else { 1 };
                total_s += if in_force.is_some_and(|before| before != distance) { change_s } else { 0.0 };
                in_force = Some(distance);
                let (hops, bytes) = (f64::from((1u32 << exponent) / distance), size / f64::from(2u32 << exponent));
                total_s += fabric.startup_s + hops * (fabric.hop_delay_s + bytes / RATE / f64::from(ports));
            }
            total_s
        };
        let best_s = (0..=s).flat_map(|stay| (0..=s).map(move |leave| (stay, leave)))
            .map(|(stay, leave)| time(stay, leave)).fold(f64::INFINITY, f64::min);
        let halves = if collective == Collective::AllReduce { 2.0 } else { 1.0 };
        let to_ring_s = if start.starts_with("shifted") { change_s } else { 0.0 };
        let ring_step_s = fabric.startup_s + fabric.hop_delay_s + size / f64::from(gpus) / RATE / f64::from(ports);
        let ring_s = to_ring_s + halves * f64::from(gpus - 1) * ring_step_s;

        let found = Thresholds::of(&problem).unwrap();
        prop_assert!((found.recursive_doubling_s - best_s).abs() <= 1e-12 * best_s, "{} {best_s}", found.recursive_doubling_s);
        prop_assert!((found.ring_s - ring_s).abs() <= 1e-12 * ring_s);
        let choice = choose(&problem);
        prop_assert!((choice.total_s - best_s.min(ring_s)).abs() <= 1e-12 * best_s.min(ring_s));
        // One half by Ring, with free use of what the other leaves behind, is no better.
        if collective == Collective::AllReduce && start != "shifted-ring:3,one-way" {
            let alone = |stay: usize| (0..s).map(|i| {
                let own = i >= stay && i > 0;
                let hops = if own { 1.0 } else { f64::from(1u32 << i) };
                let change_s = if own { change_s } else { 0.0 };
                change_s + fabric.startup_s + hops * (fabric.hop_delay_s + size / f64::from(2u32 << i) / RATE / f64::from(ports))
            }).sum::<f64>();
            let half_s = (0..=s).map(alone).fold(f64::INFINITY, f64::min);
            prop_assert!(start == "free" || choice.total_s <= (half_s + ring_s / 2.0) * (1.0 + 1e-12));
        }
        let within = |limit_s| find("short-circuit").unwrap().choose_within(&problem, limit_s).unwrap().is_some();
        prop_assert!(within(choice.total_s * (1.0 + 1e-9)) && !within(choice.total_s * (1.0 - 1e-9)));
    }
}
