//! Ranks that are given from outside, such as those of a PyTorch job: their memory, their collectives, their messages.

use std::num::NonZeroU64;

use model::Error;
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use runtime::{Circuits, Data, Element, Member, Message, Reduction, Task};

use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::plan::PyPlan;

const NANOSECONDS: f64 = 1e9;

/// A plan for one rank, and data of one size.
#[pyclass(name = "Task", module = "lightloom._core", frozen)]
pub struct PyTask(Task);

#[pymethods]
impl PyTask {
    /// elements: in the whole buffer; blocks: of an All-to-All, by source and destination. configurations: by
    /// configuration and transmitter, -1 where it is dark. Times in seconds, `0` where nothing is held back.
    #[new]
    #[pyo3(signature = (plan, rank, element_bytes, *, elements, blocks, ports, configurations, held, dark_s, startup_s, s_per_byte, hop_s))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        plan: &PyPlan,
        rank: u32,
        element_bytes: NonZeroU64,
        elements: Option<u64>,
        blocks: Option<Vec<u64>>,
        ports: u32,
        configurations: Vec<Vec<i64>>,
        held: Vec<u32>,
        dark_s: Vec<f64>,
        startup_s: f64,
        s_per_byte: f64,
        hop_s: f64,
    ) -> CoreResult<Self> {
        let ns = |seconds: f64| (seconds * NANOSECONDS).round() as u64;
        let configurations =
            configurations.iter().map(|one| one.iter().map(|&end| u32::try_from(end).ok()).collect()).collect();
        let circuits = Circuits {
            ports,
            configurations,
            held,
            dark_ns: dark_s.into_iter().map(ns).collect(),
            startup_ns: ns(startup_s),
            ns_per_byte: s_per_byte * NANOSECONDS,
            hop_ns: ns(hop_s),
        };
        let data = match (elements, blocks) {
            (_, Some(blocks)) => Data::Blocks(blocks),
            (Some(elements), None) => Data::Elements(elements),
            (None, None) => Data::OfPlan,
        };
        Ok(Self(interruptible(py, || {
            let program = runtime::program_of(plan.judged()?, element_bytes, &data)?;
            Task::new(&program, circuits, rank).map_err(|why| Error::infeasible("plan", why))
        })??))
    }
}

/// One rank of a group of processes.
#[pyclass(name = "Member", module = "lightloom._core", frozen)]
pub struct PyMember(Member);

#[pymethods]
impl PyMember {
    #[staticmethod]
    fn create(ranks: u32, ports: u32) -> PyResult<Self> {
        Member::create(ranks, ports).map(Self).map_err(PyOSError::new_err)
    }

    #[staticmethod]
    fn join(rank: u32, ranks: u32, ports: u32, address: &str) -> PyResult<Self> {
        Member::join(rank, ranks, ports, address).map(Self).map_err(PyOSError::new_err)
    }

    #[getter]
    fn address(&self) -> String {
        self.0.address()
    }

    fn meet(&self, py: Python<'_>, call: &str, timeout_s: f64) -> PyResult<()> {
        py.detach(|| self.0.meet(call, ns(timeout_s))).map_err(PyOSError::new_err)
    }

    fn watch(&self, call: &str) -> PyResult<()> {
        self.0.watch(call).map_err(PyOSError::new_err)
    }

    fn share(&self, py: Python<'_>, call: &str, numbers: Vec<u64>, timeout_s: f64) -> PyResult<Vec<Vec<u64>>> {
        py.detach(|| self.0.share(call, &numbers, ns(timeout_s))).map_err(PyOSError::new_err)
    }

    /// Moments of the steps, each with the circuits that changed before it, and the end of the last one, nanoseconds.
    #[allow(clippy::too_many_arguments, reason = "those of Python")]
    fn execute(
        &self,
        py: Python<'_>,
        task: &PyTask,
        call: &str,
        dtype: &str,
        reduction: &str,
        input: Option<PyReadonlyArray1<'_, u8>>,
        mut output: PyReadwriteArray1<'_, u8>,
        timeout_s: f64,
    ) -> PyResult<(Vec<(u64, u64)>, u64)> {
        let unknown = |what: &str, name: &str| PyValueError::new_err(format!("no {what} is called `{name}`"));
        let element = Element::named(dtype).ok_or_else(|| unknown("type", dtype))?;
        let reduction = Reduction::named(reduction).ok_or_else(|| unknown("reduction", reduction))?;
        let given = input.as_ref().map(|array| array.as_slice()).transpose()?;
        let taken = output.as_slice_mut()?;
        let carried = py
            .detach(|| self.0.execute(&task.0, call, (element, reduction), given, taken, ns(timeout_s)))
            .map_err(PyOSError::new_err)?;
        let steps = carried.steps.iter().map(|step| (step.started_ns, step.changed)).collect();
        Ok((steps, carried.ended_ns))
    }

    fn send(&self, to: u32, tag: u32, data: PyReadonlyArray1<'_, u8>) -> PyResult<u64> {
        Ok(self.0.ask(Message::Send(to, tag, data.as_slice()?.to_vec())))
    }

    fn receive(&self, source: Option<u32>, tag: u32) -> u64 {
        self.0.ask(Message::Receive(source, tag))
    }

    fn deliver<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Vec<(u64, u32, Bound<'py, PyBytes>)>> {
        let done = py.detach(|| self.0.deliver(ns(timeout_s))).map_err(PyOSError::new_err)?;
        Ok(done.into_iter().map(|one| (one.number, one.peer, PyBytes::new(py, &one.bytes))).collect())
    }

    fn abort(&self, why: &str) {
        self.0.abort(why);
    }

    #[getter]
    fn failure(&self) -> Option<String> {
        self.0.failure()
    }

    fn leave(&self) {
        self.0.leave();
    }
}

fn ns(seconds: f64) -> u64 {
    (seconds * NANOSECONDS) as u64
}
