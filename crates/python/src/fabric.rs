//! `Fabric`, and the options that describe one.

use std::collections::BTreeMap;

use lightloom::{StatedFabric, TextFabric};
use model::{Barrier, OpticalLayer, Window};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::input_error::CoreResult;
use crate::option_values::{given, value_of};
use crate::reconfiguration_delay::PyReconfigurationDelay;

#[pyclass(name = "FabricOptions", module = "lightloom._core", frozen)]
pub struct PyFabricOptions(TextFabric);

#[pymethods]
impl PyFabricOptions {
    /// `options`: those of a fabric, as people write them.
    #[new]
    #[pyo3(signature = (**options))]
    fn new(options: Option<&Bound<'_, PyDict>>) -> CoreResult<Self> {
        Ok(Self(TextFabric::read(&given(options)?)?))
    }

    #[getter]
    fn dims(&self) -> Vec<u32> {
        self.0.dims.clone()
    }

    /// The rate of all ports, or of each.
    #[getter]
    fn rates_bps(&self) -> Vec<f64> {
        self.0.bandwidth_bps.clone()
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.0.startup_s
    }

    #[getter]
    fn hop_delay_s(&self) -> f64 {
        self.0.hop_delay_s
    }

    #[getter]
    fn has_barrier(&self) -> bool {
        self.0.barrier != Barrier::NONE
    }

    /// The barrier of so many GPUs.
    fn barrier_s(&self, gpus: u32) -> CoreResult<f64> {
        Ok(self.0.barrier.seconds("barrier", gpus)?)
    }

    /// The delay on so many GPUs, or as it is written where their number is open.
    fn reconfiguration(&self, gpus: Option<u32>) -> PyReconfigurationDelay {
        let delay = &self.0.reconfiguration_delay;
        PyReconfigurationDelay(gpus.map_or_else(|| delay.clone(), |gpus| delay.on(gpus)))
    }

    #[getter]
    fn windows_s(&self) -> (f64, BTreeMap<usize, f64>) {
        let Window { every_s, steps } = &self.0.overlap.window;
        (*every_s, steps.clone())
    }

    /// The fabric of this many GPUs, with this topology before the first step.
    fn fabric(&self, gpus: u32, initial: Option<&Bound<'_, PyAny>>) -> CoreResult<PyFabric> {
        let initial = initial.map(|initial| Ok::<_, PyErr>(value_of(initial)?.topology("initial"))).transpose()?;
        let asked = TextFabric { gpus: Some(gpus), initial: initial.transpose()?, ..self.0.clone() };
        Ok(PyFabric(asked.stated()?))
    }
}

#[pyclass(name = "Fabric", module = "lightloom._core", frozen)]
pub struct PyFabric(pub StatedFabric);

#[pymethods]
impl PyFabric {
    /// The rate of all ports, or of each.
    #[getter]
    fn rates_bps(&self) -> Vec<f64> {
        self.0.fabric.rates_of_ports_bps()
    }

    /// The parts that do not work, as they are spelled.
    #[getter]
    fn failed(&self) -> Vec<String> {
        self.0.fabric.shape.faults().all().iter().map(ToString::to_string).collect()
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.0.fabric.startup_s
    }

    #[getter]
    fn barrier_s(&self) -> f64 {
        self.0.fabric.barrier_s
    }

    #[getter]
    fn hop_delay_s(&self) -> f64 {
        self.0.fabric.hop_delay_s
    }

    #[getter]
    fn positions(&self) -> Option<String> {
        self.0.fabric.shape.positions().map(ToString::to_string)
    }

    #[getter]
    fn pair_rates(&self) -> Option<String> {
        self.0.fabric.shape.pairs().map(ToString::to_string)
    }

    /// The least and the largest rate of all pairs of GPUs, then hop delay; nothing where all are alike.
    #[getter]
    fn pair_ranges(&self) -> Option<[(f64, f64); 2]> {
        let pairs = self.0.fabric.shape.pairs()?;
        let slowest_bps = pairs.rates_bps().last().copied()?;
        let delays_s = (pairs.least_hop_delay_s(), pairs.longest_hop_delay_s());
        Some([(slowest_bps, pairs.fastest_bps()), delays_s])
    }

    #[getter]
    fn reconfiguration(&self) -> PyReconfigurationDelay {
        PyReconfigurationDelay(self.0.fabric.reconfiguration.delay().clone())
    }

    #[getter]
    fn background_reconfiguration(&self) -> bool {
        self.0.fabric.reconfiguration.overlap().background
    }

    #[getter]
    fn optical_layer(&self) -> Option<&str> {
        self.0.fabric.optics.as_ref().map(OpticalLayer::spelling)
    }

    #[getter]
    fn windows_s(&self) -> (f64, BTreeMap<usize, f64>) {
        let Window { every_s, steps } = &self.0.fabric.reconfiguration.overlap().window;
        (*every_s, steps.clone())
    }
}
