//! `Fabric`.

use std::collections::BTreeMap;

use lightloom::{AskedFabric, StatedFabric, TopologyRef};
use model::{OpticalLayer, ReconfigurationOverlap, Window};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::input_error::CoreResult;
use crate::keywords::Keywords;
use crate::reconfiguration_delay::PyReconfigurationDelay;
use crate::topology::NameOrTopology;

#[pyclass(name = "Fabric", module = "lightloom._core", frozen)]
pub struct PyFabric(pub StatedFabric);

#[pymethods]
impl PyFabric {
    /// `settings`: the fields of Python's `Fabric` as the core takes them, in seconds and bits per second.
    #[new]
    #[pyo3(signature = (initial=None, **settings))]
    fn new(initial: Option<NameOrTopology<'_>>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Keywords::new(settings)?;
        let fabric = Self::of(initial, &mut given)?;
        given.finish()?;
        Ok(fabric)
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.0.fabric.startup_s
    }

    #[getter]
    fn hop_delay_s(&self) -> f64 {
        self.0.fabric.hop_delay_s
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

impl PyFabric {
    fn of(initial: Option<NameOrTopology<'_>>, given: &mut Keywords<'_>) -> CoreResult<Self> {
        let delay: Bound<'_, PyReconfigurationDelay> = given.required("reconfiguration_delay")?;
        let window = Window { every_s: given.required("window_s")?, steps: given.required("windows_s")? };
        let asked = AskedFabric {
            gpus: given.required("gpus")?,
            dims: given.required("dims")?,
            ports: given.required("ports")?,
            bandwidth_bps: given.required("bandwidth_bps")?,
            startup_s: given.required("startup_s")?,
            hop_delay_s: given.required("hop_delay_s")?,
            reconfiguration_delay: delay.get().0.clone(),
            overlap: ReconfigurationOverlap { background: given.required("background_reconfiguration")?, window },
            initial: initial.map(TopologyRef::from),
            optics: given.text("optics")?,
        };
        Ok(Self(asked.stated()?))
    }
}
