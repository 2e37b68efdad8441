//! Planners: given a [`Problem`], which topology serves which step.
//!
//! ```text
//! Schedule, candidates ─▶ ProfileTable ─┐
//! Fabric, size, settings ───────────────┴─▶ Problem ─▶ Planner ─▶ Choice ─▶ Plan
//! ```
//!
//! A [`ProfileTable`] does not depend on any delay, rate or size, so one serves a whole sweep. A planner
//! makes a [`Choice`]; [`Choice::into_plan`] adds routes, cost terms and the bound. Adding a planner is
//! one file and one line in [`REGISTRY`].

mod all_to_all_lines;
mod bridge;
mod bvn;
mod capabilities;
mod charges;
mod choice;
mod direct_connect;
mod envelope;
mod exact;
mod fast;
mod forwarded_blocks;
mod harvest;
mod join;
mod linear_cost;
mod mixnet;
mod operating_point;
mod options;
mod packet_times;
mod pccl;
mod pipelined;
mod problem;
mod profile_table;
mod reconfigure_all_to_all;
mod recursive_doubling;
mod searched;
mod sequence_cost;
mod short_circuit;
mod shortest_path;
mod split;
mod state_search;
mod static_topology;
pub mod ties;
mod topo_opt;
mod weave;

use model::{ChargeKind, CostSettings, Error, Fabric, Overlap, Result, Schedule, unknown_name};

pub use all_to_all_lines::all_to_all_lines;
pub use bridge::Bridge;
pub use capabilities::{Capabilities, LeastSum};
pub use charges::Charges;
pub use choice::Choice;
pub use envelope::{Envelope, Piece};
pub use exact::{Exact, constant_change_s};
pub use linear_cost::LinearCost;
pub use operating_point::OperatingPoint;
pub use options::PlannerOptions;
pub use packet_times::PacketTimes;
pub use pipelined::choose;
pub use problem::Problem;
pub use profile_table::{Estimates, ProfileTable};
pub use recursive_doubling::{Costs, Optimum, RecursiveDoubling, optimum};
pub use searched::{is_searchable, searched, serves as search_serves};
pub use short_circuit::Thresholds;
pub use split::split_steps;
pub use state_search::{Change, Rates, StateSearch};

/// Names that planners give to topologies which no specification builds, and what they mean. `mixnet` calls its
/// only topology like itself.
pub fn topology_names() -> Vec<(&'static str, &'static str)> {
    let mut names = ::weave::NAMES.to_vec();
    names.extend(topologies::candidates::NAMES);
    names.extend([all_to_all::CONTRACTION_NAME, search::LOCAL_SEARCH_NAME, exact::TOPOLOGY_NAME]);
    names
}

/// A way to choose topologies. Pure and deterministic.
pub trait Planner: Sync {
    /// Name for `--planner`.
    fn name(&self) -> &'static str;
    /// What it does, in a sentence.
    fn summary(&self) -> &'static str;
    /// Paper and section.
    fn source(&self) -> &'static str;
    /// What it takes, knows and does, beside what depends on the schedule.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
    /// Whether it splits or joins steps of the schedule, so that bounds for these steps do not hold for its plans.
    fn changes_steps(&self, _schedule: &Schedule, _ports: u32) -> bool {
        false
    }
    /// The topologies that it chooses and what they cost; `None` when they would cost more than `limit_s`,
    /// which may be known long before what they cost is.
    ///
    /// # Errors
    /// When no choice of its kind serves the problem.
    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>>;

    /// The topologies that it chooses and what they cost.
    ///
    /// # Errors
    /// When no choice of its kind serves the problem.
    fn choose(&self, problem: &Problem) -> Result<Choice> {
        let choice = self.choose_within(problem, f64::INFINITY)?;
        choice.ok_or_else(|| Error::infeasible("planner", format!("{} finds no finite time", self.name())))
    }
}

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
    &mixnet::MixNet,
    &fast::Fast,
    &direct_connect::KAUTZ,
    &direct_connect::CIRCULANT,
    &topo_opt::TopoOpt,
    &weave::Weave,
    &exact::Exact,
];

/// Whether what a planner takes for a schedule is a concave function of α, δ, β·m and α_r, so that an [`Envelope`] serves
/// many points.
pub fn is_concave(
    planner: &dyn Planner,
    schedule: &Schedule,
    fabric: &Fabric,
    settings: CostSettings,
    options: &PlannerOptions,
) -> bool {
    settings.overlap == Overlap::Additive
        && fabric.reconfiguration.charge_kind() != ChargeKind::Overlapping
        && options.chunk_bytes.is_none()
        && planner.capabilities().least_sum.holds_for(schedule)
}

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
