//! `Schedule`.

use collectives::Options;
use model::{Collective, Op, Schedule, Shape};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::checks::{CheckTuple, checks};
use crate::input_error::CoreResult;
use crate::whole::Whole;

/// Source, destination, operation, chunks.
type TransferTuple = (u32, u32, &'static str, Vec<u32>);

#[pyclass(name = "Schedule", module = "lightloom._core", frozen)]
pub struct PySchedule(pub Schedule);

#[pymethods]
impl PySchedule {
    #[staticmethod]
    #[pyo3(signature = (algorithm, collective, gpus, dims=vec![], ports=Whole(1), radix=None, root=Whole(0)))]
    fn build(
        algorithm: &str,
        collective: &str,
        gpus: Whole,
        dims: Vec<Whole>,
        ports: Whole,
        radix: Option<Whole>,
        root: Whole,
    ) -> CoreResult<Self> {
        let shape = Shape::new(gpus.0, &Whole::all(dims), ports.0)?;
        let options = Options { radix: radix.map(|radix| radix.0), root: root.0 };
        Ok(Self(collectives::find(algorithm)?.build(Collective::parse(collective)?, &shape, &options)?))
    }

    #[staticmethod]
    fn from_msccl(py: Python<'_>, xml: &str) -> CoreResult<Self> {
        Ok(Self(py.detach(|| formats::schedule_from_msccl(xml))?))
    }

    #[staticmethod]
    fn from_matrix(py: Python<'_>, matrix: PyReadonlyArray2<'_, f64>) -> CoreResult<(Self, f64)> {
        let rows = rows_of(&matrix);
        let (schedule, size_bytes) = py.detach(|| collectives::direct_from_matrix(&rows))?;
        Ok((Self(schedule), size_bytes))
    }

    #[getter]
    fn algorithm(&self) -> &str {
        self.0.algorithm()
    }

    #[getter]
    fn collective(&self) -> &'static str {
        self.0.collective().name()
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.0.ranks()
    }

    #[getter]
    fn shares<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.0.steps().iter().map(model::Step::share))
    }

    #[getter]
    fn sent_share(&self) -> f64 {
        self.0.sent_share()
    }

    fn transfers(&self, step: usize) -> CoreResult<Vec<TransferTuple>> {
        let steps = self.0.steps();
        let step =
            steps.get(step).ok_or_else(|| model::Error::value("step", step, format!("0 to {}", steps.len() - 1)))?;
        let name = |op| match op {
            Op::Copy => "copy",
            Op::Reduce => "reduce",
        };
        Ok(step.expanded(self.0.chunks()).into_iter().map(|t| (t.src, t.dst, name(t.op), t.chunks)).collect())
    }

    fn __repr__(&self) -> String {
        format!(
            "Schedule('{}', '{}', gpus={}, steps={})",
            self.0.algorithm(),
            self.0.collective().name(),
            self.0.ranks(),
            self.0.steps().len()
        )
    }
}

/// A matrix as rows.
pub fn rows_of(matrix: &PyReadonlyArray2<'_, f64>) -> Vec<Vec<f64>> {
    matrix.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
}

#[pyfunction]
pub fn verify_schedule(py: Python<'_>, schedule: &PySchedule) -> Vec<CheckTuple> {
    checks(&py.detach(|| verify::schedule(&schedule.0)))
}
