//! The best of several choices where some are equally fast.
//!
//! One rule holds wherever choices are compared: the completion time, which is the sum of a plan's terms in the order
//! of the plan ([`Problem::total_s`](crate::Problem::total_s)); and of equal times the earlier place, that is planner,
//! algorithm and topology in the order of their registries. Searches add up in orders of their own, so what they give
//! up must be slower by more than rounding.

use std::cmp::Ordering;

/// Sums of the same terms differ by less than this, relatively.
pub const ROUNDING: f64 = 1e-12;

/// Whether `time_s` may be at most `limit_s` but for rounding.
pub fn within(time_s: f64, limit_s: f64) -> bool {
    time_s <= limit_s * (1.0 + ROUNDING)
}

/// The order of two choices, each as (time, place).
pub fn order<P: Ord>(a: (f64, P), b: (f64, P)) -> Ordering {
    a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1))
}
