//! `Plan`, `Step`, `Comparison`, `Row` and the verbs that make them.

use lightloom::{Comparison, Row};
use model::{Plan, PlanStep};
use pyo3::prelude::*;

use crate::checks::{CheckTuple, checks};
use crate::input_error::CoreResult;
use crate::request::PyRequest;
use crate::topology::PyTopology;

#[pyclass(name = "Plan", module = "lightloom._core", frozen)]
pub struct PyPlan(pub Plan);

#[pyclass(name = "Step", module = "lightloom._core", frozen)]
pub struct PyStep {
    index: usize,
    topology_name: String,
    step: PlanStep,
}

#[pyclass(name = "Comparison", module = "lightloom._core", frozen)]
pub struct PyComparison(Comparison);

#[pyclass(name = "Row", module = "lightloom._core", frozen)]
pub struct PyRow(Row);

#[pymethods]
impl PyPlan {
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> CoreResult<Self> {
        Ok(Self(py.detach(|| formats::plan_from_json(text))?))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| formats::plan_to_json(&self.0))
    }

    #[getter]
    fn collective(&self) -> &'static str {
        self.0.collective().name()
    }

    #[getter]
    fn algorithm(&self) -> &str {
        &self.0.algorithm
    }

    #[getter]
    fn planner(&self) -> &str {
        &self.0.planner
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.0.fabric.shape.gpus()
    }

    #[getter]
    fn size_bytes(&self) -> u64 {
        self.0.size_bytes
    }

    #[getter]
    fn total_s(&self) -> f64 {
        self.0.total_s()
    }

    #[getter]
    fn reconfigurations(&self) -> usize {
        self.0.reconfigurations()
    }

    #[getter]
    fn lower_bound_s(&self) -> f64 {
        self.0.bound.seconds
    }

    #[getter]
    fn bound_class(&self) -> &str {
        &self.0.bound.class
    }

    #[getter]
    fn algbw(&self) -> f64 {
        self.0.algbw()
    }

    #[getter]
    fn busbw(&self) -> f64 {
        self.0.busbw()
    }

    #[getter]
    fn ports(&self) -> u32 {
        self.0.fabric.shape.ports()
    }

    #[getter]
    fn bandwidth_bps(&self) -> f64 {
        self.0.fabric.bandwidth_bps
    }

    #[getter]
    fn initial(&self) -> &str {
        self.0.fabric.initial_name()
    }

    #[getter]
    fn routing(&self) -> &'static str {
        self.0.settings.routing.name()
    }

    #[getter]
    fn steps(&self) -> Vec<PyStep> {
        self.0
            .steps
            .iter()
            .enumerate()
            .map(|(index, step)| PyStep {
                index,
                topology_name: self.0.topologies[step.topology].name().to_string(),
                step: step.clone(),
            })
            .collect()
    }

    #[getter]
    fn topologies(&self) -> Vec<PyTopology> {
        self.0.topologies.iter().cloned().map(PyTopology).collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "Plan('{}', algorithm='{}', planner='{}', gpus={}, total_s={:?}, reconfigurations={})",
            self.0.collective().name(),
            self.0.algorithm,
            self.0.planner,
            self.0.fabric.shape.gpus(),
            self.0.total_s(),
            self.0.reconfigurations()
        )
    }
}

#[pymethods]
impl PyStep {
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn topology(&self) -> usize {
        self.step.topology
    }

    #[getter]
    fn topology_name(&self) -> &str {
        &self.topology_name
    }

    #[getter]
    fn reconfigured(&self) -> bool {
        self.step.reconfigured
    }

    #[getter]
    fn transfer_bytes(&self) -> f64 {
        self.step.transfer_bytes
    }

    #[getter]
    fn hops(&self) -> u32 {
        self.step.hops
    }

    #[getter]
    fn load(&self) -> f64 {
        self.step.load
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.step.cost.startup_s
    }

    #[getter]
    fn propagation_s(&self) -> f64 {
        self.step.cost.propagation_s
    }

    #[getter]
    fn transmission_s(&self) -> f64 {
        self.step.cost.transmission_s
    }

    #[getter]
    fn reconfiguration_s(&self) -> f64 {
        self.step.cost.reconfiguration_s
    }

    #[getter]
    fn total_s(&self) -> f64 {
        self.step.cost.total_s()
    }

    fn __repr__(&self) -> String {
        format!(
            "Step({}, topology='{}', hops={}, load={:?}, total_s={:?})",
            self.index,
            self.topology_name,
            self.step.hops,
            self.step.load,
            self.step.cost.total_s()
        )
    }
}

#[pymethods]
impl PyComparison {
    #[getter]
    fn rows(&self) -> Vec<PyRow> {
        self.0.rows.iter().cloned().map(PyRow).collect()
    }

    #[getter]
    fn lower_bound_s(&self) -> f64 {
        self.0.lower_bound_s
    }

    #[getter]
    fn bound_class(&self) -> &str {
        &self.0.bound_class
    }
}

#[pymethods]
impl PyRow {
    #[getter]
    fn planner(&self) -> &str {
        &self.0.planner
    }

    #[getter]
    fn algorithm(&self) -> &str {
        &self.0.algorithm
    }

    #[getter]
    fn topology(&self) -> &str {
        &self.0.topology
    }

    #[getter]
    fn total_s(&self) -> Option<f64> {
        self.0.outcome.as_ref().ok().map(|outcome| outcome.total_s)
    }

    #[getter]
    fn reconfigurations(&self) -> Option<usize> {
        self.0.outcome.as_ref().ok().map(|outcome| outcome.reconfigurations)
    }

    #[getter]
    fn reason(&self) -> String {
        self.0.outcome.as_ref().err().map(model::Error::reason).unwrap_or_default()
    }
}

#[pyfunction]
pub fn plan(py: Python<'_>, request: &PyRequest) -> CoreResult<PyPlan> {
    Ok(PyPlan(py.detach(|| lightloom::plan(&request.0))?))
}

#[pyfunction]
pub fn plan_with_baselines(py: Python<'_>, request: &PyRequest) -> CoreResult<(PyPlan, Vec<PyRow>)> {
    let (plan, rows) = py.detach(|| lightloom::plan_with_baselines(&request.0))?;
    Ok((PyPlan(plan), rows.into_iter().map(PyRow).collect()))
}

#[pyfunction]
pub fn proved_plan(
    py: Python<'_>,
    request: &PyRequest,
    topologies: Vec<PyRef<'_, PyTopology>>,
    bound_s: f64,
    bound_class: String,
) -> CoreResult<PyPlan> {
    let topologies = topologies.iter().map(|topology| topology.0.clone()).collect();
    let bound = model::Bound { seconds: bound_s, class: bound_class };
    Ok(PyPlan(py.detach(|| lightloom::proved_plan(&request.0, topologies, bound))?))
}

#[pyfunction]
pub fn compare(py: Python<'_>, request: &PyRequest) -> CoreResult<PyComparison> {
    Ok(PyComparison(py.detach(|| lightloom::compare(&request.0))?))
}

#[pyfunction]
pub fn verify_plan(py: Python<'_>, plan: &PyPlan) -> Vec<CheckTuple> {
    checks(&py.detach(|| verify::plan(&plan.0)))
}
