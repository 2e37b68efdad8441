//! The work and memory of planning do not grow with the GPUs where they are alike: counted, since times depend on
//! machines.
use std::sync::Arc;

use collectives::Options;
use lightloom::{Request, Size, Workload, baselines, compare, plan, problem};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape, Topology};

fn request(gpus: u32, ports: u32, collective: Collective, algorithm: Option<&str>) -> Request {
    let fabric = Fabric {
        shape: Shape::new(gpus, &[], ports).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(1e-5),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    let algorithm = algorithm.map(Into::into);
    Request {
        fabric,
        workload: Workload::Collective { collective, algorithm, options: Options::default() },
        size: Size::Buffer(64 << 20),
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

#[test]
fn candidates_and_their_distances_are_as_many_for_65536_gpus_as_for_8192() {
    for ports in [1, 2, 4, 6] {
        for algorithm in ["recursive-doubling", "bruck", "swing"] {
            let held = |gpus: u32| {
                let request = request(gpus, ports, Collective::AllGather, Some(algorithm));
                let table = problem(&request).unwrap().table;
                let patterns = table.patterns().len();
                (0..patterns).for_each(|pattern| assert_eq!(table.estimates(pattern).hops.len(), table.candidates()));
                let arrays: usize = (0..table.candidates()).map(|at| table.network(at).distance_arrays()).sum();
                (table.candidates(), arrays, patterns)
            };
            let ((few, few_arrays, few_patterns), (many, many_arrays, many_patterns)) = (held(1 << 13), held(1 << 16));
            // A step and what it leads to more for each power of two.
            assert!(few_patterns == 13 && many_patterns == 16, "{few_patterns} and {many_patterns} patterns");
            assert!(many <= 512 + 64 && 2 * few >= many, "{algorithm}, {ports} ports: {few} and {many} candidates");
            assert!(
                many_arrays <= many_patterns && few_arrays <= few_patterns,
                "{few_arrays} and {many_arrays} arrays"
            );
        }
    }
}

#[test]
#[ignore = "large: make test-large"]
fn a_plan_holds_one_of_each_orbit() {
    for collective in [Collective::AllGather, Collective::ReduceScatter] {
        let plan = plan(&request(1 << 14, 2, collective, None)).unwrap();
        let transfers: usize = plan.steps.iter().map(|step| step.step.transfers().len()).sum();
        let paths: usize = plan.steps.iter().flat_map(|step| &step.routes.arcs).map(|arc| arc.paths.len()).sum();
        // At most 64 GPUs look different; each sends to at most 2 + 4 + 8 others in a step of three hops.
        let orbits = |topology: &Topology| topology.symmetry().orbits() as usize;
        assert!(plan.topologies.iter().all(|one| orbits(one) <= 64 && one.links().len() <= 2 * orbits(one)));
        assert!(transfers <= 64 * 14 * plan.steps.len() && paths <= 2 * transfers, "{transfers} {paths}");
        assert!(plan.total_s() <= 2.0 * plan.bound.seconds, "{} s, at least {} s", plan.total_s(), plan.bound.seconds);
    }
}

/// No default candidate is as regular as the steps of a tree: planners that choose from candidates serve nothing then.
#[test]
#[ignore = "large: make test-large"]
fn a_broadcast_is_compared_with_the_planners_that_serve_it() {
    let request = request(1 << 13, 2, Collective::Broadcast, None);
    let rows = baselines(&request, None).unwrap();
    let least_s = plan(&request).unwrap().total_s();
    assert!(rows.iter().any(|row| row.planner == "weave") && rows.iter().all(|row| row.outcome.is_ok()));
    assert!(rows.iter().all(|row| row.outcome.as_ref().is_ok_and(|found| found.total_s >= least_s * (1.0 - 1e-9))));
}

#[test]
fn a_start_on_which_most_gpus_look_different_is_left_out_where_nothing_names_it() {
    let mut request = request(8192, 2, Collective::AllGather, Some("bruck"));
    request.fabric.initial = Initial::Topology(topologies::build("de-bruijn", &request.fabric.shape).unwrap());
    let open = problem(&request).unwrap();
    let (table, start) = (&open.table, open.start.unwrap());
    assert!(table.refusal(start).is_some() && table.estimates(0).hops[start].is_infinite());
    assert_eq!(table.network(start).distance_arrays(), 0);
    request.candidates = Some(vec![lightloom::TopologyRef::Named("de-bruijn".into())]);
    let named = problem(&request).unwrap();
    assert!(named.table.refusal(named.start.unwrap()).is_none());
}

/// On a torus of 768 GPUs an exchange between all has too many paths to be written out: the best of what else serves it
/// is planned, and a comparison says the same.
#[test]
#[ignore = "large: make test-large"]
fn where_a_composition_is_too_large_as_a_plan_another_plan_is_taken() {
    let mut request = request(768, 4, Collective::AllToAll, None);
    request.fabric.initial = Initial::Topology(topologies::build("torus:32x24", &request.fabric.shape).unwrap());
    request.fabric.reconfiguration = ReconfigurationPolicy::constant(1e-3);
    let total_s = plan(&request).unwrap().total_s();
    let compared = compare(&request).unwrap();
    assert_eq!(compared.rows[0].outcome.as_ref().unwrap().total_s, total_s);
    for planner in ["direct-connect-circulant", "pccl", "bvn", "weave"] {
        let named = Request { planner: Some(planner.into()), ..request.clone() };
        assert!(total_s <= plan(&named).unwrap().total_s(), "{planner}");
    }
}

/// A torus whose sides share a factor is no circulant: written by a cycle's symmetry, a step of all pairs on it has as
/// many routes as 22 GPUs send, by the torus's own those of one.
#[test]
#[ignore = "large: make test-large"]
fn all_pairs_on_a_torus_are_routed_from_one_gpu_and_no_planner_is_faster() {
    let mut request = request(24 * 22, 4, Collective::AllReduce, None);
    request.fabric.shape = Shape::new(24 * 22, &[24, 22], 4).unwrap();
    request.fabric.reconfiguration = ReconfigurationPolicy::constant(1e-3);
    request.fabric.initial = Initial::Topology(topologies::build("torus", &request.fabric.shape).unwrap());
    request.size = Size::Buffer(4 << 10);
    let best = plan(&request).unwrap();
    let report = lightloom::verify_plan(&best);
    assert!(report.passed(), "{:?}", report.first_failure());
    // Two steps of 23 hops, half a microsecond each, and starts.
    assert!(best.total_s() <= 25e-6, "{} s", best.total_s());
    assert!(best.steps.iter().all(|step| step.routes.arcs.len() < 24 * 22), "routes of more than one GPU");
    for row in baselines(&request, None).unwrap() {
        let of_other = row.outcome.map_or(f64::INFINITY, |outcome| outcome.total_s);
        assert!(best.total_s() <= of_other * (1.0 + 1e-9), "{}: {of_other} s", row.planner);
    }
}
