//! `Statement` and the verb that makes them.

use lightloom::Statement;
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::request::PyRequest;

#[pyclass(name = "Statement", module = "lightloom._core", frozen)]
pub struct PyStatement(Statement);

#[pymethods]
impl PyStatement {
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    #[getter]
    fn bound_class(&self) -> &str {
        &self.0.class
    }

    #[getter]
    fn why(&self) -> &'static str {
        self.0.why
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.0.startup_s
    }

    #[getter]
    fn propagation_s(&self) -> f64 {
        self.0.propagation_s
    }

    #[getter]
    fn transmission_s(&self) -> f64 {
        self.0.transmission_s
    }

    #[getter]
    fn reconfiguration_s(&self) -> f64 {
        self.0.reconfiguration_s
    }

    #[getter]
    fn lower_bound_s(&self) -> f64 {
        self.0.seconds()
    }

    #[getter]
    fn topologies(&self) -> u32 {
        self.0.topologies
    }

    #[getter]
    fn steps(&self) -> u32 {
        self.0.steps
    }

    #[getter]
    fn segments(&self) -> Vec<(u32, u32, f64)> {
        self.0.segments.iter().map(|segment| (segment.steps, segment.hops, segment.growth)).collect()
    }

    fn __repr__(&self) -> String {
        format!("Statement('{}', lower_bound_s={:?}, bound_class='{}')", self.0.name, self.0.seconds(), self.0.class)
    }
}

#[pyfunction]
pub fn bound(py: Python<'_>, request: &PyRequest) -> CoreResult<Vec<PyStatement>> {
    Ok(py.detach(|| lightloom::bound(&request.0))?.into_iter().map(PyStatement).collect())
}
