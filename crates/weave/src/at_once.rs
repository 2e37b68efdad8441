//! Every rank to every other in one step, on a generalised Kautz graph.
//!
//! The diameter of that graph is the least for its degree, or one more, so for small buffers a single step with several
//! hops beats several steps and changes. With two ports or more: one port makes rings, whose diameter is n − 1.

use model::{Chunks, Collective, Op, Result, Shape, Step, Transfer, Translations};

use crate::Composition;

/// Most ranks whose routes on a graph without symmetry are made.
const MOST_RANKS: u32 = 512;

/// The step, unless ports are too few or ranks too many.
///
/// # Errors
/// Those of [`Step::new`].
pub(crate) fn compose(collective: Collective, shape: &Shape) -> Result<Option<Composition>> {
    let ranks = shape.gpus();
    if shape.ports() < 2 || ranks <= shape.ports() + 1 || ranks > MOST_RANKS {
        return Ok(None);
    }
    let Ok(kautz) = topologies::build("kautz", shape) else { return Ok(None) };
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
    Composition::new(chunks, vec![step], vec![kautz]).map(Some)
}
