//! Plans repaired after single faults: [`repair`] returns only what `verify` accepts, which knows nothing of repairs.

use std::sync::Arc;
use std::time::Instant;

use collectives::Options;
use lightloom::{Request, Size, Workload, plan, repair};
use model::{Collective, CostSettings, Fabric, Fault, Faults, Initial, Plan, ReconfigurationPolicy, Shape};
use planners::Cache;

fn request(gpus: u32, ports: u32, collective: Collective, size_bytes: u64, cache: &Arc<Cache>) -> Request {
    Request {
        fabric: Fabric {
            shape: Shape::new(gpus, &[], ports).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 5e-7,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationPolicy::constant(1e-5),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        },
        workload: Workload::Collective { collective, algorithm: None, options: Options::default() },
        size: Size::Buffer(size_bytes),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: None,
        candidates: None,
        static_topologies: None,
        options: planners::PlannerOptions::default(),
        seed: 0,
        cache: cache.clone(),
    }
}

/// Every single fault of a fabric, but the root's own.
fn every_fault(gpus: u32, ports: u32) -> Vec<Fault> {
    let mut all: Vec<Fault> = (0..ports).map(Fault::Switch).collect();
    for gpu in 0..gpus {
        all.push(Fault::Gpu(gpu));
        all.extend((0..ports).map(|port| Fault::Transmitter { gpu, port }));
        all.extend((0..ports).map(|port| Fault::Receiver { gpu, port }));
        all.extend((gpu + 1..gpus).map(|other| Fault::Link(gpu, other)));
        all.extend((0..gpus).filter(|&other| other != gpu).map(|other| Fault::OneWay(gpu, other)));
    }
    all
}

#[test]
#[ignore = "a table"]
fn table() {
    let cache = Arc::new(Cache::default());
    let size: u64 = std::env::var("SIZE").map_or(4 << 20, |size| size.parse().unwrap());
    let stride: usize = std::env::var("STRIDE").map_or(7, |size| size.parse().unwrap());
    let mut all = Vec::new();
    for ports in 1..=4 {
        for &collective in Collective::ALL {
            let before: Plan = plan(&request(16, ports, collective, size, &cache)).unwrap();
            let (mut ratios, mut seconds, mut kept, mut count, mut anew) = (Vec::new(), Vec::new(), 0, 0, 0);
            let mut worst = (0.0, Fault::Gpu(0));
            for fault in every_fault(16, ports).into_iter().step_by(stride) {
                let faults: Faults = [fault].into_iter().collect();
                let began = Instant::now();
                let Ok(found) = repair(&before, &faults) else { continue };
                let took = began.elapsed().as_secs_f64();
                seconds.push(took);
                anew += usize::from(found.is_anew);
                let fresh = plan(&found.request).unwrap();
                let ratio = found.plan.total_s() / fresh.total_s();
                if ratio > worst.0 { worst = (ratio, fault); }
                ratios.push(ratio);
                kept += found.circuits.kept;
                count += found.circuits.kept + found.circuits.new;
            }
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            seconds.sort_by(f64::total_cmp);
            println!(
                "{ports} {:<15} {:>4} faults, over fresh mean {mean:.3} worst {:.2} ({}), anew {anew}, kept {:.3}, ms median {:.1} worst {:.1}",
                collective.name(), ratios.len(), worst.0, worst.1, kept as f64 / count as f64,
                1e3 * seconds[seconds.len() / 2], 1e3 * seconds[seconds.len() - 1],
            );
            all.extend(ratios);
        }
    }
    println!("mean {:.3}", all.iter().sum::<f64>() / all.len() as f64);
}
