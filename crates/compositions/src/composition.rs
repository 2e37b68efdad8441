//! The composition of a collective.

pub(crate) use crate::cutoffs::composition::MOST_EXECUTED;
use model::{Chunks, Result, Routes, Schedule, Step, Topology};

/// Name of the algorithm of compositions.
pub const ALGORITHM: &str = "composed";

/// Meaning of the name, for people.
pub(crate) const MEANING: &str =
    "phases along coordinates of the GPUs, each on a topology of its own, chosen by planner weave for the fabric";

/// A schedule made for a fabric, and the topologies that its phases are meant for.
#[derive(Debug, Clone)]
pub struct Composition {
    /// The steps, phase by phase.
    pub schedule: Schedule,
    /// The topology of each phase, in order.
    pub topologies: Vec<Topology>,
    /// Whether every transfer is meant for a circuit of its own, so that routes need no flow.
    pub over_circuits: bool,
    /// The paths of every step on the topology of the same place, where the composition was made with them; else none.
    pub routes: Vec<Routes>,
}

impl Composition {
    pub(crate) fn new(chunks: Chunks, steps: Vec<Step>, topologies: Vec<Topology>) -> Result<Self> {
        Ok(Self {
            schedule: Schedule::new(ALGORITHM, chunks, steps)?,
            topologies,
            over_circuits: false,
            routes: Vec::new(),
        })
    }
}
