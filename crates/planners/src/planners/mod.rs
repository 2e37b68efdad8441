//! The planners and their registry.

mod bridge;
mod bvn;
mod direct_connect;
mod exact;
mod fast;
mod harvest;
mod mixnet;
mod never_change;
mod pccl;
mod reconfigure_all_to_all;
mod short_circuit;
mod static_topology;
pub(crate) mod synthesize;
mod topo_opt;
mod weave;

use model::{Result, unknown_name};

use crate::Planner;

pub use bridge::Bridge;
pub(crate) use bridge::SUBTORI_NAME;
pub(crate) use exact::TOPOLOGY_NAME as EXACT_TOPOLOGY_NAME;
pub use exact::{Exact, constant_change_s};
pub(crate) use mixnet::MIXNET;
pub(crate) use mixnet::TOPOLOGY_NAME as MIXNET_TOPOLOGY_NAME;
pub(crate) use reconfigure_all_to_all::ReconfigureAllToAll;
pub use short_circuit::Thresholds;
pub(crate) use topo_opt::TOPO_OPT;
pub use weave::{from_known_starts, is_any_time, unequal_at_any_time};

/// Every planner. Command line, Python, comparison tables and tests read this list.
pub static REGISTRY: &[&dyn Planner] = &[
    &harvest::Harvest,
    &static_topology::Static,
    &bvn::Bvn,
    &bridge::Bridge::EVERY_GPU,
    &pccl::PCCL,
    &pccl::PCCL_PARALLEL,
    &short_circuit::ShortCircuit,
    &reconfigure_all_to_all::ReconfigureAllToAll,
    &mixnet::MIXNET,
    &fast::FAST,
    &direct_connect::KAUTZ,
    &direct_connect::CIRCULANT,
    &topo_opt::TOPO_OPT,
    &synthesize::Synthesize,
    &weave::Weave,
    &never_change::NeverChange,
    &exact::Exact,
];

/// The planner of that name.
///
/// # Errors
/// An unknown name.
pub fn find(name: &str) -> Result<&'static dyn Planner> {
    REGISTRY
        .iter()
        .copied()
        .find(|planner| planner.name() == name)
        .ok_or_else(|| unknown_name("planner", name, REGISTRY.iter().map(|planner| planner.name()).chain(["auto"])))
}
