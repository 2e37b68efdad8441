//! `Request`.

use std::time::Duration;

use collectives::Options;
use lightloom::{Request, Size, TopologyRef, Workload};
use model::{Collective, Convention, Error, Overlap, Routing};
use numpy::PyReadonlyArray2;
use planners::PlannerOptions;
use pyo3::prelude::*;

use crate::arguments::optional_text;
use crate::fabric::PyFabric;
use crate::input_error::CoreResult;
use crate::schedule::{PySchedule, rows_of};
use crate::topology::NameOrTopology;

#[pyclass(name = "Request", module = "lightloom._core", frozen)]
pub struct PyRequest(pub Request);

#[pymethods]
impl PyRequest {
    #[new]
    #[pyo3(signature = (
        fabric, collective=None, size_bytes=None, size_is_per_pair=false, algorithm=None, radix=None, planner=None,
        candidates=None, topologies=None, routing=None, convention=None, schedule=None, matrix=None, chunk_bytes=None,
        optical_ports=None, overlap=None, seed=0, budget_s=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "the fields of a request")]
    fn new(
        fabric: &PyFabric,
        collective: Option<&Bound<'_, PyAny>>,
        size_bytes: Option<u64>,
        size_is_per_pair: bool,
        algorithm: Option<&Bound<'_, PyAny>>,
        radix: Option<u32>,
        planner: Option<&Bound<'_, PyAny>>,
        candidates: Option<Vec<NameOrTopology<'_>>>,
        topologies: Option<Vec<NameOrTopology<'_>>>,
        routing: Option<&Bound<'_, PyAny>>,
        convention: Option<&Bound<'_, PyAny>>,
        schedule: Option<&PySchedule>,
        matrix: Option<PyReadonlyArray2<'_, f64>>,
        chunk_bytes: Option<u64>,
        optical_ports: Option<u32>,
        overlap: Option<&Bound<'_, PyAny>>,
        seed: u64,
        budget_s: Option<f64>,
    ) -> CoreResult<Self> {
        let collective = optional_text("collective", collective)?;
        let collective = collective.as_deref().map(Collective::parse).transpose()?;
        let algorithm = optional_text("algorithm", algorithm)?;
        let planner = optional_text("planner", planner)?;
        let convention = optional_text("convention", convention)?;
        let size = size_bytes.map(|bytes| if size_is_per_pair { Size::PerPair(bytes) } else { Size::Buffer(bytes) });
        let convention = Convention::select(convention.as_deref(), planner.as_deref())?;
        let routing = optional_text("routing", routing)?.as_deref().map(Routing::parse).transpose()?;
        let matrix = matrix.map(|matrix| rows_of(&matrix));
        let schedule = schedule.map(|schedule| schedule.0.clone());
        let refuse = |seconds: f64| Error::value("budget", seconds, "a time above zero that a clock can count");
        let budget = budget_s.map(|s| Duration::try_from_secs_f64(s).map_err(|_| refuse(s))).transpose()?;
        let options = Options { radix, ..Options::default() };
        let (workload, size) = Workload::select(collective, algorithm, options, schedule, matrix, size)?;
        let size = size.ok_or_else(|| Error::value("size", "nothing", "a size such as 64MiB"))?;
        let list = |items: Vec<NameOrTopology<'_>>| {
            items
                .into_iter()
                .map(|item| match item {
                    NameOrTopology::Name(name) => TopologyRef::Named(name),
                    NameOrTopology::Topology(topology) => TopologyRef::Given(topology.get().0.clone()),
                })
                .collect()
        };
        let request = Request {
            fabric: fabric.fabric.clone(),
            workload,
            size,
            settings: convention.settings,
            routing_is_given: routing.is_some(),
            planner,
            candidates: candidates.map(list),
            static_topologies: topologies.map(list),
            options: PlannerOptions { chunk_bytes, optical_ports, budget },
            seed,
        };
        let mut request = request.assume(convention, routing, fabric.initial_is_open)?;
        if let Some(overlap) = optional_text("overlap", overlap)? {
            request.settings.overlap = Overlap::parse(&overlap)?;
        }
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
}
