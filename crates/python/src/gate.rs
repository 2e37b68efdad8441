//! The controller's side of a gate, which holds steps back until their circuits are up.

use std::path::PathBuf;

use gate::{Controller, LightloomGateStatus, Progress};
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
