//! Lower bounds on completion time, one file each. A bound names the class of schedules below whose
//! times it lies; a plan carries the largest bound that holds for it.

mod given_schedule;

pub use given_schedule::given_schedule;
