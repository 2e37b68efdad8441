//! FAST on servers with an electrical network inside.

use numpy::PyReadonlyArray2;
use planners::two_level::{ServerNetwork, fast_on_servers as planned};
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::schedule::rows_of;

/// Pairs of servers, seconds of circuits, seconds of the electrical network meanwhile.
type StageTuple = (Vec<(u32, u32)>, f64, f64);

/// Seconds of all, the bound, before the first stage, after the last, of bytes within servers; the stages.
type ServersTuple = (f64, f64, f64, f64, f64, Vec<StageTuple>);

#[pyfunction]
pub fn fast_on_servers(
    py: Python<'_>,
    matrix: PyReadonlyArray2<'_, f64>,
    server_gpus: u32,
    electrical: (f64, f64),
    optical: (f64, f64, f64),
) -> CoreResult<ServersTuple> {
    let matrix = rows_of(&matrix);
    let network = ServerNetwork {
        server_gpus,
        electrical_bytes_per_s: electrical.0,
        electrical_step_s: electrical.1,
        optical_bytes_per_s: optical.0,
        optical_step_s: optical.1,
        reconfiguration_s: optical.2,
    };
    let found = interruptible(py, || planned(&matrix, &network))??;
    let stages = found.stages.into_iter().map(|stage| (stage.pairs, stage.optical_s, stage.electrical_s));
    Ok((found.total_s, found.bound_s, found.before_s, found.after_s, found.inside_s, stages.collect()))
}
