//! From a request to a verified plan: what is left open is filled in with the best, and nothing is below its bound.
use collectives::Options;
use lightloom::{Request, Size, TopologyRef, Workload, baselines, compare, plan, plan_on, problem};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationDelay, ReconfigurationPolicy, Routing, Shape};
use proptest::prelude::*;

fn fabric(dims: &[u32], ports: u32, delay_s: f64) -> Fabric {
    Fabric {
        shape: Shape::new(dims.iter().product(), dims, ports).unwrap(),
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

fn request(fabric: Fabric, collective: Collective, size_bytes: u64) -> Request {
    Request {
        fabric,
        workload: Workload::Collective { collective, algorithm: None, options: Options::default() },
        size: Size::Buffer(size_bytes),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: None,
        candidates: None,
        static_topologies: None,
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    }
}

fn named(names: &[&str]) -> Option<Vec<TopologyRef>> {
    Some(names.iter().map(|name| TopologyRef::Named((*name).to_string())).collect())
}

fn requests() -> impl Strategy<Value = Request> {
    let shapes = prop::sample::select(vec![vec![2], vec![3], vec![7], vec![8], vec![2, 4], vec![3, 3], vec![2, 2, 2]]);
    (
        shapes,
        1u32..5,
        -8.0f64..-3.0,
        prop::sample::select(Collective::ALL.to_vec()),
        4u32..28,
        prop::sample::select(vec!["free", "ring", "shifted-ring:1,one-way"]),
        prop::sample::select(Routing::ALL.to_vec()),
        prop::bool::ANY,
    )
        .prop_map(|(dims, ports, log_delay, collective, log_size, initial, routing, per_port)| {
            let mut fabric = fabric(&dims, ports, 10f64.powf(log_delay));
            if per_port {
                let delay_s = 10f64.powf(log_delay);
                fabric.reconfiguration = ReconfigurationDelay::per_port(delay_s, delay_s / 16.0).into();
            }
            if initial != "free" {
                fabric.initial = Initial::Topology(topologies::build(initial, &fabric.shape).unwrap());
            }
            let mut request = request(fabric, collective, 1 << log_size);
            request.settings.routing = routing;
            request
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(40)))]

    #[test]
    fn the_open_plan_is_the_best_row_of_the_comparison_and_verified(request in requests()) {
        let best = plan(&request).unwrap();
        let all = compare(&request).unwrap();
        let times: Vec<f64> = all.rows.iter().filter_map(|row| row.outcome.as_ref().ok()).map(|o| o.total_s).collect();
        prop_assert!((best.total_s() - times[0]).abs() <= 1e-9 * times[0], "{} {}", best.total_s(), times[0]);
        prop_assert!(times.is_sorted());
        prop_assert!(all.lower_bound_s <= times[0] * (1.0 + 1e-12));
        prop_assert!(best.bound.seconds <= best.total_s() * (1.0 + 1e-12));
        let report = lightloom::verify_plan(&best);
        prop_assert!(report.passed(), "{:?}", report.first_failure());
        prop_assert_eq!(plan(&request).unwrap(), best);
    }

    #[test]
    fn planners_keep_their_order(request in requests()) {
        // HARVEST may use every static topology and every step's own circuits, so nothing that needs no
        // split is faster.
        let rows = baselines(&request, None).unwrap();
        let time = |name: &str| rows.iter().find(|row| row.planner == name).and_then(|row| row.outcome.as_ref().ok().map(|o| o.total_s));
        let harvest = time("harvest").unwrap();
        if let Some(fixed) = time("static") {
            prop_assert!(harvest <= fixed * (1.0 + 1e-9), "{harvest} {fixed}");
        }
        let schedule = problem(&Request { planner: None, ..request.clone() });
        if let (Ok(problem), Some(bvn)) = (schedule, time("bvn"))
            && problem.schedule().steps().iter().all(|step| step.traffic().degree() <= request.fabric.shape.ports())
        {
            prop_assert!(harvest <= bvn * (1.0 + 1e-9), "{harvest} {bvn}");
        }
    }
}

#[test]
fn a_named_topology_means_the_static_planner() {
    let mut request = request(fabric(&[8], 1, 1e-7), Collective::AllReduce, 1 << 20);
    request.static_topologies = named(&["ring", "shifted-ring:3"]);
    let plan = plan(&request).unwrap();
    assert_eq!((plan.planner.as_str(), plan.reconfigurations(), plan.topologies.len()), ("static", 0, 1));
    request.planner = Some("harvest".into());
    let error = lightloom::plan(&request).unwrap_err().to_string();
    assert!(error.starts_with("topology: ") && error.contains("candidates"), "{error}");
}

#[test]
fn candidates_restrict_every_planner_that_takes_them() {
    let mut request = request(fabric(&[8], 1, 1e-9), Collective::AllReduce, 1 << 20);
    request.candidates = named(&["ring"]);
    request.planner = Some("harvest".into());
    assert!(plan(&request).unwrap().steps.iter().all(|step| step.topology == 0));
    request.planner = Some("bvn".into());
    assert!(plan(&request).unwrap_err().to_string().starts_with("candidates: "));
    request.planner = None;
    request.candidates = named(&["shifted-ring"]);
    let error = plan(&request).unwrap_err().to_string();
    assert!(error.starts_with("candidates: "), "{error}");
}

#[test]
fn the_initial_topology_may_stay() {
    let mut request = request(fabric(&[8], 2, 1.0), Collective::ReduceScatter, 1 << 10);
    request.fabric.initial = Initial::Topology(topologies::build("ring", &request.fabric.shape).unwrap());
    let plan = plan(&request).unwrap();
    // A second for a change: nothing is worth it.
    assert_eq!((plan.reconfigurations(), plan.topologies[0].name()), (0, "ring"));
}

#[test]
fn pairs_are_for_all_to_all() {
    let mut request = request(fabric(&[8], 1, 1e-6), Collective::AllToAll, 1);
    request.size = Size::PerPair(1 << 10);
    assert_eq!(plan(&request).unwrap().size_bytes, 8 << 10);
    request.workload =
        Workload::Collective { collective: Collective::AllReduce, algorithm: None, options: Options::default() };
    assert!(plan(&request).unwrap_err().to_string().starts_with("size: "));
}

#[test]
fn a_thousand_gpus() {
    for (collective, algorithm) in [
        (Collective::AllToAll, "direct"),
        (Collective::AllReduce, "recursive-doubling"),
        (Collective::AllReduce, "ring"),
        (Collective::AllGather, "bruck"),
    ] {
        let mut request = request(fabric(&[1024], 1, 1e-6), collective, 1 << 20);
        request.workload =
            Workload::Collective { collective, algorithm: Some(algorithm.into()), options: Options::default() };
        let plan = plan(&request).unwrap();
        assert!(plan.total_s() >= plan.bound.seconds, "{algorithm}");
    }
}

#[test]
fn topologies_given_step_by_step_are_taken_as_they_are() {
    let gpus = 8;
    let mut asked = request(fabric(&[gpus], 1, 1e-6), Collective::ReduceScatter, 1 << 20);
    asked.workload = Workload::Collective {
        collective: Collective::ReduceScatter,
        algorithm: Some("recursive-doubling".into()),
        options: Options::default(),
    };
    let shape = Shape::new(gpus, &[gpus], 1).unwrap();
    let ring = |distance: u32| topologies::build(&format!("shifted-ring:{distance},one-way"), &shape).unwrap();
    // Steps send m/2, m/4, m/8 at distances 1, 2, 4; on the ring at distance 2 the last takes two hops of twice the
    // load.
    let part_s = |parts: f64| f64::from(1 << 20) * 8.0 / 8e11 / parts;
    let own = plan_on(&asked, &[ring(1), ring(2), ring(4)]).unwrap();
    let own_s = part_s(2.0) + part_s(4.0) + part_s(8.0) + 3.0 * (500e-9 + 500e-9) + 2.0 * 1e-6;
    assert!((own.total_s() - own_s).abs() < 1e-12 * own_s, "{} {own_s}", own.total_s());
    assert_eq!(own.reconfigurations(), 2);
    let kept = plan_on(&asked, &[ring(1), ring(2), ring(2)]).unwrap();
    let kept_s = part_s(2.0) + part_s(4.0) + 2.0 * part_s(8.0) + 3.0 * 500e-9 + 4.0 * 500e-9 + 1e-6;
    assert!((kept.total_s() - kept_s).abs() < 1e-12 * kept_s, "{} {kept_s}", kept.total_s());
    let refused = plan_on(&asked, &[ring(1), ring(2)]).unwrap_err().to_string();
    assert!(refused.contains("2 topologies is not accepted; it takes one for each of the 3 steps"), "{refused}");
    // The ring at distance 2 does not join even GPUs to odd ones.
    let refused = plan_on(&asked, &[ring(2), ring(2), ring(2)]).unwrap_err().to_string();
    assert!(refused.contains("some transfer of step 1 has no path on it"), "{refused}");
    asked.workload =
        Workload::Collective { collective: Collective::ReduceScatter, algorithm: None, options: Options::default() };
    assert!(plan_on(&asked, &[ring(1)]).unwrap_err().to_string().starts_with("algorithm: auto"));
}

#[test]
fn loosely_given_parts_must_agree() {
    let matrix = vec![vec![0.0, 4096.0, 0.0], vec![0.0, 0.0, 1024.0], vec![2048.0, 0.0, 0.0]];
    let select = |collective, algorithm: Option<&str>, matrix, size| {
        Workload::select(collective, algorithm.map(Into::into), Options::default(), None, matrix, size)
    };
    let (workload, size) = select(None, None, Some(matrix.clone()), None).unwrap();
    assert!(matches!(workload, Workload::Matrix(_)));
    // The largest row or column sum.
    assert_eq!(size, Some(Size::Buffer(4096)));
    let scaled = select(Some(Collective::AllToAll), Some("auto"), Some(matrix.clone()), Some(Size::Buffer(8192)));
    assert_eq!(scaled.unwrap().1, Some(Size::Buffer(8192)));
    let other = select(Some(Collective::AllReduce), None, Some(matrix.clone()), None).unwrap_err();
    assert!(other.to_string().starts_with("collective: all-reduce"), "{other}");
    let other = select(None, Some("bruck"), Some(matrix), None).unwrap_err();
    assert!(other.to_string().starts_with("algorithm: bruck"), "{other}");
    assert!(select(None, None, None, None).unwrap_err().to_string().starts_with("collective: "));
}

#[test]
fn flows_of_one_request_are_known_to_the_next() {
    for (collective, ports) in [(Collective::AllToAll, 2), (Collective::AllToAll, 3)] {
        let first = request(fabric(&[8], ports, 1e-5), collective, 1 << 24);
        let found = plan(&first).unwrap();
        let solved = first.cache.fronts.count();
        assert!(solved > 0);
        assert_eq!(plan(&first).unwrap(), found);
        assert_eq!(first.cache.fronts.count(), solved);
        // What others have solved changes no plan.
        for (delay_s, initial) in [(1e-6, "free"), (1e-5, "ring"), (1e-2, "ring:one-way")] {
            let mut other = Request { fabric: fabric(&[8], ports, delay_s), ..first.clone() };
            if initial != "free" {
                other.fabric.initial = Initial::Topology(topologies::build(initial, &other.fabric.shape).unwrap());
            }
            let alone = Request { cache: std::sync::Arc::default(), ..other.clone() };
            assert_eq!(plan(&other).unwrap(), plan(&alone).unwrap());
        }
    }
}
