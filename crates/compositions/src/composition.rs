//! The composition of a collective.

pub(crate) use crate::cutoffs::composition::MOST_EXECUTED;
use std::collections::BTreeSet;

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

    /// The composition run backwards, on topologies with all circuits turned round; `None` where some rank is sent a
    /// chunk twice, which would be added twice.
    ///
    /// # Errors
    /// The errors of [`Schedule::reversed`].
    pub(crate) fn reversed(&self) -> Result<Option<Self>> {
        let chunks = self.schedule.chunks();
        let mut arrived = BTreeSet::new();
        for transfer in self.schedule.steps().iter().flat_map(|step| step.expanded(chunks)) {
            if !transfer.chunks.iter().all(|&chunk| arrived.insert((transfer.dst, chunk))) {
                return Ok(None);
            }
        }
        Ok(Some(Self {
            schedule: self.schedule.reversed()?,
            topologies: self.topologies.iter().rev().map(Topology::reversed).collect::<Result<_>>()?,
            over_circuits: self.over_circuits,
            routes: Vec::new(),
        }))
    }
}
