//! Every rank to every other in one step.
//!
//! For small buffers a single step with several hops beats several steps and changes.

use model::{Chunks, Collective, Op, Result, Step, Topology, Transfer, Translations};

use crate::Composition;

/// Most ranks whose routes on a graph without symmetry are made.
const MOST_RANKS: u32 = 512;

/// The step on a topology, unless ranks are too many.
///
/// # Errors
/// Those of [`Step::new`].
pub(crate) fn compose(collective: Collective, topology: &Topology) -> Result<Option<Composition>> {
    let ranks = topology.ranks();
    if ranks > MOST_RANKS {
        return Ok(None);
    }
    let chunks = Chunks::even(collective, ranks, 1)?;
    let transfers = (1..ranks).map(|dst| {
        let (op, sent) = match collective {
            Collective::AllGather => (Op::Copy, vec![chunks.owned(0, 0)]),
            Collective::ReduceScatter => (Op::Reduce, vec![chunks.owned(dst, 0)]),
            Collective::AllReduce => (Op::Reduce, (0..chunks.count()).collect()),
            Collective::AllToAll | Collective::Broadcast => (Op::Copy, vec![chunks.pair(0, dst, 0)]),
        };
        Transfer { src: 0, dst, op, chunks: sent }
    });
    let step = Step::new(Translations::cyclic(ranks), transfers, &chunks)?;
    Composition::new(chunks, vec![step], vec![topology.clone()]).map(Some)
}
