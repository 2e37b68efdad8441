//! `Fabric`.

use std::collections::BTreeMap;

use model::{Fabric, Initial, OpticalLayer, ReconfigurationOverlap, ReconfigurationPolicy, Shape, Window};
use optics::Optics;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::input_error::CoreResult;
use crate::keywords::Keywords;
use crate::reconfiguration_delay::PyReconfigurationDelay;
use crate::topology::NameOrTopology;

#[pyclass(name = "Fabric", module = "lightloom._core", frozen)]
pub struct PyFabric {
    /// The fabric; its start is free where `initial_is_open`.
    pub fabric: Fabric,
    /// Whether nothing was said about the initial topology.
    pub initial_is_open: bool,
}

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
        self.fabric.startup_s
    }

    #[getter]
    fn hop_delay_s(&self) -> f64 {
        self.fabric.hop_delay_s
    }

    #[getter]
    fn reconfiguration(&self) -> PyReconfigurationDelay {
        PyReconfigurationDelay(self.fabric.reconfiguration.delay().clone())
    }

    #[getter]
    fn background_reconfiguration(&self) -> bool {
        self.fabric.reconfiguration.overlap().background
    }

    #[getter]
    fn optical_layer(&self) -> Option<&str> {
        self.fabric.optics.as_ref().map(OpticalLayer::spelling)
    }

    #[getter]
    fn windows_s(&self) -> (f64, BTreeMap<usize, f64>) {
        let Window { every_s, steps } = &self.fabric.reconfiguration.overlap().window;
        (*every_s, steps.clone())
    }
}

/// # Errors
/// A kind that there is not, or one that does not go with the GPUs.
fn optical_layer(spelling: &str, shape: &Shape) -> CoreResult<OpticalLayer> {
    Optics::parse(spelling)?.port_map(shape)?;
    Ok(OpticalLayer::new(spelling)?)
}

impl PyFabric {
    fn of(initial: Option<NameOrTopology<'_>>, given: &mut Keywords<'_>) -> CoreResult<Self> {
        let dims: Vec<u32> = given.required("dims")?;
        let shape = Shape::new(given.required("gpus")?, &dims, given.required("ports")?)?;
        let initial_is_open = initial.is_none();
        let initial = match initial {
            None => Initial::Free,
            Some(NameOrTopology::Name(name)) if name == "free" => Initial::Free,
            Some(NameOrTopology::Name(name)) => {
                let initial = topologies::build(&name, &shape).map_err(|error| error.in_field("initial"));
                Initial::Topology(initial?)
            }
            Some(NameOrTopology::Topology(topology)) => Initial::Topology(topology.get().0.clone()),
        };
        let window = Window { every_s: given.required("window_s")?, steps: given.required("windows_s")? };
        let overlap = ReconfigurationOverlap { background: given.required("background_reconfiguration")?, window };
        let delay: Bound<'_, PyReconfigurationDelay> = given.required("reconfiguration_delay")?;
        let optics = given.text("optics")?.map(|spelling| optical_layer(&spelling, &shape)).transpose()?;
        let fabric = Fabric {
            shape,
            bandwidth_bps: given.required("bandwidth_bps")?,
            startup_s: given.required("startup_s")?,
            hop_delay_s: given.required("hop_delay_s")?,
            reconfiguration: ReconfigurationPolicy::new(delay.get().0.clone(), overlap),
            initial,
            optics,
        };
        fabric.check()?;
        Ok(Self { fabric, initial_is_open })
    }
}
