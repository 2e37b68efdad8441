//! Workloads of training iterations, and their plans.

use model::{Error, TrainingPlan, Workload};
use pyo3::prelude::*;

use crate::arguments::text;
use crate::checks::{CheckTuple, checks};
use crate::fabric::PyFabric;
use crate::input_error::CoreResult;
use crate::interrupts::{interruptible, raised_in_callback};
use crate::parallel::on_all_cores;
use crate::pickles::Reduced;
use crate::request::PyCache;

#[pyclass(name = "Workload", module = "lightloom._core", frozen)]
pub struct PyWorkload(Workload);

#[pymethods]
impl PyWorkload {
    #[staticmethod]
    fn from_json(py: Python<'_>, json: &Bound<'_, PyAny>) -> CoreResult<Self> {
        let json = text("workload", json)?;
        Ok(Self(interruptible(py, || formats::workload_from_json(&json))??))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| formats::workload_to_json(&self.0))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (String,)>> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json(py),)))
    }

    #[getter]
    fn ranks(&self) -> u32 {
        self.0.ranks
    }
}

#[pyclass(name = "TrainingPlan", module = "lightloom._core", frozen)]
pub struct PyTrainingPlan(pub TrainingPlan);

#[pymethods]
impl PyTrainingPlan {
    #[staticmethod]
    fn from_json(py: Python<'_>, json: &Bound<'_, PyAny>) -> CoreResult<Self> {
        let json = text("training", json)?;
        Ok(Self(interruptible(py, || formats::training_from_json(&json))??))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| formats::training_to_json(&self.0))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (String,)>> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json(py),)))
    }
}

/// Name, title, summary, whether it can be chosen.
type PolicyTuple = (&'static str, &'static str, &'static str, bool);

#[pyfunction]
pub fn training_policies() -> Vec<PolicyTuple> {
    let told = |policy: &training::Policy| (policy.name, policy.title, policy.summary, policy.can_be_chosen);
    training::POLICIES.iter().map(told).collect()
}

#[pyfunction]
#[pyo3(signature = (workload, fabric, resting, policy, progress=None, cache=None))]
pub fn train(
    py: Python<'_>,
    workload: &PyWorkload,
    fabric: &PyFabric,
    resting: &Bound<'_, PyAny>,
    policy: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
    cache: Option<&PyCache>,
) -> CoreResult<PyTrainingPlan> {
    let (resting, policy) = (text("initial", resting)?, text("policy", policy)?);
    let say = |status: &str| {
        let Some(progress) = &progress else { return };
        Python::attach(|py| {
            if let Err(error) = progress.call1(py, (status,)) {
                raised_in_callback(py, error);
            }
        });
    };
    let known = cache.map(|PyCache(known)| known.clone()).unwrap_or_default();
    let plan = on_all_cores(py, || {
        let plan = training::train(&workload.0, &fabric.0.fabric, &resting, &policy, known, &say)?;
        match lightloom::verify_training(&plan).first_failure() {
            None => Ok(plan),
            Some(check) => Err(Error::Rejected { check: check.name.to_string(), detail: check.detail.clone() }),
        }
    })?;
    Ok(PyTrainingPlan(plan))
}

#[pyfunction]
pub fn verify_training(py: Python<'_>, plan: &PyTrainingPlan) -> CoreResult<Vec<CheckTuple>> {
    Ok(checks(&interruptible(py, || lightloom::verify_training(&plan.0))?))
}
