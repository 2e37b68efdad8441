//! `Problem` and `profile`.

use ::fronts::RoutingNetwork;
use model::{Error, Initial, Routing, Traffic, TrafficEntry, Translations};
use planners::Problem;
use pyo3::prelude::*;

use crate::arguments::text;
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::parallel::on_all_cores;
use crate::request::PyRequest;
use crate::topology::PyTopology;

#[pyclass(name = "Problem", module = "lightloom._core", frozen)]
pub struct PyProblem(Problem);

#[pymethods]
impl PyProblem {
    #[new]
    fn new(py: Python<'_>, request: &PyRequest) -> CoreResult<Self> {
        Ok(Self(on_all_cores(py, || lightloom::problem(&request.0))?))
    }

    #[getter]
    fn algorithm(&self) -> &str {
        self.0.schedule().algorithm()
    }

    #[getter]
    fn steps(&self) -> usize {
        self.0.schedule().steps().len()
    }

    #[getter]
    fn candidates(&self) -> Vec<PyTopology> {
        (0..self.0.table.candidates()).map(|index| PyTopology(self.0.table.candidate(index).clone())).collect()
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.0.fabric.shape.gpus()
    }

    #[getter]
    fn ports(&self) -> u32 {
        self.0.fabric.shape.ports()
    }

    #[getter]
    fn routing(&self) -> &'static str {
        self.0.settings.routing.name()
    }

    #[getter]
    fn initial(&self) -> Option<PyTopology> {
        self.0.start.map(|start| PyTopology(self.0.table.candidate(start).clone()))
    }

    #[getter]
    fn repeated(&self) -> bool {
        self.0.fabric.initial == Initial::Repeated
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.0.rates().startup_s
    }

    #[getter]
    fn hop_s(&self) -> f64 {
        self.0.rates().hop_s
    }

    #[getter]
    fn load_s(&self) -> Vec<f64> {
        self.0.rates().load_s
    }

    #[getter]
    fn constant_change_s(&self) -> CoreResult<f64> {
        Ok(planners::constant_change_s(&self.0)?)
    }

    fn arcs(&self, step: usize) -> CoreResult<Vec<(u32, u32, f64)>> {
        let steps = self.0.schedule().steps();
        let accepts = || format!("an index below {}", steps.len());
        let step = steps.get(step).ok_or_else(|| Error::value("step", step, accepts()))?;
        Ok(step.traffic().expanded().into_iter().map(|arc| (arc.src, arc.dst, arc.weight)).collect())
    }
}

#[pyfunction]
pub fn profile(
    py: Python<'_>,
    topology: &PyTopology,
    traffic: Vec<(u32, u32, f64)>,
    routing: &Bound<'_, PyAny>,
) -> CoreResult<Vec<(u32, f64, f64)>> {
    let routing = Routing::parse(&text("routing", routing)?)?;
    let arcs = traffic.into_iter().map(|(src, dst, weight)| TrafficEntry { src, dst, weight });
    let traffic = Traffic::new(Translations::trivial(topology.0.ranks()), arcs)?.with_found_symmetry();
    if traffic.arcs().is_empty() {
        return Err(Error::value("traffic", "no transfers", "at least one transfer").into());
    }
    let front = interruptible(py, || RoutingNetwork::new(&topology.0).front(&traffic, routing))?;
    let points = front.as_ref().map_or(&[][..], |front| front.points());
    Ok(points.iter().map(|point| (point.hops, point.load, point.lower)).collect())
}
