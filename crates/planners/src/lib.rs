//! Planners: given a [`Problem`], which topology serves which step.
//!
//! ```text
//! Schedule, candidates ─▶ ProfileTable ─┐
//! Fabric, size, settings ───────────────┴─▶ Problem ─▶ Planner ─▶ Choice ─▶ Plan
//! ```
//!
//! A [`ProfileTable`] does not depend on any delay, rate or size, so one serves a whole sweep. A planner
//! makes a [`Choice`]; [`Choice::into_plan`] adds routes, cost terms and the bound. Adding a planner is
//! one file in `planners/` and its line in the registry there.

mod alike_ports;
mod all_to_all_baseline;
mod all_to_all_lines;
mod around_faults;
mod best_composition;
mod candidate_changes;
mod capabilities;
mod change;
mod charges;
mod choice;
mod class_bound;
mod composition_cost;
mod convention;
mod cutoffs;
mod envelope;
mod following_blocks;
mod forwarded_blocks;
mod given_routes;
mod join;
mod known_networks;
mod known_starts;
mod least_seconds;
mod limited_fronts;
mod linear_cost;
mod listener;
pub mod many_gpus;
mod mixed_rates;
mod moved_choice;
mod operating_point;
mod optical_limits;
mod options;
mod own_circuits;
mod packet_times;
mod patterns;
mod pipeline;
mod planner;
mod planners;
mod problem;
mod profile_table;
mod promise;
mod recursive_doubling;
mod sequence_cost;
mod shared_results;
mod shortest_path;
mod split;
mod state_search;
pub mod ties;
mod topology_search;
pub mod two_level;

pub use all_to_all_lines::all_to_all_lines;
pub use around_faults::{KeptCircuits, REPAIRED, repair};
pub use capabilities::{Capabilities, LeastSum};
pub use change::Change;
pub use charges::Charges;
pub use choice::Choice;
pub use class_bound::ClassBound;
pub use compositions::{Given, GivenPath};
pub use convention::Convention;
pub use envelope::{Envelope, Piece};
pub use least_seconds::least_seconds;
pub use linear_cost::LinearCost;
pub use listener::{BetterChoice, Listener, is_better};
pub use mixed_rates::{alike, as_it_starts, choose};
pub use operating_point::OperatingPoint;
pub use optical_limits::OpticalLimits;
pub use options::PlannerOptions;
pub use planner::{Planner, is_concave};
pub use planners::{
    Bridge, Exact, REGISTRY, Thresholds, constant_change_s, find, from_known_starts, is_any_time, unequal_at_any_time,
};
pub use problem::Problem;
pub use profile_table::{Estimates, ProfileTable};
pub use promise::Promise;
pub use recursive_doubling::{Costs, Optimum, RecursiveDoubling, optimum};
pub use shared_results::{Cache, Shared};
pub use shortest_path::Before;
pub use split::split_steps;
pub use state_search::{Rates, StateSearch};
pub use topology_search::{is_searchable, searched, serves as search_serves};

/// Names of algorithms that planners make, which cannot be asked for, and what they mean.
pub fn algorithm_names() -> Vec<(&'static str, &'static str)> {
    let forwards = REGISTRY.iter().filter(|planner| planner.capabilities().forwards_blocks);
    let blocks =
        forwards.map(|planner| (planner.name(), "whole blocks forwarded in rounds, by the planner of this name"));
    compositions::ALGORITHMS.into_iter().chain(blocks).collect()
}

/// Names that planners give to topologies which no specification builds, and what they mean.
pub fn topology_names() -> Vec<(&'static str, &'static str)> {
    let mut names = compositions::NAMES.to_vec();
    names.extend(topologies::candidates::NAMES);
    names.extend([
        block_rounds::CONTRACTION_NAME,
        search::LOCAL_SEARCH_NAME,
        planners::EXACT_TOPOLOGY_NAME,
        planners::MIXNET_TOPOLOGY_NAME,
        planners::SUBTORI_NAME,
    ]);
    names
}
