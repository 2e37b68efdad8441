//! Plans that are told while better ones are looked for, and plans that begin with the circuits of another.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lightloom::{Better, Request, Size, Told, Workload, plan, plan_as_found, verify_plan};
use model::{
    Collective, CostSettings, Fabric, Initial, Overlap, Plan, Propagation, ReconfigurationPolicy, Routing, Shape,
};
use proptest::prelude::*;

fn fabric(gpus: u32, ports: u32, delay_s: f64, start: Option<&str>) -> Fabric {
    let shape = Shape::new(gpus, &[], ports).unwrap();
    let initial = start.map_or(Initial::Free, |name| Initial::Topology(topologies::build(name, &shape).unwrap()));
    Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial,
        optics: None,
        electrical: None,
    }
}

fn request(fabric: Fabric, matrix: &[Vec<f64>]) -> Request {
    let (blocks, m) = collectives::UnequalBlocks::of_matrix(matrix.to_vec()).unwrap();
    Request {
        fabric,
        workload: Workload::Matrix(blocks),
        size: Size::Buffer(m.round() as u64),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: None,
        candidates: None,
        static_topologies: None,
        cache: Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    }
}

fn zipf(gpus: u32, seed: u64) -> Vec<Vec<f64>> {
    block_rounds::workloads::zipf(gpus, 1e6, 0.4, seed)
}

/// The plan and everything that is told before it is returned.
fn told(request: &Request, warm_start: Option<&Plan>) -> (Plan, Vec<Better>) {
    let seen: Arc<Mutex<Vec<Better>>> = Arc::default();
    let to = seen.clone();
    let told: Told = Arc::new(move |better| to.lock().unwrap().push(better));
    let plan = plan_as_found(request, warm_start, Some(told)).unwrap();
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (plan, seen)
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * other
}

/// Every plan that is told passes `verify`, takes the time that was told, is above the bound and faster than the one
/// before, and the last one is as fast as the plan that is returned.
fn check_told(plan: &Plan, told: &[Better]) {
    assert_eq!(verify_plan(plan).first_failure(), None);
    for better in told {
        let made = better.plan().unwrap();
        assert_eq!(verify_plan(&made).first_failure(), None);
        assert!(near(made.total_s(), better.total_s), "{} {}", made.total_s(), better.total_s);
        assert!(better.lower_bound_s > 0.0 && better.lower_bound_s <= better.total_s * (1.0 + 1e-9));
        assert!(near(better.lower_bound_s, plan.bound.seconds));
    }
    for pair in told.windows(2) {
        assert!(pair[1].total_s < pair[0].total_s && pair[1].elapsed_s >= pair[0].elapsed_s);
    }
    assert!(near(told.last().unwrap().total_s, plan.total_s()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(24)))]

    /// Whoever listens changes nothing.
    #[test]
    fn better_plans_are_told_in_order(
        (gpus, ports) in (3u32..8, 1u32..4),
        cells in prop::collection::vec(prop_oneof![1 => Just(0.0), 3 => 1e3f64..1e7], 64),
        log_delay in -7i32..-3, start in prop::option::of(Just("ring")),
        overlap in prop_oneof![3 => Just(Overlap::Additive), 1 => Just(Overlap::Pipelined)],
    ) {
        let cell = |src: u32, dst: u32| if src == dst { 0.0 } else { cells[(src * 8 + dst) as usize] };
        let matrix: Vec<Vec<f64>> = (0..gpus).map(|src| (0..gpus).map(|dst| cell(src, dst)).collect()).collect();
        prop_assume!(matrix.iter().flatten().any(|bytes| *bytes > 0.0));
        let mut request = request(fabric(gpus, ports, 10f64.powi(log_delay), start), &matrix);
        let additive = CostSettings::additive(Routing::ConcurrentFlow, Propagation::Hops);
        request.settings = CostSettings { overlap, ..additive };
        let (found, seen) = told(&request, None);
        check_told(&found, &seen);
        prop_assert_eq!(found, plan(&request).unwrap());
    }
}

/// Among many GPUs the first plan is told long before the last.
#[test]
#[ignore = "large: make test-large"]
fn many_gpus_are_told_of_several_plans() {
    for start in [None, Some("ring")] {
        let request = request(fabric(48, 4, 1e-5, start), &zipf(48, 0));
        let (found, seen) = told(&request, None);
        check_told(&found, &seen);
        assert!(seen.len() > 2, "{}", seen.len());
        assert_eq!(found, plan(&request).unwrap());
    }
}

