//! Whole plans, from the request to the verified plan: how long a person waits.

use collectives::Options;
use lightloom::{Request, Size, Workload, plan, problem};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

fn request(collective: Collective, algorithm: &str, dims: &[u32], ports: u32, delay_s: f64) -> Request {
    Request {
        fabric: Fabric {
            shape: Shape::new(dims.iter().product(), dims, ports).expect("a shape"),
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            hop_delay_s: 500e-9,
            reconfiguration: ReconfigurationPolicy::constant(delay_s),
            initial: Initial::Free,
        },
        workload: Workload::Collective { collective, algorithm: Some(algorithm.into()), options: Options::default() },
        size: Size::Buffer(1 << 20),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: Some("harvest".into()),
        candidates: None,
        static_topologies: None,
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
    let one_s =
        ratio::median_s(5, || problem(&swing).and_then(|p| planners::sweep(&p, &[(1e6, 1e-6)])).expect("a plan"));
    let points: Vec<(f64, f64)> =
        (0..10_000).map(|i| (f64::from(1 << (10 + i % 20)), 1e-8 * 1.003_f64.powi(i))).collect();
    let all_s = ratio::median_s(3, || problem(&swing).and_then(|p| planners::sweep(&p, &points)).expect("plans"));
    ratio::report("Swing AllReduce, 64 GPUs: one point", one_s, "a sweep of 10 000", all_s);
}
