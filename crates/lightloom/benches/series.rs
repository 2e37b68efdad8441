//! Many points of one request: the envelope of the plans that are best somewhere, against a search at every point.

use collectives::Options;
use lightloom::{Points, Request, Series, Size, Workload, problem};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};
use planners::{OperatingPoint, find};
use rayon::prelude::*;

/// Points along each axis.
const ALONG: usize = 1000;

/// One of this many points is searched by itself; all would take minutes.
const SAMPLED: usize = 97;

fn request(planner: &str, collective: Collective, algorithm: &str, dims: &[u32], ports: u32) -> Request {
    Request {
        fabric: Fabric {
            shape: Shape::new(dims.iter().product(), dims, ports).expect("a shape"),
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            barrier_s: 0.0,
            hop_delay_s: 500e-9,
            reconfiguration: ReconfigurationPolicy::constant(1e-5),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        },
        workload: Workload::Collective { collective, algorithm: Some(algorithm.into()), options: Options::default() },
        size: Size::Buffer(1 << 20),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: Some(planner.into()),
        candidates: None,
        static_topologies: None,
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    }
}

/// The values along an axis, one for each point, evenly spaced by their logarithms.
fn spaced(least: f64, most: f64) -> Vec<f64> {
    (0..ALONG).map(|i| least * (most / least).powf(i as f64 / (ALONG - 1) as f64)).collect()
}

/// A million points of 1 KiB to 1 GiB and 10 ns to 10 ms.
fn sizes_and_delays(what: &str, request: &Request) {
    let own = OperatingPoint::of(&request.fabric, 1 << 20);
    let delays = spaced(1e-8, 1e-2);
    let of_size = |size: f64| {
        let size_bytes = size.round() as u64;
        delays.iter().map(move |&reconfiguration_delay_s| OperatingPoint { size_bytes, reconfiguration_delay_s, ..own })
    };
    let points: Vec<OperatingPoint> = spaced(1024.0, 1_073_741_824.0).into_iter().flat_map(of_size).collect();
    against_a_search_at_each(what, request, &points);
}

/// A million points all over the five numbers, on no grid (Kronecker's sequence).
fn scattered(what: &str, request: &Request) {
    let one = |index: usize| {
        let fraction = |step: f64| (index as f64 * step).fract();
        let from_to = |step: f64, least: f64, most: f64| least * (most / least).powf(fraction(step));
        OperatingPoint {
            size_bytes: from_to(0.618_033_988, 1024.0, 1_073_741_824.0) as u64,
            bandwidth_bps: from_to(0.754_877_666, 1e11, 1e13),
            startup_s: from_to(0.819_172_513, 1e-8, 1e-5),
            hop_delay_s: from_to(0.856_674_883, 1e-8, 1e-5),
            reconfiguration_delay_s: from_to(0.414_213_562, 1e-8, 1e-2),
        }
    };
    let points: Vec<OperatingPoint> = (0..ALONG * ALONG).map(one).collect();
    against_a_search_at_each(what, request, &points);
}

fn against_a_search_at_each(what: &str, request: &Request, points: &[OperatingPoint]) {
    let series = Series::new(request).expect("a request that can be served");
    let values = |of: fn(&OperatingPoint) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    let arrays = Points {
        size_bytes: &values(|at| at.size_bytes as f64),
        bandwidth_bps: &values(|at| at.bandwidth_bps),
        startup_s: &values(|at| at.startup_s),
        hop_delay_s: &values(|at| at.hop_delay_s),
        reconfiguration_delay_s: &values(|at| at.reconfiguration_delay_s),
    };
    let ours_s = ratio::median_s(1, || series.evaluate(arrays, false).expect("times")) / points.len() as f64;
    let problem = problem(request).expect("one schedule");
    let planner = find(request.planner.as_deref().expect("a name")).expect("registered");
    let sampled: Vec<&OperatingPoint> = points.iter().step_by(SAMPLED).collect();
    let search = |at: &&OperatingPoint| planner.choose(&problem.at(at)).expect("a choice").total_s;
    let theirs_s = ratio::median_s(1, || sampled.par_iter().map(search).collect::<Vec<f64>>()) / sampled.len() as f64;
    ratio::report(&format!("{what}, a point of a million"), ours_s, "a search at each", theirs_s);
}

fn main() {
    let swing = request("harvest", Collective::AllReduce, "swing", &[4, 4, 4], 6);
    sizes_and_delays("Swing AllReduce, 4x4x4 torus, all candidates", &swing);
    let swing = request("harvest", Collective::AllReduce, "swing", &[8, 8], 4);
    sizes_and_delays("Swing AllReduce, 8x8 torus, all candidates", &swing);
    scattered("the same, five numbers", &swing);
    let swing = request("harvest", Collective::AllReduce, "swing", &[64], 1);
    sizes_and_delays("Swing AllReduce, 64 GPUs, one port", &swing);
    let swing = request("static", Collective::AllReduce, "swing", &[4, 4, 4], 6);
    sizes_and_delays("static, Swing AllReduce, 4x4x4 torus", &swing);
    let doubling = request("harvest", Collective::AllReduce, "recursive-doubling", &[64], 1);
    sizes_and_delays("recursive doubling AllReduce, 64 GPUs, one port", &doubling);
    let doubling = request("pccl", Collective::AllReduce, "recursive-doubling", &[64], 1);
    sizes_and_delays("pccl, recursive doubling AllReduce, 64 GPUs", &doubling);
}
