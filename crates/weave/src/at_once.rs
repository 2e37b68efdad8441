//! Every rank to every other at once.
//!
//! For small buffers one step of several hops beats several steps and changes.

use model::{Chunks, Collective, Op, Rank, Result, Step, Topology, Transfer, Translations};

use crate::composition::Composition;

/// Most ranks whose routes on a graph without symmetry are made.
const MOST_RANKS: u32 = 512;

/// The ways to do it on a topology: one step, and for an AllReduce also two, a ReduceScatter and an AllGather, with far
/// fewer bytes. None where ranks are too many.
///
/// # Errors
/// Those of [`Step::new`].
pub(crate) fn compose(collective: Collective, topology: &Topology) -> Result<Vec<Composition>> {
    let ranks = topology.ranks();
    if ranks > MOST_RANKS {
        return Ok(Vec::new());
    }
    let chunks = Chunks::even(collective, ranks, 1)?;
    let scatter = |dst: Rank| (Op::Reduce, vec![chunks.owned(dst, 0)]);
    let gather = |_: Rank| (Op::Copy, vec![chunks.owned(0, 0)]);
    let ways: Vec<Vec<Step>> = match collective {
        Collective::AllGather => vec![vec![step(&chunks, gather)?]],
        Collective::ReduceScatter => vec![vec![step(&chunks, scatter)?]],
        Collective::AllReduce => vec![
            vec![step(&chunks, |_| (Op::Reduce, (0..chunks.count()).collect()))?],
            vec![step(&chunks, scatter)?, step(&chunks, gather)?],
        ],
        Collective::AllToAll => vec![vec![step(&chunks, |dst| (Op::Copy, vec![chunks.pair(0, dst, 0)]))?]],
        Collective::Broadcast => Vec::new(),
    };
    ways.into_iter().map(|steps| Composition::new(chunks.clone(), steps, vec![topology.clone()])).collect()
}

/// Every rank to every other; `sent` says what rank 0 sends.
fn step(chunks: &Chunks, sent: impl Fn(Rank) -> (Op, Vec<u32>)) -> Result<Step> {
    let transfers = (1..chunks.ranks()).map(|dst| {
        let (op, chunks) = sent(dst);
        Transfer { src: 0, dst, op, chunks }
    });
    Step::new(Translations::cyclic(chunks.ranks()), transfers, chunks)
}
