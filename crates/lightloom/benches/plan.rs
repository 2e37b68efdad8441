//! Whole plans, from the request to the verified plan: how long a person waits.

use collectives::Options;
use lightloom::{Points, Request, Series, Size, Workload, plan};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

fn request(collective: Collective, algorithm: &str, dims: &[u32], ports: u32, delay_s: f64) -> Request {
    Request {
        fabric: Fabric {
            shape: Shape::new(dims.iter().product(), dims, ports).expect("a shape"),
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            barrier_s: 0.0,
            hop_delay_s: 500e-9,
            reconfiguration: ReconfigurationPolicy::constant(delay_s),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        },
        workload: Workload::Collective { collective, algorithm: Some(algorithm.into()), options: Options::default() },
        size: Size::Buffer(1 << 20),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: Some("harvest".into()),
        candidates: None,
        static_topologies: None,
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    }
}

fn main() {
    for delay_s in [1e-7, 1e-6, 1e-5, 1e-3] {
        let swing = request(Collective::AllReduce, "swing", &[4, 4, 4], 6, delay_s);
        let seconds = ratio::median_s(5, || plan(&swing).expect("a plan"));
        ratio::report_alone(&format!("Swing AllReduce, 4x4x4 torus, all candidates, α_r = {delay_s:e} s"), seconds);
    }
    for delay_s in [1e-7, 1e-5, 1e-3] {
        let swing = request(Collective::AllReduce, "swing", &[8, 8], 4, delay_s);
        let seconds = ratio::median_s(5, || plan(&swing).expect("a plan"));
        ratio::report_alone(&format!("Swing AllReduce, 8x8 torus, all candidates, α_r = {delay_s:e} s"), seconds);
    }
    for gpus in [64, 1024] {
        let direct = request(Collective::AllToAll, "direct", &[gpus], 1, 1e-6);
        let seconds = ratio::median_s(3, || plan(&direct).expect("a plan"));
        ratio::report_alone(&format!("direct All-to-All, {gpus} GPUs, all candidates"), seconds);
    }
    let swing = request(Collective::AllReduce, "swing", &[64], 1, 1e-6);
    let swept = |sizes: &[f64], delays_s: &[f64]| {
        let (rates, latencies_s) = (vec![8e11; sizes.len()], vec![500e-9; sizes.len()]);
        let points = Points {
            size_bytes: sizes,
            bandwidth_bps: &rates,
            startup_s: &latencies_s,
            hop_delay_s: &latencies_s,
            reconfiguration_delay_s: delays_s,
        };
        Series::new(&swing).and_then(|series| series.evaluate(points, false)).expect("plans")
    };
    let one_s = ratio::median_s(5, || swept(&[1e6], &[1e-6]));
    let sizes: Vec<f64> = (0..10_000).map(|i| f64::from(1 << (10 + i % 20))).collect();
    let delays_s: Vec<f64> = (0..10_000).map(|i| 1e-8 * 1.003_f64.powi(i)).collect();
    let all_s = ratio::median_s(3, || swept(&sizes, &delays_s));
    ratio::report("Swing AllReduce, 64 GPUs: one point", one_s, "a sweep of 10 000", all_s);
}
