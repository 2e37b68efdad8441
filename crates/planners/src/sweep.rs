//! One schedule over many sizes and reconfiguration delays; profiles are shared by all points.

use model::{Result, units};
use rayon::prelude::*;

use crate::harvest::Harvest;
use crate::{Envelope, OperatingPoint, Planner, Problem, is_concave};

/// Best time (s) and number of reconfigurations at every point (bytes m, fixed delay α_r in
/// seconds), in the order of the points, whatever the number of threads. What the fabric says of delays
/// per port is kept.
///
/// # Errors
/// A size below one byte or above 2^53, a delay that is negative or not finite, or no feasible sequence.
pub fn sweep(problem: &Problem, points: &[(f64, f64)]) -> Result<Vec<(f64, u32)>> {
    let own = OperatingPoint::of(&problem.fabric, problem.size_bytes);
    let numbers = |&(size_bytes, delay_s): &(f64, f64)| {
        Ok(OperatingPoint {
            size_bytes: units::size_from_f64("size", size_bytes)?,
            reconfiguration_delay_s: units::time_from_f64("reconfiguration_delay", delay_s)?,
            ..own
        })
    };
    let points: Vec<OperatingPoint> = points.iter().map(numbers).collect::<Result<_>>()?;
    let search = |at: &OperatingPoint| Harvest.choose(&problem.at(at));
    if is_concave(&Harvest, problem.schedule(), &problem.fabric, problem.settings, &problem.options) {
        return Ok(Envelope::of(&points, search)?.times(&points));
    }
    // What the table keeps for all points is computed before threads wait for it.
    problem.charges();
    let figures = |at: &OperatingPoint| search(at).map(|choice| (choice.total_s, choice.reconfigurations() as u32));
    points.par_iter().map(figures).collect()
}
