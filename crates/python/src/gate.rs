//! A gate, which holds steps back until their circuits are up: the controller's side, and a rank's.

use std::path::PathBuf;

use gate::{Controller, LightloomGateStatus, Progress, Rank};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::input_error::CoreResult;

/// Time after which a wait returns, so that signals are heard.
const HEARD_NS: u64 = 50_000_000;

/// The gate of a controller, which is there until it is closed.
#[pyclass(name = "Gate", module = "lightloom._core")]
pub struct PyGate(Option<Controller>);

#[pymethods]
impl PyGate {
    #[new]
    fn new(path: PathBuf, ranks: u32, steps: u32) -> CoreResult<Self> {
        Ok(Self(Some(Controller::create(&path, ranks, steps)?)))
    }

    fn publish(&self, up: u64) {
        if let Some(controller) = &self.0 {
            controller.publish(up);
        }
    }

    /// `done`, `waiting` after at most 50 ms, `left` or `lost`; and the rank that was lost.
    fn wait_done(&self, py: Python<'_>, steps: u64) -> (&'static str, Option<u32>) {
        let Some(controller) = &self.0 else { return ("left", None) };
        match py.detach(|| controller.wait_done(steps, runtime::now_ns() + HEARD_NS)) {
            Progress::Done => ("done", None),
            Progress::Waiting => ("waiting", None),
            Progress::AllLeft => ("left", None),
            Progress::Lost(rank) => ("lost", Some(rank)),
        }
    }

    /// The steps that all ranks are done with.
    #[getter]
    fn done(&self) -> u64 {
        self.0.as_ref().map_or(0, Controller::done)
    }

    /// Tells the ranks that a rank was lost, or that a switch failed.
    #[pyo3(signature = (lost=None))]
    fn fail(&self, lost: Option<u32>) {
        let status = lost.map_or(LightloomGateStatus::SwitchFailed, |_| LightloomGateStatus::RankLost);
        if let Some(controller) = &self.0 {
            controller.end(status, lost.unwrap_or(0));
        }
    }

    /// Tells the ranks that the gate is closed, unless they were told of a failure, and removes its file.
    fn close(&mut self) {
        self.0 = None;
    }
}

/// The gate of a rank, which is open until it is closed.
#[pyclass(name = "GateRank", module = "lightloom._core")]
pub struct PyGateRank(Option<Rank>);

#[pymethods]
impl PyGateRank {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, rank: u32, timeout_s: f64) -> PyResult<Self> {
        let opened = py.detach(|| Rank::open(&path, rank, nanoseconds(timeout_s)));
        let refused = |status| PyOSError::new_err(format!("gate {}: {}", path.display(), words(status)));
        Ok(Self(Some(opened.map_err(refused)?)))
    }

    /// The steps of one run of the plan.
    #[getter]
    fn steps(&self) -> u32 {
        self.0.as_ref().map_or(0, Rank::steps)
    }

    /// The rank that was lost.
    #[getter]
    fn lost(&self) -> Option<u32> {
        self.0.as_ref().and_then(Rank::lost)
    }

    /// `done` once the circuits of a step are up, or why they are not.
    fn wait_for(&self, py: Python<'_>, step: u64, timeout_s: f64) -> PyResult<String> {
        let until_ns = runtime::now_ns().saturating_add(nanoseconds(timeout_s));
        let Some(rank) = &self.0 else { return Ok(name(LightloomGateStatus::Closed)) };
        loop {
            let now_ns = runtime::now_ns();
            let waited = py.detach(|| rank.wait_for(step, HEARD_NS.min(until_ns.saturating_sub(now_ns))));
            match waited {
                Err(LightloomGateStatus::TimedOut) if runtime::now_ns() < until_ns => py.check_signals()?,
                Err(status) => return Ok(name(status)),
                Ok(()) => return Ok(name(LightloomGateStatus::Done)),
            }
        }
    }

    /// Says that the rank is done with a step; `done`, or `wrong-input` for one whose circuits have not been up.
    fn done(&self, step: u64) -> String {
        let said = self.0.as_ref().map_or(Err(LightloomGateStatus::Closed), |rank| rank.done(step));
        name(said.err().unwrap_or(LightloomGateStatus::Done))
    }

    fn close(&mut self) {
        self.0 = None;
    }
}

/// Nanoseconds of seconds; what is more than can be counted is for ever.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn words(status: LightloomGateStatus) -> String {
    status.words().to_string_lossy().into_owned()
}

/// The status as Python has it, such as `rank-lost`.
fn name(status: LightloomGateStatus) -> String {
    let mut found = String::new();
    for letter in format!("{status:?}").chars() {
        if letter.is_uppercase() && !found.is_empty() {
            found.push('-');
        }
        found.push(letter.to_ascii_lowercase());
    }
    found
}
