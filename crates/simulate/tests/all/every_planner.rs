//! The plans of all planners and algorithms can be simulated, and carry what they say.
use crate::plans::fabric;

use collectives::Options;
use fabric::fabric;
use lightloom::{Request, Size, Workload, plan};
use lightloom_simulate::{Injection, Level, ReconfigurationScope, Settings, Synchronisation, simulate};
use model::{Collective, CostSettings, Initial};

#[test]
#[ignore = "large: make test-large"]
fn plans_of_all_planners_are_simulated() {
    let (mut plans, base) = (0, Settings { payload_bytes: 1024, ..Settings::default() });
    for (dims, ports) in [(vec![8], 1), (vec![6], 3), (vec![4, 4], 4)] {
        let mut fabric = fabric(&dims, ports);
        fabric.initial = Initial::Topology(topologies::build("ring", &fabric.shape).unwrap());
        for planner in planners::REGISTRY {
            for (collective, algorithm) in
                Collective::ALL.iter().flat_map(|c| collectives::REGISTRY.iter().map(move |a| (*c, a.name())))
            {
                let request = Request {
                    fabric: fabric.clone(),
                    workload: Workload::Collective {
                        collective,
                        algorithm: Some(algorithm.into()),
                        options: Options::default(),
                    },
                    size: Size::Buffer(96 << 10),
                    settings: CostSettings::default(),
                    routing_is_given: false,
                    planner: Some(planner.name().into()),
                    candidates: None,
                    static_topologies: None,
                    cache: std::sync::Arc::default(),
                    options: planners::PlannerOptions::default(),
                    seed: 0,
                };
                let Ok(plan) = plan(&request) else { continue };
                plans += 1;
                for settings in [
                    base,
                    Settings { injection: Injection::Paced, ..base },
                    Settings { level: Level::Flow, ..base },
                    Settings { sync: Synchronisation::Dataflow, reconfiguration: ReconfigurationScope::Ports, ..base },
                ] {
                    let found = simulate(&plan, &settings).unwrap();
                    let ratio = found.total_s() / plan.total_s();
                    // A burst overlaps propagation with queueing; dataflow sets circuits up while others are in use.
                    let least = if settings.sync == Synchronisation::Barrier { 0.5 } else { 0.1 };
                    assert!((least..2.0).contains(&ratio), "{} {algorithm} {ratio}", planner.name());
                    assert!(found.wire_bytes >= found.payload_bytes && found.packet_hops >= found.packets);
                }
            }
        }
    }
    assert!(plans > 100, "{plans}");
}
