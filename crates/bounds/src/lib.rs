//! Lower bounds on completion time, one file each. A bound names the class of schedules below whose
//! times it lies; a plan carries the largest bound that holds for it.

mod all_to_all_hops;
mod given_schedule;

pub use all_to_all_hops::{all_to_all_hops, all_to_all_rounds};
pub use given_schedule::given_schedule;
