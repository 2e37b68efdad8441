//! The all-to-all paper's baselines as planners (§5.1), for equal and unequal blocks.
use block_rounds::workloads;
use collectives::Options;
use lightloom_planners::{Choice, PlannerOptions, Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, Plan, ReconfigurationPolicy, Shape};
use proptest::prelude::*;

const NAMES: [&str; 5] = ["mixnet", "fast", "direct-connect-kautz", "direct-connect-circulant", "topo-opt"];
const BLOCK: f64 = 4e6;
/// α + δ, then β·block.
const LATENCY_S: f64 = 1e-6;
const BLOCK_S: f64 = 40e-6;

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

/// Equal blocks of 4 MB.
fn equal(gpus: u32, ports: u32, delay_s: f64) -> Problem {
    let fabric = fabric(gpus, ports, delay_s);
    let direct = collectives::find("direct").unwrap();
    let schedule = direct.build(Collective::AllToAll, &fabric.shape, &Options::default()).unwrap();
    let ring = topologies::build("ring", &fabric.shape).unwrap();
    let size = BLOCK as u64 * u64::from(gpus);
    Problem::new(schedule, fabric, CostSettings::default(), size, vec![ring]).unwrap()
}

fn unequal(matrix: &[Vec<f64>], ports: u32, delay_s: f64) -> Problem {
    let fabric = fabric(matrix.len() as u32, ports, delay_s);
    let (schedule, m) = collectives::direct_from_matrix(matrix).unwrap();
    let ring = topologies::build("ring", &fabric.shape).unwrap();
    Problem::new(schedule, fabric, CostSettings::default(), m.round() as u64, vec![ring]).unwrap()
}

fn choose(name: &str, problem: &Problem) -> Choice {
    find(name).unwrap().choose(problem).unwrap()
}

/// The plan, after the verifier has passed it and its bound.
fn judged(choice: Choice) -> Plan {
    let total_s = choice.total_s;
    let plan = choice.into_plan(true).unwrap();
    assert_eq!(lightloom::verify_plan(&plan).first_failure(), None, "{}", plan.planner);
    assert!((plan.total_s() - total_s).abs() <= 1e-9 * total_s, "{}: {} {total_s}", plan.planner, plan.total_s());
    assert!(plan.bound.seconds <= total_s * (1.0 + 1e-12), "{}: {} {total_s}", plan.planner, plan.bound.seconds);
    plan
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected
}

/// One port: every fixed topology is one ring of n(n−1)/2 slots. Forwarded in rounds each slot pays latency; as one
/// step of concurrent flow the startup is paid once and the longest path's hops once.
#[test]
fn one_port_makes_the_fixed_ones_a_ring() {
    for n in [8u32, 13, 16] {
        let slots = f64::from(n * (n - 1) / 2);
        let problem = equal(n, 1, 1e-3);
        for name in ["topo-opt", "mixnet"] {
            assert!(close(judged(choose(name, &problem)).total_s(), slots * (LATENCY_S + BLOCK_S)), "{name}");
        }
        for name in ["direct-connect-kautz", "direct-connect-circulant"] {
            let expected = 500e-9 * f64::from(n) + slots * BLOCK_S;
            let found = judged(choose(name, &problem)).total_s();
            assert!(close(found, expected), "{name}: {found} {expected}");
        }
    }
}

/// FAST: ⌈(n−1)/k⌉ topologies, each for one hop of one block.
#[test]
fn fast_reconfigures_for_every_port_full_of_matchings() {
    for (n, ports, topologies) in [(8, 1, 7.0), (8, 2, 4.0), (64, 2, 32.0), (9, 3, 3.0)] {
        let choice = choose("fast", &equal(n, ports, 1e-3));
        assert_eq!(choice.reconfigurations() as f64, topologies - 1.0);
        // Flows that are left over in the last topology share the ports, as far as they divide.
        let copies = ports.checked_div((n - 1) % ports).unwrap_or(1);
        let last = 1.0 / f64::from(copies);
        let expected = (topologies - 1.0) * (1e-3 + BLOCK_S) + topologies * LATENCY_S + last * BLOCK_S;
        let found = judged(choice).total_s();
        assert!(close(found, expected), "n {n}, {ports} ports: {found} {expected}");
    }
}

