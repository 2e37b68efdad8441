//! `Better`, and the function that tells of it.

use std::sync::Arc;

use lightloom::{Better, Told};
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::interrupts::{interruptible, raised_in_callback};
use crate::parallel::on_all_cores;
use crate::plan::PyPlan;
use crate::request::PyRequest;

#[pyclass(name = "Better", module = "lightloom._core", frozen)]
pub struct PyBetter(Better);

#[pymethods]
impl PyBetter {
    #[getter]
    fn elapsed_s(&self) -> f64 {
        self.0.elapsed_s
    }

    #[getter]
    fn total_s(&self) -> f64 {
        self.0.total_s
    }

    #[getter]
    fn lower_bound_s(&self) -> f64 {
        self.0.lower_bound_s
    }

    fn plan(&self, py: Python<'_>) -> CoreResult<PyPlan> {
        Ok(PyPlan::made(interruptible(py, || self.0.plan())??))
    }
}

#[pyfunction]
#[pyo3(signature = (request, warm_start=None, progress=None))]
pub fn plan(
    py: Python<'_>,
    request: &PyRequest,
    warm_start: Option<&Bound<'_, PyPlan>>,
    progress: Option<Py<PyAny>>,
) -> CoreResult<PyPlan> {
    let warm_start = warm_start.map(|plan| &plan.get().plan);
    let told = progress.map(told);
    Ok(PyPlan::made(on_all_cores(py, || lightloom::plan_as_found(&request.0, warm_start, told))?))
}

#[pyfunction]
pub fn plan_with_same_bits(py: Python<'_>, request: &PyRequest) -> CoreResult<PyPlan> {
    Ok(PyPlan::made(on_all_cores(py, || lightloom::plan_with_same_bits(&request.0))?))
}

/// Calls a Python function with every better plan.
fn told(function: Py<PyAny>) -> Told {
    Arc::new(move |better| {
        Python::attach(|py| {
            if let Err(error) = function.call1(py, (PyBetter(better),)) {
                raised_in_callback(py, error);
            }
        });
    })
}
