//! Many points of one request: each is what `plan` finds there, however they are asked for.
use collectives::Options;
use lightloom::{Evaluation, Points, Request, Series, Size, Workload, plan};
use model::{
    Collective, CostSettings, Fabric, Initial, Propagation, ReconfigurationDelay, ReconfigurationOverlap,
    ReconfigurationPolicy, Routing, Shape,
};
use planners::{OperatingPoint, REGISTRY};
use proptest::prelude::*;
use rayon::prelude::*;

fn fabric(dims: &[u32], ports: u32) -> Fabric {
    Fabric {
        shape: Shape::new(dims.iter().product(), dims, ports).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(1e-6),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    }
}

fn request(fabric: Fabric, collective: Collective, algorithm: Option<&str>, planner: Option<&str>) -> Request {
    let algorithm = algorithm.map(Into::into);
    Request {
        fabric,
        workload: Workload::Collective { collective, algorithm, options: Options::default() },
        size: Size::Buffer(1 << 20),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: planner.map(Into::into),
        candidates: None,
        static_topologies: None,
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    }
}

fn evaluated(series: &Series, all: &[OperatingPoint], bound: bool) -> Evaluation {
    let values = |of: fn(&OperatingPoint) -> f64| all.iter().map(of).collect::<Vec<f64>>();
    let points = Points {
        size_bytes: &values(|at| at.size_bytes as f64),
        bandwidth_bps: &values(|at| at.bandwidth_bps),
        startup_s: &values(|at| at.startup_s),
        hop_delay_s: &values(|at| at.hop_delay_s),
        reconfiguration_delay_s: &values(|at| at.reconfiguration_delay_s),
    };
    series.evaluate(points, bound).unwrap()
}

fn at(request: &Request, numbers: &OperatingPoint) -> Request {
    let fabric = numbers.on(&request.fabric);
    Request { fabric, size: Size::Buffer(numbers.size_bytes), ..request.clone() }
}

/// Values that fill the unit interval evenly (Kronecker's sequence), another one for each `stream`.
fn spread(index: usize, stream: usize) -> f64 {
    let steps =
        [0.618_033_988_749_895, 0.754_877_666_246_693, 0.819_172_513_396_164, 0.856_674_883_854_503, 0.879_991_4];
    ((index + 1) as f64 * steps[stream]).fract()
}

/// From `least` to `most`, evenly by the logarithm.
fn logarithmic(fraction: f64, least: f64, most: f64) -> f64 {
    least * (most / least).powf(fraction)
}

/// Points all over the five numbers.
fn scattered(points: usize) -> Vec<OperatingPoint> {
    let one = |index: usize| OperatingPoint {
        size_bytes: logarithmic(spread(index, 0), 64.0, 1e10) as u64,
        bandwidth_bps: logarithmic(spread(index, 1), 1e10, 1e13),
        startup_s: logarithmic(spread(index, 2), 1e-8, 1e-5),
        hop_delay_s: logarithmic(spread(index, 3), 1e-8, 1e-5),
        reconfiguration_delay_s: logarithmic(spread(index, 4), 1e-9, 1e-2),
    };
    (0..points).map(one).collect()
}

/// Sizes against delays, the delay of zero among them; the rest is the fabric's.
fn grid(of: &Fabric, along: usize) -> Vec<OperatingPoint> {
    let own = OperatingPoint::of(of, 1);
    let fraction = |index: usize| index as f64 / (along - 1) as f64;
    let sizes = (0..along).map(move |index| logarithmic(fraction(index), 1.0, 1e9).round() as u64);
    let delays = move |index: usize| if index == 0 { 0.0 } else { logarithmic(fraction(index), 1e-9, 1e-2) };
    let points = sizes.flat_map(move |size_bytes| {
        (0..along).map(move |index| OperatingPoint { size_bytes, reconfiguration_delay_s: delays(index), ..own })
    });
    points.collect()
}