/// A budget below what the search takes leaves a plan, and one above it no worse one.
#[test]
#[ignore = "large: make test-large"]
fn a_budget_ends_the_search() {
    for start in [None, Some("ring")] {
        let mut request = request(fabric(48, 4, 1e-5, start), &zipf(48, 1));
        request.planner = Some("weave".into());
        let without = plan(&request).unwrap();
        for budget in [Duration::from_millis(1), Duration::from_secs(8)] {
            request.options.budget = Some(budget);
            let (found, seen) = told(&request, None);
            check_told(&found, &seen);
            if budget.as_secs() > 1 {
                assert!(found.total_s() <= without.total_s() * (1.0 + 1e-9));
            }
        }
    }
}

/// The circuits and paths of a plan serve its own matrix as well as it does, and a matrix like it about as well as its
/// own plan.
#[test]
#[ignore = "large: make test-large"]
fn a_plan_begins_with_the_circuits_and_paths_of_another() {
    for (delay_s, start) in [(1e-6, None), (1e-5, None), (1e-4, Some("ring"))] {
        let of = request(fabric(48, 4, delay_s, start), &zipf(48, 2));
        let known = plan(&of).unwrap();
        let (again, seen) = told(&of, Some(&known));
        check_told(&again, &seen);
        assert!(again.total_s() <= 1.001 * known.total_s(), "{} {}", again.total_s(), known.total_s());
        let like: Vec<Vec<f64>> = zipf(48, 2)
            .iter()
            .zip(zipf(48, 3))
            .map(|(row, other)| row.iter().zip(other).map(|(bytes, other)| 0.9 * bytes + 0.1 * other).collect())
            .collect();
        let like = request(of.fabric.clone(), &like);
        let (next, full) = (plan_as_found(&like, Some(&known), None).unwrap(), plan(&like).unwrap());
        assert_eq!(verify_plan(&next).first_failure(), None);
        assert!(next.total_s() <= 1.05 * full.total_s(), "{} {}", next.total_s(), full.total_s());
        assert!(next.topologies.len() <= known.topologies.len() + 1);
    }
}

/// Pairs that send nothing in the matrix of the plan get paths on its circuits.
#[test]
fn pairs_without_paths_get_some() {
    let mut sparse = zipf(12, 4);
    (0..12).for_each(|src| sparse[src][(src + 3) % 12] = 0.0);
    for delay_s in [1e-6, 1e-4] {
        let known = plan(&request(fabric(12, 2, delay_s, None), &sparse)).unwrap();
        let next = request(fabric(12, 2, delay_s, None), &zipf(12, 4));
        let found = plan_as_found(&next, Some(&known), None).unwrap();
        assert_eq!(verify_plan(&found).first_failure(), None);
    }
}

/// Circuits that do not join a pair which sends are of no use: the search begins as it does without them.
#[test]
fn circuits_that_do_not_join_all_pairs_are_left() {
    let mut sparse = vec![vec![0.0; 6]; 6];
    (0..6).for_each(|src| sparse[src][(src + 1) % 6 % 3] = if (src + 1) % 3 == src { 0.0 } else { 1e6 });
    let known = plan(&request(fabric(6, 1, 1e-5, None), &sparse)).unwrap();
    let full = request(fabric(6, 1, 1e-5, None), &zipf(6, 0));
    let found = plan_as_found(&full, Some(&known), None).unwrap();
    assert_eq!(verify_plan(&found).first_failure(), None);
}

#[test]
fn a_plan_that_does_not_fit_is_refused() {
    let unequal = |gpus, ports| request(fabric(gpus, ports, 1e-5, None), &zipf(gpus, 0));
    let known = plan(&unequal(8, 2)).unwrap();
    let refused = |request: &Request, plan: &Plan| plan_as_found(request, Some(plan), None).unwrap_err().to_string();
    for (gpus, ports) in [(9, 2), (8, 1)] {
        let why = refused(&unequal(gpus, ports), &known);
        assert!(why.contains("a plan of all-to-all for 8 GPUs with 2 ports"), "{why}");
        assert!(why.contains(&format!("for {gpus} GPUs with {ports} port")), "{why}");
    }
    let workload =
        Workload::Collective { collective: Collective::AllReduce, algorithm: None, options: Default::default() };
    let all_reduce = Request { workload, ..unequal(8, 2) };
    assert!(refused(&all_reduce, &known).contains("All-to-All of unequal blocks"));
    let sums = plan(&all_reduce).unwrap();
    assert!(refused(&unequal(8, 2), &sums).contains("a plan of all-reduce for 8 GPUs"));
    for name in ["bvn", "never-change", "exact"] {
        let named = Request { planner: Some(name.into()), ..unequal(8, 2) };
        assert!(refused(&named, &known).contains("planner auto or weave"));
    }
}
