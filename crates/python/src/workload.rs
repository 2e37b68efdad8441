//! Generated All-to-All matrices.

use block_rounds::workloads;
use model::Shape;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::arguments::text;
use crate::input_error::CoreResult;

#[pyfunction]
pub fn is_workload(spec: &Bound<'_, PyAny>) -> CoreResult<bool> {
    Ok(workloads::is_named(&text("matrix", spec)?))
}

#[pyfunction]
pub fn workload_matrix<'py>(
    py: Python<'py>,
    spec: &Bound<'py, PyAny>,
    gpus: u32,
    mean_bytes: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let spec = text("matrix", spec)?;
    let build = || -> CoreResult<_> {
        Ok(lightloom::workload_matrix(&spec, Shape::new(gpus, &[], 1)?.gpus(), mean_bytes, seed)?)
    };
    Ok(PyArray2::from_vec2(py, &build()?)?)
}
