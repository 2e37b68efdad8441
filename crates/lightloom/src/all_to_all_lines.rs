//! A request's All-to-All as lines in the reconfiguration delay.

use block_rounds::PriceLine;
use model::{Error, Result};

use crate::Request;

/// Cost of the planners that forward blocks in rounds at any reconfiguration delay R: R·topologies and seconds of the
/// rest, by the planner's name. As the paper charges it, the first topology counts. Lines are exact if the planner
/// would take them at one of these delays, s.
///
/// # Errors
/// Wrong input, or anything but a direct All-to-All.
pub fn all_to_all_lines(request: &Request, delays_s: &[f64]) -> Result<Vec<(&'static str, Vec<PriceLine>)>> {
    let (schedules, _) = request.schedules()?;
    let direct = schedules.into_iter().find(|schedule| schedule.algorithm() == "direct");
    let schedule = direct.ok_or_else(|| {
        Error::value("collective", request.collective().name(), "all-to-all, by algorithm `direct` or none")
    })?;
    planners::all_to_all_lines(&request.problem_without_candidates(schedule)?, delays_s)
}
