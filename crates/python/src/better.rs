//! `Better`.

use std::sync::Arc;

use lightloom::{Better, Told};
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::interrupts::{interruptible, raised_in_callback};
use crate::plan::PyPlan;

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

/// Calls a Python function with every better plan.
pub fn told(function: Py<PyAny>) -> Told {
    Arc::new(move |better| {
        Python::attach(|py| {
            if let Err(error) = function.call1(py, (PyBetter(better),)) {
                raised_in_callback(py, error);
            }
        });
    })
}
