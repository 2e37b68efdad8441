//! `Request`.

use std::sync::Arc;

use lightloom::{Asked, Request, Size, TopologyRef};
use numpy::PyReadonlyArray2;
use planners::Cache;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::arguments::optional_text;
use crate::fabric::PyFabric;
use crate::input_error::{CoreError, CoreResult};
use crate::interrupts::interruptible;
use crate::keywords::Keywords;
use crate::schedule::{PySchedule, rows_of};
use crate::topology::NameOrTopology;

#[pyclass(name = "Cache", module = "lightloom._core", frozen)]
pub struct PyCache(Arc<Cache>);

#[pymethods]
impl PyCache {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// What it holds can be found again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, ()) {
        (py.get_type::<Self>(), ())
    }
}

#[pyclass(name = "Request", module = "lightloom._core", frozen)]
pub struct PyRequest(pub Request);

#[pymethods]
impl PyRequest {
    /// `options`: those of Python's table of options, by name, as the core takes them: bytes, seconds, lists.
    #[new]
    #[pyo3(signature = (fabric, collective=None, size_bytes=None, size_is_per_pair=false, cache=None, **options))]
    fn new(
        fabric: &Bound<'_, PyFabric>,
        collective: Option<&Bound<'_, PyAny>>,
        size_bytes: Option<u64>,
        size_is_per_pair: bool,
        cache: Option<&PyCache>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let collective = optional_text("collective", collective)?;
        let size = size_bytes.map(|bytes| if size_is_per_pair { Size::PerPair(bytes) } else { Size::Buffer(bytes) });
        let mut options = Keywords::new(options)?;
        let asked = asked_of(collective, size, &mut options)?;
        options.finish()?;
        let cache = cache.map(|PyCache(cache)| cache.clone()).unwrap_or_default();
        let (py, fabric) = (fabric.py(), &fabric.get().0);
        Ok(Self(interruptible(py, || asked.request(fabric, cache))?.map_err(CoreError::from)?))
    }

    /// The most GPUs, up to the request's own, for which the algorithm that it names fits.
    fn most_gpus(&self) -> Option<u32> {
        lightloom::most_gpus(&self.0)
    }

    #[getter]
    fn ports(&self) -> u32 {
        self.0.fabric.shape.ports()
    }

    #[getter]
    fn collective(&self) -> &'static str {
        self.0.collective().name()
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.0.fabric.shape.gpus()
    }

    #[getter]
    fn size_bytes(&self) -> CoreResult<u64> {
        Ok(self.0.size_bytes()?)
    }
}

fn asked_of(collective: Option<String>, size: Option<Size>, given: &mut Keywords<'_>) -> CoreResult<Asked> {
    Ok(Asked {
        collective,
        size,
        algorithm: given.text("algorithm")?,
        radix: given.value("radix")?,
        root: given.value("root")?,
        schedule: given.value::<Bound<'_, PySchedule>>("schedule")?.map(|schedule| schedule.get().0.clone()),
        matrix: given.value::<PyReadonlyArray2<'_, f64>>("matrix")?.map(|matrix| rows_of(&matrix)),
        planner: given.text("planner")?,
        convention: given.text("convention")?,
        routing: given.text("routing")?,
        overlap: given.text("overlap")?,
        candidates: topologies(given, "candidates")?,
        topology: topologies(given, "topology")?,
        chunk_bytes: given.value("chunk_size")?,
        optical_ports: given.value("optical_ports")?,
        budget_s: given.value("budget")?,
        seed: given.value("seed")?,
    })
}

fn topologies(given: &mut Keywords<'_>, name: &str) -> CoreResult<Option<Vec<TopologyRef>>> {
    let items = given.value::<Vec<NameOrTopology<'_>>>(name)?;
    let items = items.map(|items| items.into_iter().map(TopologyRef::from).collect());
    Ok(items)
}
