//! Settings of some planners in addition to the problem.

use std::sync::Arc;
use std::time::{Duration, Instant};

use compositions::Given;
use model::Fabric;

use crate::Listener;

/// Settings that some planners take. All are left out by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannerOptions {
    /// Bytes of the chunks in which All-to-All planners forward blocks, by index; whole blocks where it is left out.
    pub chunk_bytes: Option<u64>,
    /// Optical ports of the whole fabric, counted in both directions (BRIDGE §3.7); two for every GPU and
    /// circuit where it is left out.
    pub optical_ports: Option<u32>,
    /// Wall-clock time for a local search of topologies, and for the search of an unequal All-to-All; `None` where it
    /// is left out.
    pub budget: Option<Duration>,
    /// The moment at which `budget` is used up; `None` where the moment at which it began is not stated.
    pub until: Option<Instant>,
    /// Topologies and paths with which the search for an unequal All-to-All begins.
    pub warm_start: Option<Arc<Given>>,
    /// The whole fabric where the collective is among some GPUs, its first ones, and others forward.
    pub whole_fabric: Option<Arc<Fabric>>,
    /// Who is told of better choices.
    pub listener: Option<Listener>,
}
