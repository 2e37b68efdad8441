//! `Plan`, `Step`, `Comparison`, `Row` and the verbs that make them.

use std::sync::OnceLock;

use lightloom::Row;
use model::{Error, Plan, Result, StepCost};
use pyo3::prelude::*;

use crate::arguments;
use crate::checks::{CheckTuple, checks};
use crate::input_error::CoreResult;
use crate::parallel::on_all_cores;
use crate::pickled::{Reduced, of_parts};
use crate::request::PyRequest;
use crate::topology::PyTopology;

#[pyclass(name = "Plan", module = "lightloom._core", frozen)]
pub struct PyPlan {
    plan: Plan,
    /// What the judge said, once it was asked; nothing against a plan that was made here.
    judged: OnceLock<Result<()>>,
}

/// What a step shows: its index, and all of `StepTuple` but the costs, which have a type of their own.
#[pyclass(name = "Step", module = "lightloom._core", frozen)]
pub struct PyStep {
    index: usize,
    topology: usize,
    topology_name: String,
    reconfigured: bool,
    transfer_bytes: f64,
    hops: u32,
    load: f64,
    cost: StepCost,
}

/// Index, topology, its name, whether it is new, bytes, hops, load.
type StepTuple = (usize, usize, String, bool, f64, u32, f64);
/// Startup, propagation, transmission, reconfiguration.
type CostTuple = (f64, f64, f64, f64);

#[pyclass(name = "Comparison", module = "lightloom._core", frozen)]
pub struct PyComparison {
    rows: Vec<PyRow>,
    lower_bound_s: f64,
    bound_class: String,
}

#[pyclass(name = "Row", module = "lightloom._core", frozen)]
#[derive(Clone)]
pub struct PyRow {
    planner: String,
    algorithm: String,
    topology: String,
    total_s: Option<f64>,
    reconfigurations: Option<usize>,
    reason: String,
}

/// Planner, algorithm, topology, time, reconfigurations, reason.
type RowTuple = (String, String, String, Option<f64>, Option<usize>, String);

impl From<Row> for PyRow {
    fn from(row: Row) -> Self {
        let outcome = row.outcome.as_ref().ok();
        Self {
            total_s: outcome.map(|outcome| outcome.total_s),
            reconfigurations: outcome.map(|outcome| outcome.reconfigurations),
            reason: row.outcome.as_ref().err().map(model::Error::reason).unwrap_or_default(),
            planner: row.planner,
            algorithm: row.algorithm,
            topology: row.topology,
        }
    }
}

impl PyPlan {
    /// A plan that has passed its judge.
    fn made(plan: Plan) -> Self {
        Self { plan, judged: OnceLock::from(Ok(())) }
    }

    /// The plan, as it is to be used: one that was read is judged first.
    ///
    /// # Errors
    /// What the judge has against it.
    pub fn judged(&self) -> Result<&Plan> {
        let judge = || match verify::plan(&self.plan).first_failure() {
            None => Ok(()),
            Some(check) => Err(Error::malformed("plan", format!("its check fails: {}: {}", check.name, check.detail))),
        };
        self.judged.get_or_init(judge).clone().map(|()| &self.plan)
    }
}

