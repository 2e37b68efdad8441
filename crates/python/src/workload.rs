//! Generated All-to-All matrices.

use all_to_all::workloads;
use model::Shape;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::input_error::CoreResult;

#[pyfunction]
pub fn is_workload(spec: &str) -> bool {
    workloads::is_named(spec)
}

#[pyfunction]
pub fn workload_matrix<'py>(
    py: Python<'py>,
    spec: &str,
    gpus: u32,
    mean_bytes: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let build = || -> CoreResult<_> { Ok(workloads::build(spec, Shape::new(gpus, &[], 1)?.gpus(), mean_bytes, seed)?) };
    Ok(PyArray2::from_vec2(py, &build()?)?)
}
