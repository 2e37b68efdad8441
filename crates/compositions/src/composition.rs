//! The composition of a collective.

use model::{Chunks, Result, Schedule, Step, Topology};

/// Name of the algorithm of compositions.
pub const ALGORITHM: &str = "composed";

/// What the name of the algorithm means.
pub(crate) const MEANING: &str =
    "phases along coordinates of the GPUs, each on a topology of its own, chosen by planner weave for the fabric";

/// Bytes in which a composition is executed, at most ([`Chunks::executed_bytes`]): with the rest that a plan needs,
/// 4 GiB.
pub(crate) const MOST_EXECUTED: u64 = 3 << 30;

/// A schedule made for a fabric, and the topologies that its phases are meant for.
#[derive(Debug, Clone)]
pub struct Composition {
    /// The steps, phase by phase.
    pub schedule: Schedule,
    /// The topology of each phase, in order.
    pub topologies: Vec<Topology>,
    /// Whether every transfer is meant for a circuit of its own, so that routes need no flow.
    pub over_circuits: bool,
}

impl Composition {
    pub(crate) fn new(chunks: Chunks, steps: Vec<Step>, topologies: Vec<Topology>) -> Result<Self> {
        Ok(Self { schedule: Schedule::new(ALGORITHM, chunks, steps)?, topologies, over_circuits: false })
    }
}
