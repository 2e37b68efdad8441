//! All-to-All strategies by what they cost.

use block_rounds::degree_one;
use model::{Error, Shape};
use pyo3::prelude::*;

use crate::arguments::whole;
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::parallel::on_all_cores;
use crate::request::PyRequest;

/// The quadratic order of shifts takes a second for this many ranks.
const MAX_SHIFTED_RANKS: u32 = 4096;

/// Topologies, seconds of all slots, seconds of the busiest circuits.
type LineTuple = (usize, f64, f64);

#[pyfunction]
pub fn all_to_all_lines(
    py: Python<'_>,
    request: &PyRequest,
    delays_s: Vec<f64>,
) -> CoreResult<Vec<(&'static str, Vec<LineTuple>)>> {
    let lines = on_all_cores(py, || lightloom::all_to_all_lines(&request.0, &delays_s))?;
    let tuples = |lines: Vec<block_rounds::PriceLine>| -> Vec<LineTuple> {
        lines.into_iter().map(|line| (line.topologies, line.slots_s, line.busiest_s)).collect()
    };
    Ok(lines.into_iter().map(|(name, lines)| (name, tuples(lines))).collect())
}

#[pyfunction]
pub fn shift_hops(py: Python<'_>, gpus: &Bound<'_, PyAny>) -> CoreResult<Vec<u64>> {
    let ranks = Shape::new(whole("gpus", gpus)?, &[], 1)?.gpus();
    if ranks > MAX_SHIFTED_RANKS {
        return Err(Error::value("gpus", ranks, format!("at most {MAX_SHIFTED_RANKS}")).into());
    }
    interruptible(py, || degree_one::shifts(ranks).hops)
}
