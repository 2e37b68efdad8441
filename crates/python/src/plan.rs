//! `Plan` and the verbs that make and judge it.

use std::sync::{Arc, OnceLock};

use lightloom::StatedFabric;
use model::{Error, Plan, Result};
use pyo3::prelude::*;

use crate::arguments;
use crate::checks::{CheckTuple, checks};
use crate::fabric::PyFabric;
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::parallel::on_all_cores;
use crate::pickles::Reduced;
use crate::plan_data::{self, ChunkArrays, RouteArrays, TransferArrays};
use crate::reconfiguration_delay::PyReconfigurationDelay;
use crate::request::PyRequest;
use crate::step::{StepTuple, step_tuple};
use crate::topology::PyTopology;

#[pyclass(name = "Plan", module = "lightloom._core", frozen)]
pub struct PyPlan {
    pub plan: Plan,
    /// The verifier's verdict, once it was asked; `Ok` for a plan that was made here.
    judged: OnceLock<Result<()>>,
}

impl PyPlan {
    /// A plan that has passed the verifier.
    pub fn made(plan: Plan) -> Self {
        Self { plan, judged: OnceLock::from(Ok(())) }
    }

    /// The plan, as it is to be used: one that was read is judged first.
    ///
    /// # Errors
    /// The verifier's objection to it.
    pub fn judged(&self) -> Result<&Plan> {
        let judge = || match lightloom::verify_plan(&self.plan).first_failure() {
            None => Ok(()),
            Some(check) => {
                Err(Error::malformed("plan", format!("the plan fails the check `{}`: {}", check.name, check.detail)))
            }
        };
        self.judged.get_or_init(judge).clone().map(|()| &self.plan)
    }

    /// [`PyPlan::judged`], called without the interpreter's lock.
    fn judged_without_lock(&self, py: Python<'_>) -> CoreResult<&Plan> {
        Ok(interruptible(py, || self.judged())??)
    }
}

#[pymethods]
impl PyPlan {
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &Bound<'_, PyAny>) -> CoreResult<Self> {
        let text = arguments::text("plan", text)?;
        let plan = interruptible(py, || formats::plan_from_json(&text))??;
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
    fn members(&self) -> u32 {
        self.plan.chunks.members()
    }

    #[getter]
    fn ranks(&self) -> Option<Vec<u32>> {
        let members = self.plan.chunks.members() as usize;
        self.plan.fabric.shape.subset().map(|gpus| gpus[..members].to_vec())
    }

    #[getter]
    fn fabric_gpus(&self) -> u32 {
        self.plan.fabric.shape.fabric_gpus()
    }

    /// The electrical switches of islands: GPUs, rate and delay of a hop.
    #[getter]
    fn electrical(&self) -> Option<(u32, f64, f64)> {
        let switch = self.plan.fabric.electrical?;
        Some((switch.gpus, switch.bandwidth_bps, switch.hop_delay_s))
    }

    fn has_same_bits(&self, py: Python<'_>) -> CoreResult<bool> {
        interruptible(py, || lightloom::has_same_bits(&self.plan))
    }

    #[getter]
    fn uses_electrical(&self) -> bool {
        self.plan.steps.iter().any(|step| step.electrical_load > 0.0)
    }

    #[getter]
    fn failed(&self) -> Vec<String> {
        self.plan.fabric.shape.faults().all().iter().map(ToString::to_string).collect()
    }

    /// The same plan on a fabric that has no other GPUs.
    fn by_rank(&self) -> CoreResult<Self> {
        let parts = model::PlanParts::clone(&self.plan);
        let shape = &parts.fabric.shape;
        let ranks: Vec<u32> = (0..shape.gpus()).map(|rank| shape.gpu_of(rank)).collect();
        let alike = model::Shape::new(shape.gpus(), shape.dims(), shape.ports())?;
        let alike = alike.with_faults(shape.faults().among(&ranks))?;
        let alike = alike.at_positions(shape.positions().map(|places| Arc::new(places.among(&ranks))))?;
        let shape = alike.with_rates(shape.rates().cloned()).with_pairs(shape.pairs().cloned())?;
        let fabric = model::Fabric { shape, ..parts.fabric.clone() };
        Ok(Self { plan: Plan::new(model::PlanParts { fabric, ..parts })?, judged: OnceLock::new() })
    }

    #[getter]
    fn size_bytes(&self) -> u64 {
        self.plan.size_bytes
    }

    #[getter]
    fn traffic_bytes(&self) -> Option<u64> {
        let share = self.plan.chunks.exchanged_share()?;
        Some((share * self.plan.size_bytes as f64).round() as u64)
    }

    #[getter]
    fn total_s(&self) -> f64 {
        self.plan.total_s()
    }

