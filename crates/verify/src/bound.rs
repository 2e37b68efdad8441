//! The stated lower bounds.
//!
//! Two checks are made, and share no code with what states a bound: none is above the plan's time, and none that is for
//! any algorithm is above the time of [schedules](own_schedules) that the verifier makes. A bound that passes both may
//! still be too large. How much a bound may state in its class is not known here: whoever has the crate `bounds`
//! compares that, as a check of its own.

mod own_schedules;

use model::{Bound, Plan};

use crate::report::{Check, Tally};

/// By how much a stated bound may be above a schedule of the verifier's, relative: both are sums in some order.
const ROUNDING: f64 = 1e-9;

/// How the class of all algorithms begins.
const ANY_ALGORITHM: &str = "any algorithm";

/// Checks that every bound is a time, not above the plan's, and not above that of the verifier's own schedules.
///
/// Costs O(ranks · links), at most what [`own_schedules`] allows.
pub(crate) fn check(plan: &Plan) -> Check {
    let mut tally = Tally::new("bound");
    let own_s = own_schedules::fastest_s(plan);
    for Bound { seconds, class } in std::iter::once(&plan.bound).chain(&plan.narrow_bound) {
        tally.expect(seconds.is_finite() && *seconds >= 0.0, || format!("{seconds} s is not a time"));
        tally.expect(*seconds <= plan.total_s(), || {
            format!("the bound of {seconds} s for {class} is above the plan's time of {} s", plan.total_s())
        });
        if let Some(own_s) = own_s.filter(|_| class.starts_with(ANY_ALGORITHM)) {
            tally.expect(*seconds <= own_s * (1.0 + ROUNDING), || {
                format!(
                    "the bound of {seconds} s for {class} is above the time of a schedule on one topology, {own_s} s"
                )
            });
        }
    }
    if let Some(narrow) = &plan.narrow_bound {
        let first = plan.bound.seconds;
        tally.expect(narrow.seconds >= first, || {
            format!(
                "the bound of {} s for a narrower class is below the one of {first} s for a wider class",
                narrow.seconds
            )
        });
    }
    let with = if own_s.is_some() { " and with the verifier's own schedules; no bound is above these" } else { "" };
    tally.into_check("comparison", &format!("of the bounds with the plan's time{with}"))
}
