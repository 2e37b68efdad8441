//! `Request`.

use std::sync::Arc;

use lightloom::{Request, TextRequest, Workload};
use model::Collective;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use training::KnownPlans;

use crate::arguments::optional_text;
use crate::fabric::PyFabric;
use crate::input_error::{CoreError, CoreResult};
use crate::interrupts::interruptible;
use crate::option_values::{given, value_of};

#[pyclass(name = "Cache", module = "lightloom._core", frozen)]
pub struct PyCache(pub Arc<KnownPlans>);

#[pymethods]
impl PyCache {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// For `pickle`: an empty cache, since its contents can be computed again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, ()) {
        (py.get_type::<Self>(), ())
    }
}

#[pyclass(name = "Request", module = "lightloom._core", frozen)]
pub struct PyRequest(pub Request);

#[pymethods]
impl PyRequest {
    /// `size` and `options`: as people write them, by the names of the table of options.
    #[new]
    #[pyo3(signature = (fabric, collective=None, size=None, cache=None, **options))]
    fn new(
        fabric: &Bound<'_, PyFabric>,
        collective: Option<&Bound<'_, PyAny>>,
        size: Option<&Bound<'_, PyAny>>,
        cache: Option<&PyCache>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let asked = Self::asked(collective, size, options)?;
        let cache = cache.map(|PyCache(known)| known.requests.cache.clone()).unwrap_or_default();
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

    /// The bytes that plans state as `traffic_bytes`.
    #[getter]
    fn traffic_bytes(&self) -> CoreResult<Option<u64>> {
        let share = match &self.0.workload {
            Workload::Schedule(schedule) => schedule.chunks().exchanged_share(),
            Workload::Matrix(blocks) => blocks.whole().chunks().exchanged_share(),
            Workload::Collective { collective: Collective::AllToAll, .. } => Some(f64::from(self.gpus() - 1)),
            Workload::Collective { .. } => None,
        };
        let size_bytes = self.0.size_bytes()? as f64;
        Ok(share.map(|share| (share * size_bytes).round() as u64))
    }
}

impl PyRequest {
    fn asked(
        collective: Option<&Bound<'_, PyAny>>,
        size: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> CoreResult<TextRequest> {
        let size = size.map(value_of).transpose()?.map(|size| size.size("size")).transpose()?;
        let collective = optional_text("collective", collective)?;
        Ok(TextRequest { collective, size, ..TextRequest::read(&given(options)?)? })
    }
}