/// The fixed topologies never reconfigure, whatever it costs, and no strategy of rounds is above the best of rounds.
#[test]
fn fixed_topologies_stay_and_the_best_strategy_is_not_above_them() {
    for (n, ports) in [(8, 2), (15, 2), (16, 3), (12, 2)] {
        let problem = equal(n, ports, 1e-9);
        let best_s = choose("reconfigure-all-to-all", &problem).total_s;
        for name in NAMES.into_iter().filter(|name| *name != "fast") {
            let choice = choose(name, &problem);
            assert_eq!(choice.reconfigurations(), 0, "{name}");
            let forwards = name == "mixnet" || name == "topo-opt";
            let total_s = judged(choice).total_s();
            assert!(!forwards || best_s <= total_s * (1.0 + 1e-12), "{name}");
        }
    }
}

#[test]
fn flows_too_many_for_the_linear_program_are_refused() {
    let error = find("direct-connect-kautz").unwrap().choose(&equal(251, 2, 1e-3)).err().unwrap().to_string();
    assert!(error.contains("commodities"), "{error}");
}

/// Chunks by index: a block of c chunks pays latency c times for every hop, and its bytes once.
#[test]
fn chunks_pay_latency_each() {
    for (name, ports) in [("reconfigure-all-to-all", 1), ("reconfigure-all-to-all", 2), ("topo-opt", 2), ("mixnet", 2)]
    {
        let whole = equal(8, ports, 1.0);
        let slots = choose(name, &whole).candidates.len() as f64;
        for (chunk_bytes, chunks) in [(1_000_000, 4.0), (1_500_000, 3.0), (4_000_000, 1.0), (9_000_000, 1.0)] {
            let options = PlannerOptions { chunk_bytes: Some(chunk_bytes), ..PlannerOptions::default() };
            let plan = judged(choose(name, &Problem { options, ..whole.clone() }));
            assert!(close(plan.total_s(), slots * (chunks * LATENCY_S + BLOCK_S)), "{name}, {chunk_bytes}");
            assert_eq!(plan.steps.len() as f64, slots * chunks);
        }
    }
}

/// Unequal blocks: the slot of an index lasts as long as its largest chunk.
#[test]
fn unequal_blocks_are_cut_to_full_chunks_and_a_rest() {
    // Two flows on a ring of two: 5 MB and 3 MB in chunks of 2 MB are 2 + 2 + 1 and 2 + 1.
    let options = PlannerOptions { chunk_bytes: Some(2_000_000), ..PlannerOptions::default() };
    let problem = Problem { options, ..unequal(&[vec![0.0, 5e6], vec![3e6, 0.0]], 1, 1e-3) };
    let plan = judged(choose("reconfigure-all-to-all", &problem));
    assert_eq!(plan.steps.iter().map(|step| step.transfer_bytes.round()).collect::<Vec<_>>(), [2e6, 2e6, 1e6]);
    assert!(close(plan.total_s(), 3.0 * LATENCY_S + 50e-6));
}

#[test]
fn too_many_chunks_are_refused_by_name() {
    let options = PlannerOptions { chunk_bytes: Some(1), ..PlannerOptions::default() };
    let error = find("topo-opt").unwrap().choose(&Problem { options, ..equal(8, 2, 1e-3) }).err().unwrap();
    assert_eq!(error.field(), "chunk_size", "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

    /// Every baseline, on any workload, in whole blocks or chunks, passes the verifier.
    #[test]
    fn plans_pass_the_judge(
        n in 3u32..11, ports in 1u32..4, exponent in -8i32..-2, seed: u64, chunked: bool,
        kind in prop::sample::select(vec!["uniform", "random", "zipf:0.4", "zipf:3"]),
    ) {
        let mut matrix = workloads::build(kind, n, 4e6, seed).unwrap();
        if kind == "random" {
            // Some pairs send nothing.
            matrix.iter_mut().flatten().for_each(|bytes| if *bytes < 1e6 { *bytes = 0.0 });
            matrix[0][1] = 1e6;
        }
        let options = PlannerOptions { chunk_bytes: chunked.then_some(1_500_000), ..PlannerOptions::default() };
        let problem = Problem { options, ..unequal(&matrix, ports, 10f64.powi(exponent)) };
        for name in NAMES {
            // Few ranks have few rings.
            match find(name).unwrap().choose(&problem) {
                Ok(choice) => drop(judged(choice)),
                Err(error) => prop_assert!(name == "topo-opt" || ports >= n - 1, "{name}: {error}"),
            }
        }
    }
}