/// Problems of planners that share searches between points: a name for messages, and the request.
fn shared() -> Vec<(&'static str, Request)> {
    let ring = |mut fabric: Fabric| {
        fabric.initial = Initial::Topology(topologies::build("ring", &fabric.shape).unwrap());
        fabric
    };
    let per_port = |mut fabric: Fabric| {
        fabric.reconfiguration = ReconfigurationDelay::per_port(1e-6, 3e-8).into();
        fabric
    };
    let inverse = |mut request: Request| {
        request.settings.propagation = Propagation::InverseThroughput;
        request
    };
    let (all_reduce, all_to_all) = (Collective::AllReduce, Collective::AllToAll);
    let doubling = Some("recursive-doubling");
    vec![
        ("one port", request(fabric(&[16], 1), all_reduce, Some("swing"), Some("harvest"))),
        ("closed form", request(fabric(&[16], 1), all_reduce, doubling, Some("harvest"))),
        ("ports", request(fabric(&[2, 8], 3), all_reduce, Some("swing"), Some("harvest"))),
        ("start", request(ring(fabric(&[16], 2)), all_reduce, Some("swing"), Some("harvest"))),
        ("per port", request(per_port(ring(fabric(&[8], 2))), all_reduce, Some("swing"), Some("harvest"))),
        ("inverse", inverse(request(fabric(&[16], 2), all_reduce, Some("swing"), Some("harvest")))),
        ("algorithms", request(fabric(&[8], 2), all_reduce, None, Some("harvest"))),
        ("static", request(fabric(&[4, 4], 4), all_reduce, Some("swing"), Some("static"))),
        ("static per port", request(per_port(ring(fabric(&[12], 2))), all_to_all, Some("direct"), Some("static"))),
        ("bvn", request(fabric(&[16], 2), all_reduce, Some("swing"), Some("bvn"))),
        ("short-circuit", request(ring(fabric(&[16], 1)), all_reduce, doubling, Some("short-circuit"))),
        ("bridge", request(ring(fabric(&[16], 1)), all_to_all, Some("bruck"), Some("bridge"))),
        ("pccl", request(per_port(ring(fabric(&[8], 1))), all_reduce, doubling, Some("pccl"))),
        ("reconfigure", request(fabric(&[9], 2), all_to_all, Some("direct"), Some("reconfigure-all-to-all"))),
        ("exact", request(fabric(&[6], 1), all_to_all, Some("direct"), Some("exact"))),
        ("matrix, fast", matrix("fast")),
        ("matrix, topo-opt", matrix("topo-opt")),
        ("matrix, direct-connect", matrix("direct-connect-circulant")),
    ]
}

/// An All-to-All of blocks of 0 to 4 KiB.
fn matrix(planner: &str) -> Request {
    let bytes = |src: u32, dst: u32| if src == dst { 0.0 } else { f64::from((3 * src + 5 * dst) % 5) * 1024.0 };
    let matrix = (0..6).map(|src| (0..6).map(|dst| bytes(src, dst)).collect()).collect();
    let (workload, size) = Workload::select(None, None, Options::default(), None, Some(matrix), None).unwrap();
    let of = request(fabric(&[6], 2), Collective::AllToAll, None, Some(planner));
    Request { workload, size: size.unwrap(), ..of }
}

fn assert_equal(what: &str, request: &Request, points: &[OperatingPoint]) {
    let series = Series::new(request).unwrap();
    let found = evaluated(&series, points, false);
    let planned = |numbers: &OperatingPoint| plan(&at(request, numbers)).unwrap();
    let plans: Vec<model::Plan> = points.par_iter().map(planned).collect();
    for (index, plan) in plans.iter().enumerate() {
        let numbers = &points[index];
        assert_eq!(found.total_s[index], plan.total_s(), "{what}: {numbers:?}");
        assert_eq!(found.reconfigurations[index] as usize, plan.reconfigurations(), "{what}: {numbers:?}");
        let (planner, algorithm) = &series.names()[found.choice[index] as usize];
        assert_eq!((planner, algorithm), (&plan.planner, &plan.algorithm), "{what}: {numbers:?}");
    }
    // Of plans of equal time another may be taken where a search is shared, so a point is asked for by itself.
    for index in [0, points.len() / 2, points.len() - 1] {
        let series = Series::new(&at(request, &points[index])).unwrap();
        let found = evaluated(&series, &points[index..=index], false);
        assert_eq!(series.topologies()[found.topologies[0] as usize], named(&plans[index]), "{what}: {index}");
    }
}

/// The first topologies of a plan, in the order of its steps.
fn named(plan: &model::Plan) -> String {
    let mut names: Vec<&str> = plan.steps.iter().map(|step| plan.topologies[step.topology].name()).collect();
    names.dedup();
    let more = if names.len() > 4 { " → …" } else { "" };
    names[..names.len().min(4)].join(" → ") + more
}

#[test]
#[ignore = "large: make test-large"]
fn points_that_share_searches_are_what_each_is_by_itself() {
    for (what, request) in shared() {
        let slow = matches!(what, "reconfigure" | "exact" | "algorithms") || what.starts_with("matrix");
        let (along, points) = if slow { (9, 200) } else { (13, 600) };
        assert_equal(what, &request, &grid(&request.fabric, along));
        assert_equal(what, &request, &scattered(draws::cases(points) as usize));
    }
}

#[test]
#[ignore = "large: make test-large"]
fn neither_threads_nor_company_show() {
    for (what, request) in shared().into_iter().filter(|(what, _)| matches!(*what, "one port" | "start" | "static")) {
        let series = Series::new(&request).unwrap();
        for points in [scattered(2000), grid(&request.fabric, 41)] {
            let all = evaluated(&series, &points, false);
            let threads = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(threads(1).install(|| evaluated(&series, &points, false)), all, "{what}");
            assert_eq!(threads(3).install(|| evaluated(&series, &points, false)), all, "{what}");
            for few in [7, 130] {
                let parts: Vec<f64> =
                    points.chunks(few).flat_map(|part| evaluated(&series, part, false).total_s).collect();
                assert_eq!(parts, all.total_s, "{what}");
            }
        }
    }
}

