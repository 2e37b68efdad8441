//! `Series`.

use lightloom::{Points, Series};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::parallel::on_all_cores;
use crate::request::PyRequest;

#[pyclass(name = "Series", module = "lightloom._core", frozen)]
pub struct PySeries(Series);

/// Indices of names and of topologies, one each per point.
type Places<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Times, reconfigurations, choices, lower bounds, times without any change of circuits, topologies, and the choices and
/// topologies without any change, one each per point.
type Evaluated<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Option<Bound<'py, PyArray1<f64>>>,
    Option<Bound<'py, PyArray1<f64>>>,
    Bound<'py, PyArray1<u32>>,
    Option<Places<'py>>,
);

#[pymethods]
impl PySeries {
    #[new]
    fn new(py: Python<'_>, request: &PyRequest) -> CoreResult<Self> {
        Ok(Self(on_all_cores(py, || Series::new(&request.0))?))
    }

    #[getter]
    fn collective(&self) -> &'static str {
        self.0.collective().name()
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.0.gpus()
    }

    #[getter]
    fn fastest(&self) -> (f64, f64) {
        self.0.fastest()
    }

    #[getter]
    fn names(&self) -> Vec<(String, String)> {
        self.0.names()
    }

    #[getter]
    fn topologies(&self) -> Vec<String> {
        self.0.topologies()
    }

    #[pyo3(signature = (size_bytes, bandwidth_bps, startup_s, hop_delay_s, reconfiguration_delay_s, bound=false))]
    #[expect(clippy::too_many_arguments, reason = "the numbers of a point")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        size_bytes: PyReadonlyArray1<'py, f64>,
        bandwidth_bps: PyReadonlyArray1<'py, f64>,
        startup_s: PyReadonlyArray1<'py, f64>,
        hop_delay_s: PyReadonlyArray1<'py, f64>,
        reconfiguration_delay_s: PyReadonlyArray1<'py, f64>,
        bound: bool,
    ) -> CoreResult<Evaluated<'py>> {
        let all = [size_bytes, bandwidth_bps, startup_s, hop_delay_s, reconfiguration_delay_s];
        let [size_bytes, bandwidth_bps, startup_s, hop_delay_s, reconfiguration_delay_s] =
            all.map(|array| array.as_array().to_vec());
        let points = Points {
            size_bytes: &size_bytes,
            bandwidth_bps: &bandwidth_bps,
            startup_s: &startup_s,
            hop_delay_s: &hop_delay_s,
            reconfiguration_delay_s: &reconfiguration_delay_s,
        };
        let found = on_all_cores(py, || self.0.evaluate(points, bound))?;
        Ok((
            PyArray1::from_vec(py, found.total_s),
            PyArray1::from_vec(py, found.reconfigurations),
            PyArray1::from_vec(py, found.choice),
            found.lower_bound_s.map(|bounds| PyArray1::from_vec(py, bounds)),
            found.never_change_s.map(|times| PyArray1::from_vec(py, times)),
            PyArray1::from_vec(py, found.topologies),
            found
                .never_change
                .map(|(names, topologies)| (PyArray1::from_vec(py, names), PyArray1::from_vec(py, topologies))),
        ))
    }
}
