//! `Fabric`.

use std::collections::BTreeMap;

use model::{Fabric, Initial, ReconfigurationOverlap, ReconfigurationPolicy, Shape, Window};
use pyo3::prelude::*;

use crate::input_error::CoreResult;
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
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the fields of a fabric")]
    fn new(
        gpus: u32,
        dims: Vec<u32>,
        ports: u32,
        bandwidth_bps: f64,
        startup_s: f64,
        hop_delay_s: f64,
        reconfiguration_delay: &PyReconfigurationDelay,
        background_reconfiguration: bool,
        window_s: f64,
        windows_s: BTreeMap<usize, f64>,
        initial: Option<NameOrTopology<'_>>,
    ) -> CoreResult<Self> {
        let shape = Shape::new(gpus, &dims, ports)?;
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
        let window = Window { every_s: window_s, steps: windows_s };
        let overlap = ReconfigurationOverlap { background: background_reconfiguration, window };
        let fabric = Fabric {
            shape,
            bandwidth_bps,
            startup_s,
            hop_delay_s,
            reconfiguration: ReconfigurationPolicy::new(reconfiguration_delay.0.clone(), overlap),
            initial,
        };
        fabric.check()?;
        Ok(Self { fabric, initial_is_open })
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
    fn windows_s(&self) -> (f64, BTreeMap<usize, f64>) {
        let Window { every_s, steps } = &self.fabric.reconfiguration.overlap().window;
        (*every_s, steps.clone())
    }
}
