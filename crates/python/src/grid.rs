//! `Grid`.

use lightloom::{Grid, Verdict};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::input_error::CoreResult;
use crate::parallel::on_all_cores;
use crate::request::PyRequest;

#[pyclass(name = "Grid", module = "lightloom._core", frozen)]
pub struct PyGrid(Grid);

#[pyclass(name = "Verdict", module = "lightloom._core", frozen, get_all)]
pub struct PyVerdict {
    given_planner: String,
    given_algorithm: String,
    given_s: f64,
    best_planner: String,
    best_algorithm: String,
    best_s: f64,
    best_reconfigurations: usize,
    lower_bound_s: f64,
}

impl From<Verdict> for PyVerdict {
    fn from(verdict: Verdict) -> Self {
        Self {
            given_planner: verdict.given.planner,
            given_algorithm: verdict.given.algorithm,
            given_s: verdict.given.total_s,
            best_planner: verdict.best.planner,
            best_algorithm: verdict.best.algorithm,
            best_s: verdict.best.total_s,
            best_reconfigurations: verdict.best.reconfigurations,
            lower_bound_s: verdict.bound.seconds,
        }
    }
}

#[pymethods]
impl PyGrid {
    #[new]
    fn new(py: Python<'_>, request: &PyRequest) -> CoreResult<Self> {
        Ok(Self(on_all_cores(py, || Grid::new(&request.0))?))
    }

    fn judge(&self, py: Python<'_>, points: Vec<(u64, f64)>) -> CoreResult<Vec<PyVerdict>> {
        let judged = |(size_bytes, delay_s): (u64, f64)| self.0.judge(size_bytes, delay_s);
        let verdicts: Vec<Verdict> = on_all_cores(py, || points.into_par_iter().map(judged).collect())?;
        Ok(verdicts.into_iter().map(PyVerdict::from).collect())
    }
}