#[pymethods]
impl PyPlan {
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &Bound<'_, PyAny>) -> CoreResult<Self> {
        let text = arguments::text("plan", text)?;
        let plan = py.detach(|| formats::plan_from_json(&text))?;
        Ok(Self { plan, judged: OnceLock::new() })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (String,)>> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json(py),)))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| formats::plan_to_json(&self.plan))
    }

    #[getter]
    fn collective(&self) -> &'static str {
        self.plan.collective().name()
    }

    #[getter]
    fn algorithm(&self) -> &str {
        &self.plan.algorithm
    }

    #[getter]
    fn planner(&self) -> &str {
        &self.plan.planner
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.plan.fabric.shape.gpus()
    }

    #[getter]
    fn size_bytes(&self) -> u64 {
        self.plan.size_bytes
    }

    #[getter]
    fn total_s(&self) -> f64 {
        self.plan.total_s()
    }

    #[getter]
    fn reconfigurations(&self) -> usize {
        self.plan.reconfigurations()
    }

    #[getter]
    fn lower_bound_s(&self) -> f64 {
        self.plan.bound.seconds
    }

    #[getter]
    fn bound_class(&self) -> &str {
        &self.plan.bound.class
    }

    #[getter]
    fn narrow_bound(&self) -> Option<(f64, &str)> {
        self.plan.narrow_bound.as_ref().map(|bound| (bound.seconds, bound.class.as_str()))
    }

    #[getter]
    fn algbw(&self) -> f64 {
        self.plan.algbw()
    }

    #[getter]
    fn busbw(&self) -> f64 {
        self.plan.busbw()
    }

    #[getter]
    fn ports(&self) -> u32 {
        self.plan.fabric.shape.ports()
    }

    #[getter]
    fn bandwidth_bps(&self) -> f64 {
        self.plan.fabric.bandwidth_bps
    }

    #[getter]
    fn initial(&self) -> &str {
        self.plan.fabric.initial_name()
    }

    #[getter]
    fn routing(&self) -> &'static str {
        self.plan.settings.routing.name()
    }

    #[getter]
    fn steps(&self) -> Vec<PyStep> {
        self.plan
            .steps
            .iter()
            .enumerate()
            .map(|(index, step)| PyStep {
                index,
                topology: step.topology,
                topology_name: self.plan.topologies[step.topology].name().to_string(),
                reconfigured: step.reconfigured,
                transfer_bytes: step.transfer_bytes,
                hops: step.hops,
                load: step.load,
                cost: step.cost,
            })
            .collect()
    }

    #[getter]
    fn topologies(&self) -> Vec<PyTopology> {
        self.plan.topologies.iter().cloned().map(PyTopology).collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "Plan('{}', algorithm='{}', planner='{}', gpus={}, total_s={:?}, reconfigurations={})",
            self.plan.collective().name(),
            self.plan.algorithm,
            self.plan.planner,
            self.plan.fabric.shape.gpus(),
            self.plan.total_s(),
            self.plan.reconfigurations()
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
        self.topology
    }

    #[getter]
    fn topology_name(&self) -> &str {
        &self.topology_name
    }

    #[getter]
    fn reconfigured(&self) -> bool {
        self.reconfigured
    }

    #[getter]
    fn transfer_bytes(&self) -> f64 {
        self.transfer_bytes
    }

    #[getter]
    fn hops(&self) -> u32 {
        self.hops
    }

    #[getter]
    fn load(&self) -> f64 {
        self.load
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.cost.startup_s
    }

    #[getter]
    fn propagation_s(&self) -> f64 {
        self.cost.propagation_s
    }

    #[getter]
    fn transmission_s(&self) -> f64 {
        self.cost.transmission_s
    }

    #[getter]
    fn reconfiguration_s(&self) -> f64 {
        self.cost.reconfiguration_s
    }

    #[getter]
    fn total_s(&self) -> f64 {
        self.cost.total_s()
    }

    #[staticmethod]
    fn _of_parts(step: StepTuple, cost: CostTuple) -> Self {
        let (index, topology, topology_name, reconfigured, transfer_bytes, hops, load) = step;
        let (startup_s, propagation_s, transmission_s, reconfiguration_s) = cost;
        let cost = StepCost { startup_s, propagation_s, transmission_s, reconfiguration_s };
        Self { index, topology, topology_name, reconfigured, transfer_bytes, hops, load, cost }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (StepTuple, CostTuple)>> {
        let Self { index, topology, reconfigured, transfer_bytes, hops, load, .. } = *self;
        let step = (index, topology, self.topology_name.clone(), reconfigured, transfer_bytes, hops, load);
        let StepCost { startup_s, propagation_s, transmission_s, reconfiguration_s } = self.cost;
        Ok((of_parts::<Self>(py)?, (step, (startup_s, propagation_s, transmission_s, reconfiguration_s))))
    }

    fn __repr__(&self) -> String {
        format!(
            "Step({}, topology='{}', hops={}, load={:?}, total_s={:?})",
            self.index,
            self.topology_name,
            self.hops,
            self.load,
            self.cost.total_s()
        )
    }
}

#[pymethods]
impl PyComparison {
    #[getter]
    fn rows(&self) -> Vec<PyRow> {
        self.rows.clone()
    }

    #[getter]
    fn lower_bound_s(&self) -> f64 {
        self.lower_bound_s
    }

    #[getter]
    fn bound_class(&self) -> &str {
        &self.bound_class
    }

    #[staticmethod]
    fn _of_parts(rows: Vec<PyRef<'_, PyRow>>, lower_bound_s: f64, bound_class: String) -> Self {
        Self { rows: rows.iter().map(|row| (*row).clone()).collect(), lower_bound_s, bound_class }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (Vec<PyRow>, f64, String)>> {
        Ok((of_parts::<Self>(py)?, (self.rows.clone(), self.lower_bound_s, self.bound_class.clone())))
    }
}

#[pymethods]
impl PyRow {
    #[getter]
    fn planner(&self) -> &str {
        &self.planner
    }

    #[getter]
    fn algorithm(&self) -> &str {
        &self.algorithm
    }

    #[getter]
    fn topology(&self) -> &str {
        &self.topology
    }

    #[getter]
    fn total_s(&self) -> Option<f64> {
        self.total_s
    }

    #[getter]
    fn reconfigurations(&self) -> Option<usize> {
        self.reconfigurations
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.reason
    }

    #[staticmethod]
    fn _of_parts(
        planner: String,
        algorithm: String,
        topology: String,
        total_s: Option<f64>,
        reconfigurations: Option<usize>,
        reason: String,
    ) -> Self {
        Self { planner, algorithm, topology, total_s, reconfigurations, reason }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, RowTuple>> {
        let Self { planner, algorithm, topology, total_s, reconfigurations, reason } = self.clone();
        Ok((of_parts::<Self>(py)?, (planner, algorithm, topology, total_s, reconfigurations, reason)))
    }
}

#[pyfunction]
pub fn plan(py: Python<'_>, request: &PyRequest) -> CoreResult<PyPlan> {
    Ok(PyPlan::made(on_all_cores(py, || lightloom::plan(&request.0))?))
}

#[pyfunction]
pub fn baselines(py: Python<'_>, request: &PyRequest) -> CoreResult<Vec<PyRow>> {
    Ok(on_all_cores(py, || lightloom::baselines(&request.0))?.into_iter().map(PyRow::from).collect())
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
    Ok(PyPlan::made(on_all_cores(py, || lightloom::proved_plan(&request.0, topologies, bound))?))
}

#[pyfunction]
pub fn compare(py: Python<'_>, request: &PyRequest) -> CoreResult<PyComparison> {
    let found = on_all_cores(py, || lightloom::compare(&request.0))?;
    let rows = found.rows.into_iter().map(PyRow::from).collect();
    Ok(PyComparison { rows, lower_bound_s: found.lower_bound_s, bound_class: found.bound_class })
}

#[pyfunction]
pub fn verify_plan(py: Python<'_>, plan: &PyPlan) -> Vec<CheckTuple> {
    checks(&py.detach(|| verify::plan(&plan.plan)))
}
