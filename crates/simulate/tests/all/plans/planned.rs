//! Plans for the tests, by the planners.

use collectives::Options;
use lightloom::{Request, Size, TopologyRef, Workload};
use model::{Collective, CostSettings, Fabric, Plan};

/// The plan of an algorithm on a static topology, or, where none is named, by HARVEST.
pub fn planned(
    fabric: Fabric,
    collective: Collective,
    algorithm: &str,
    size_bytes: u64,
    topology: Option<&str>,
) -> Plan {
    lightloom::plan(&Request {
        fabric,
        workload: Workload::Collective { collective, algorithm: Some(algorithm.into()), options: Options::default() },
        size: Size::Buffer(size_bytes),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: Some(if topology.is_some() { "static" } else { "harvest" }.into()),
        candidates: None,
        static_topologies: topology.map(|name| vec![TopologyRef::Named(name.into())]),
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    })
    .unwrap()
}
