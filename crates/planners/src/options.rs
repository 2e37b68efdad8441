//! Settings of some planners in addition to the problem.

use std::time::Duration;

/// Settings that some planners take. All are left out by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlannerOptions {
    /// Bytes of the chunks in which All-to-All planners forward blocks, by index; whole blocks where it is left out.
    pub chunk_bytes: Option<u64>,
    /// Optical ports of the whole fabric, counted in both directions (BRIDGE §3.7); two for every GPU and
    /// circuit where it is left out.
    pub optical_ports: Option<u32>,
    /// Wall-clock time for a local search of topologies; `None` where it is left out.
    pub budget: Option<Duration>,
}
