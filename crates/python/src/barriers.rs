//! Barriers: which there are, and how long they take.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Name, summary and source of every barrier; empty where plans are not run.
#[pyfunction]
pub fn barriers() -> Vec<[&'static str; 3]> {
    runtime::barriers()
}

/// Nanoseconds of every round of a barrier; for a process with one thread that `owner` started.
#[pyfunction]
pub fn barrier_rounds<'py>(
    py: Python<'py>,
    name: &str,
    ranks: u32,
    rounds: u32,
    owner: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = py.detach(|| runtime::barrier_rounds(name, ranks, rounds, owner)).map_err(PyOSError::new_err)?;
    // NumPy is not there in a process without its libraries.
    let bytes: Vec<u8> = found.into_iter().flat_map(u32::to_le_bytes).collect();
    Ok(PyBytes::new(py, &bytes))
}
