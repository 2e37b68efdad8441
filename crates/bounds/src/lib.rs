//! Lower bounds on completion time, one file each. A bound names the class of schedules below whose
//! times it lies; a plan carries the largest bound that holds for it.

mod all_to_all_hops;
mod any_algorithm;
mod covering;
mod cutoffs;
mod given_schedule;
mod growth;
mod known;
mod known_topology;
mod link_prices;
mod mixed_rates;
mod other_gpus;
mod pairs;
mod rates;
mod repetition;
mod spreading;
mod spreading_on;
mod statement;
mod step_divisions;
mod step_loads;
mod topology_class;

pub use all_to_all_hops::{all_to_all_hops, all_to_all_rounds};
pub use any_algorithm::any_algorithm;
pub use given_schedule::{
    class_of_steps, given_schedule, given_schedule_statements, steps_of_algorithm, steps_of_plan,
};
pub use known::KnownBounds;
pub use mixed_rates::in_units;
pub use other_gpus::forwarded;
pub use statement::{BoundSegment, Statement, largest};