#[test]
fn a_point_that_nothing_serves_has_no_time() {
    let mut request = request(fabric(&[8], 1), Collective::AllToAll, None, Some("reconfigure-all-to-all"));
    request.options.chunk_bytes = Some(64);
    let series = Series::new(&request).unwrap();
    let own = OperatingPoint::of(&request.fabric, 1 << 20);
    let found = evaluated(&series, &[OperatingPoint { size_bytes: 1 << 40, ..own }, own], true);
    assert!(found.total_s[0].is_nan() && found.lower_bound_s.as_ref().unwrap()[0].is_nan());
    assert_eq!(found.choice, [Evaluation::NOTHING, 0]);
    let expected_s = plan(&request).unwrap().total_s();
    assert!((found.total_s[1] - expected_s).abs() <= 1e-12 * expected_s);
    assert_eq!(series.names(), [("reconfigure-all-to-all".to_string(), "reconfigure-all-to-all".to_string())]);
}

#[test]
fn wrong_numbers_are_named() {
    let series = Series::new(&request(fabric(&[4], 1), Collective::AllReduce, None, Some("harvest"))).unwrap();
    let refused = |field: &str, value: f64| {
        let [mut size, mut rate, mut startup, mut hop, mut delay] = [[1024.0], [1e9], [0.0], [0.0], [0.0]];
        match field {
            "size" => size[0] = value,
            "bandwidth" => rate[0] = value,
            "startup" => startup[0] = value,
            "hop_delay" => hop[0] = value,
            _ => delay[0] = value,
        }
        let points = Points {
            size_bytes: &size,
            bandwidth_bps: &rate,
            startup_s: &startup,
            hop_delay_s: &hop,
            reconfiguration_delay_s: &delay,
        };
        let error = series.evaluate(points, false).unwrap_err();
        assert_eq!(error.field(), field);
    };
    for (field, value) in [
        ("size", 0.5),
        ("size", f64::NAN),
        ("bandwidth", 0.0),
        ("startup", -1.0),
        ("hop_delay", f64::INFINITY),
        ("reconfiguration_delay", f64::NAN),
    ] {
        refused(field, value);
    }
    let one = [1024.0];
    let points = Points {
        size_bytes: &one,
        bandwidth_bps: &[],
        startup_s: &one,
        hop_delay_s: &one,
        reconfiguration_delay_s: &one,
    };
    assert_eq!(series.evaluate(points, false).unwrap_err().field(), "bandwidth");
    let empty =
        Points { size_bytes: &[], bandwidth_bps: &[], startup_s: &[], hop_delay_s: &[], reconfiguration_delay_s: &[] };
    assert_eq!(series.evaluate(empty, true).unwrap().total_s, [0.0; 0]);
}

fn requests() -> impl Strategy<Value = Request> {
    let shapes = prop::sample::select(vec![vec![3], vec![4], vec![6], vec![8], vec![2, 4]]);
    let planners: Vec<&'static str> = REGISTRY.iter().map(|planner| planner.name()).collect();
    (
        shapes,
        1u32..4,
        prop::sample::select(Collective::ALL.to_vec()),
        prop::sample::select(planners),
        prop::bool::ANY,
        prop::sample::select(Routing::ALL.to_vec()),
        prop::bool::ANY,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(dims, ports, collective, planner, starts, routing, per_port, hides)| {
            let mut fabric = fabric(&dims, ports);
            let delay = ReconfigurationDelay::per_port(1e-6, if per_port { 2e-8 } else { 0.0 });
            let overlap = ReconfigurationOverlap { background: hides, ..ReconfigurationOverlap::default() };
            fabric.reconfiguration = ReconfigurationPolicy::new(delay, overlap);
            if starts {
                fabric.initial = Initial::Topology(topologies::build("ring", &fabric.shape).unwrap());
            }
            let mut request = request(fabric, collective, None, Some(planner));
            request.settings.routing = routing;
            request
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(150)))]

    #[test]
    fn every_planner_finds_what_a_plan_of_each_point_has(request in requests(), skipped in 0usize..1000) {
        let points: Vec<OperatingPoint> = scattered(skipped + 24).split_off(skipped);
        let series = match (Series::new(&request), plan(&request)) {
            (Ok(series), Ok(_)) => series,
            (Err(error), Err(expected)) => {
                prop_assert_eq!(error, expected);
                return Ok(());
            }
            (series, plan) => return Err(TestCaseError::fail(format!("{:?} {:?}", series.err(), plan.err()))),
        };
        prop_assert_eq!(series.gpus(), request.fabric.shape.gpus());
        let found = evaluated(&series, &points, true);
        for (index, numbers) in points.iter().enumerate().step_by(5) {
            let plan = plan(&at(&request, numbers)).unwrap();
            prop_assert_eq!(found.total_s[index], plan.total_s(), "{:?}", numbers);
            prop_assert_eq!(found.reconfigurations[index] as usize, plan.reconfigurations());
            let bound_s = found.lower_bound_s.as_ref().unwrap()[index];
            prop_assert!((bound_s - plan.bound.seconds).abs() <= 1e-12 * bound_s, "{bound_s} {}", plan.bound.seconds);
            let (planner, algorithm) = &series.names()[found.choice[index] as usize];
            prop_assert_eq!((planner, algorithm), (&plan.planner, &plan.algorithm));
        }
    }
}
