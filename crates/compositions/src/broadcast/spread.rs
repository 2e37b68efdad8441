//! The transfers of a Broadcast, step by step, and the topologies that it is meant for.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Op, Rank, Result, Step, Topology, Transfer, Translations};

use crate::composition::Composition;

/// The parts that go from one rank to another in a step.
pub(crate) type Sends = BTreeMap<(Rank, Rank), Vec<u32>>;

/// A Broadcast of a buffer in equal parts. It depends on no rate, delay or size.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    pub(crate) parts: u32,
    pub(crate) steps: Vec<Sends>,
    pub(crate) topologies: Vec<Topology>,
}

impl Spread {
    /// The composition with these steps of transfers. O(parts sent).
    ///
    /// # Errors
    /// The errors of [`Step::new`].
    pub(crate) fn composition(&self, ranks: u32, root: Rank) -> Result<Composition> {
        self.of(Chunks::buffer(Collective::Broadcast, ranks, root, self.parts)?)
    }

    /// The composition with these steps, of parts that are chunks of some collective.
    ///
    /// # Errors
    /// The errors of [`Step::new`].
    pub(crate) fn of(&self, chunks: Chunks) -> Result<Composition> {
        let ranks = chunks.ranks();
        let step = |sends: &Sends| {
            let transfers = sends.iter().map(|(&(src, dst), parts)| {
                let chunks = parts.clone();
                Transfer { src, dst, op: Op::Copy, chunks }
            });
            Step::new(Translations::trivial(ranks), transfers, &chunks)
        };
        let steps = self.steps.iter().map(step).collect::<Result<_>>()?;
        Composition::new(chunks, steps, self.topologies.clone())
    }
}
