//! `ReconfigurationDelay`.

use model::ReconfigurationDelay;
use pyo3::prelude::*;

use crate::arguments;
use crate::input_error::CoreResult;

#[pyclass(name = "ReconfigurationDelay", module = "lightloom._core", frozen)]
pub struct PyReconfigurationDelay(pub ReconfigurationDelay);

#[pymethods]
impl PyReconfigurationDelay {
    #[staticmethod]
    fn parse(field: &str, text: &Bound<'_, PyAny>) -> CoreResult<Self> {
        Ok(Self(ReconfigurationDelay::parse(field, &arguments::text(field, text)?)?))
    }

    #[getter]
    fn fixed_s(&self) -> f64 {
        self.0.fixed_s()
    }

    /// Whether it depends on the number of GPUs.
    #[getter]
    fn has_rounds(&self) -> bool {
        self.0.has_rounds()
    }

    #[getter]
    fn scalar_s(&self) -> Option<f64> {
        self.0.scalar_s()
    }

    fn __str__(&self) -> String {
        self.0.summary()
    }
}
