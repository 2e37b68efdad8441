//! `Request`.

use std::sync::Arc;
use std::time::Duration;

use collectives::Options;
use lightloom::{Request, Size, TopologyRef, Workload};
use model::{Collective, Convention, Error, Overlap, Routing};
use numpy::PyReadonlyArray2;
use planners::{Cache, PlannerOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::arguments::optional_text;
use crate::fabric::PyFabric;
use crate::input_error::CoreResult;
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
        fabric: &PyFabric,
        collective: Option<&Bound<'_, PyAny>>,
        size_bytes: Option<u64>,
        size_is_per_pair: bool,
        cache: Option<&PyCache>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let collective = optional_text("collective", collective)?;
        let size = size_bytes.map(|bytes| if size_is_per_pair { Size::PerPair(bytes) } else { Size::Buffer(bytes) });
        let mut options = Keywords::new(options)?;
        let mut request = request_of(fabric, collective.as_deref(), size, &mut options)?;
        if let Some(PyCache(cache)) = cache {
            request.cache = cache.clone();
        }
        options.finish()?;
        Ok(Self(request))
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

fn request_of(
    fabric: &PyFabric,
    collective: Option<&str>,
    size: Option<Size>,
    given: &mut Keywords<'_>,
) -> CoreResult<Request> {
    let collective = collective.map(Collective::parse).transpose()?;
    let planner = given.text("planner")?;
    let convention = Convention::select(given.text("convention")?.as_deref(), planner.as_deref())?;
    let routing = given.text("routing")?.as_deref().map(Routing::parse).transpose()?;
    let matrix = given.value::<PyReadonlyArray2<'_, f64>>("matrix")?.map(|matrix| rows_of(&matrix));
    let schedule = given.value::<Bound<'_, PySchedule>>("schedule")?.map(|schedule| schedule.get().0.clone());
    let refuse = |seconds: f64| Error::value("budget", seconds, "a time above zero that a clock can count");
    let budget = given.value("budget")?.map(|s| Duration::try_from_secs_f64(s).map_err(|_| refuse(s))).transpose()?;
    let options = Options { radix: given.value("radix")?, root: given.value("root")? };
    let (workload, size) = Workload::select(collective, given.text("algorithm")?, options, schedule, matrix, size)?;
    let size = size.ok_or_else(|| Error::value("size", "nothing", "a size such as 64MiB"))?;
    let request = Request {
        fabric: fabric.fabric.clone(),
        workload,
        size,
        settings: convention.settings,
        routing_is_given: routing.is_some(),
        planner,
        candidates: topologies(given, "candidates")?,
        static_topologies: topologies(given, "topology")?,
        options: PlannerOptions {
            chunk_bytes: given.value("chunk_size")?,
            optical_ports: given.value("optical_ports")?,
            budget,
        },
        seed: given.value("seed")?.unwrap_or(0),
        cache: Arc::default(),
    };
    let mut request = request.assume(convention, routing, fabric.initial_is_open)?;
    if let Some(overlap) = given.text("overlap")? {
        request.settings.overlap = Overlap::parse(&overlap)?;
    }
    Ok(request)
}

fn topologies(given: &mut Keywords<'_>, name: &str) -> CoreResult<Option<Vec<TopologyRef>>> {
    let items = given.value::<Vec<NameOrTopology<'_>>>(name)?;
    let items = items.map(|items| {
        let known = items.into_iter().map(|item| match item {
            NameOrTopology::Name(name) => TopologyRef::Named(name),
            NameOrTopology::Topology(topology) => TopologyRef::Given(topology.get().0.clone()),
        });
        known.collect()
    });
    Ok(items)
}