    #[getter]
    fn repeated_s(&self) -> f64 {
        self.plan.repeated_s()
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
    fn root(&self) -> Option<u32> {
        self.plan.chunks.root()
    }

    #[getter]
    fn fabric(&self) -> PyFabric {
        let barrier = model::Barrier::Constant(self.plan.fabric.barrier_s);
        PyFabric(StatedFabric { fabric: self.plan.fabric.clone(), initial_is_open: false, barrier })
    }

    #[getter]
    fn ports(&self) -> u32 {
        self.plan.fabric.shape.ports()
    }

    /// The rate of all ports, or of each where they differ.
    #[getter]
    fn rates_bps(&self) -> Vec<f64> {
        self.plan.fabric.rates_of_ports_bps()
    }

    #[getter]
    fn optics(&self) -> Option<&str> {
        self.plan.fabric.optics.as_ref().map(model::OpticalLayer::spelling)
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
    fn steps(&self) -> Vec<StepTuple> {
        self.plan.steps.iter().map(step_tuple).collect()
    }

    #[getter]
    fn topologies(&self) -> Vec<PyTopology> {
        self.plan.topologies.iter().cloned().map(PyTopology).collect()
    }

    fn transfers<'py>(&self, py: Python<'py>, step: &Bound<'_, PyAny>) -> CoreResult<TransferArrays<'py>> {
        let plan = self.judged_without_lock(py)?;
        plan_data::transfers(py, plan, plan_data::step_of(plan, step)?)
    }

    fn routes<'py>(&self, py: Python<'py>, step: &Bound<'_, PyAny>) -> CoreResult<RouteArrays<'py>> {
        let plan = self.judged_without_lock(py)?;
        plan_data::routes(py, plan_data::step_of(plan, step)?)
    }

    fn chunks<'py>(&self, py: Python<'py>) -> CoreResult<ChunkArrays<'py>> {
        Ok(plan_data::chunks(py, self.judged_without_lock(py)?))
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.plan.fabric.startup_s
    }

    #[getter]
    fn barrier_s(&self) -> f64 {
        self.plan.fabric.barrier_s
    }

    #[getter]
    fn hop_delay_s(&self) -> f64 {
        self.plan.fabric.hop_delay_s
    }

    #[getter]
    fn longest_hop_delay_s(&self) -> f64 {
        self.plan.longest_hop_delay_s()
    }

    #[getter]
    fn positions(&self) -> Option<String> {
        self.plan.fabric.shape.positions().map(ToString::to_string)
    }

    #[getter]
    fn pair_rates(&self) -> Option<String> {
        self.plan.fabric.shape.pairs().map(ToString::to_string)
    }

    /// By source, then destination, the rate in bit/s and the hop delay in s of a circuit between two ranks; those of a
    /// rank with itself are the best. Empty where all pairs are alike.
    #[getter]
    fn rates_by_pair(&self) -> Vec<(f64, f64)> {
        let Some(pairs) = self.plan.fabric.shape.pairs() else { return Vec::new() };
        let of = |src: u32, dst: u32| match src == dst {
            true => (pairs.fastest_bps(), pairs.least_hop_delay_s()),
            false => (pairs.rate_bps(src, dst), pairs.hop_delay_s(src, dst)),
        };
        (0..pairs.gpus()).flat_map(|src| (0..pairs.gpus()).map(move |dst| of(src, dst))).collect()
    }

    /// The GPU of each rank, so that fibres are short.
    fn shortest_order(&self, py: Python<'_>) -> CoreResult<Vec<u32>> {
        Ok(interruptible(py, || lightloom::shortest_order(&self.plan))??)
    }

    #[getter]
    fn dims(&self) -> Vec<u32> {
        self.plan.fabric.shape.dims().to_vec()
    }

    #[getter]
    fn reconfiguration_delay(&self) -> PyReconfigurationDelay {
        PyReconfigurationDelay(self.plan.fabric.reconfiguration.delay().clone())
    }

    #[getter]
    fn explanations(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| lightloom::explain(&self.plan))
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

#[pyfunction]
pub fn plan_on(py: Python<'_>, request: &PyRequest, sequence: Vec<PyRef<'_, PyTopology>>) -> CoreResult<PyPlan> {
    let sequence: Vec<_> = sequence.iter().map(|topology| topology.0.clone()).collect();
    Ok(PyPlan::made(on_all_cores(py, || lightloom::plan_on(&request.0, &sequence))?))
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
pub fn verify_plan(py: Python<'_>, plan: &PyPlan) -> CoreResult<Vec<CheckTuple>> {
    Ok(checks(&interruptible(py, || lightloom::verify_plan(&plan.plan))?))
}
