//! One schedule over many sizes and reconfiguration delays; profiles are shared by all points.

use model::{Overlap, ReconfigurationDelay, Result, units};
use rayon::prelude::*;

use crate::pipelined::best_sequence;
use crate::state_search::StateSearch;
use crate::{Problem, RecursiveDoubling};

/// Best time (s) and number of reconfigurations at every point (bytes m, fixed delay α_r in
/// seconds), in the order of the points, whatever the number of threads. What the fabric says of delays
/// per port is kept.
///
/// # Errors
/// A size below one byte or above 2^53, a delay that is negative or not finite, or no feasible sequence.
pub fn sweep(problem: &Problem, points: &[(f64, f64)]) -> Result<Vec<(f64, u32)>> {
    let closed_form = RecursiveDoubling::of(problem);
    points
        .par_iter()
        .map_init(
            || (problem.clone(), StateSearch::new(&problem.table)),
            |(at, search), &(size_bytes, delay_s)| {
                units::time_from_f64("reconfiguration_delay", delay_s)?;
                at.size_bytes = units::size_from_f64("size", size_bytes)?;
                at.fabric.reconfiguration =
                    ReconfigurationDelay { fixed_s: delay_s, per_port_s: problem.fabric.reconfiguration.per_port_s };
                if at.settings.overlap == Overlap::Pipelined {
                    let best = best_sequence(at, f64::INFINITY)?;
                    return Ok(best.map_or((f64::INFINITY, 0), |(path, total_s)| (total_s, changes(at.start, &path))));
                }
                if let Some(form) = &closed_form {
                    let (path, total_s) = form.best(at);
                    return Ok((total_s, changes(None, &path)));
                }
                let total_s = search.run(&at.rates(), &at.charges(), at.start, f64::INFINITY)?.unwrap_or(f64::INFINITY);
                Ok((total_s, changes(at.start, search.path())))
            },
        )
        .collect()
}

fn changes(start: Option<usize>, path: &[usize]) -> u32 {
    let first = start.is_some_and(|start| path.first() != Some(&start));
    u32::from(first) + path.windows(2).filter(|pair| pair[0] != pair[1]).count() as u32
}
