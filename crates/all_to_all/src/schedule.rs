//! A strategy as an ordinary schedule: a round of h hops becomes h steps of transfers over one hop.
//!
//! In the step of slot j every flow of the round whose path has more than j hops moves its block one hop
//! on. Blocks wait at the GPUs on the way, so the symbolic execution of `verify` follows them. A circuit
//! carries one block in a step; on the stage's topology the step costs α + δ + β·block = T, and the steps
//! together T·Σ hops: the paper's cost, term by term.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Error, Op, Rank, Result, Schedule, Step, Transfer};

use crate::Strategy;

/// Longer schedules are refused: a plan lists every step.
const MAX_STEPS: u64 = 1 << 18;

/// The schedule of `strategy` for `chunks` under the name `algorithm`, and the index of the stage of every
/// step. Where chunks have sizes of their own, all chunks of a pair move together.
///
/// # Errors
/// More than 2^18 steps, chunks of another collective or that do not follow the strategy's group, or a flow
/// without chunks.
pub fn schedule(strategy: &Strategy, chunks: &Chunks, algorithm: &str) -> Result<(Schedule, Vec<usize>)> {
    let hops = strategy.hops();
    if hops > MAX_STEPS {
        return Err(Error::refused(
            "algorithm",
            algorithm,
            format!("it takes {hops} steps of one hop; it serves up to {MAX_STEPS}"),
        ));
    }
    let blocks = Block::new(chunks)?;
    let (mut steps, mut stages) = (Vec::with_capacity(hops as usize), Vec::with_capacity(hops as usize));
    for (index, stage) in strategy.stages.iter().enumerate() {
        for round in &stage.rounds {
            for slot in 0..round.hops() as usize {
                let moving = round.paths.iter().filter(|path| path.len() > slot + 1);
                let transfers = moving.map(|path| Transfer {
                    src: path[slot],
                    dst: path[slot + 1],
                    op: Op::Copy,
                    chunks: blocks.of(path[0], path[path.len() - 1]),
                });
                steps.push(Step::new(strategy.symmetry.clone(), transfers, chunks)?);
                stages.push(index);
            }
        }
    }
    Ok((Schedule::new(algorithm, chunks.clone(), steps)?, stages))
}

/// Chunks by pair.
enum Block<'a> {
    Even(&'a Chunks, u32),
    Pieces(BTreeMap<(Rank, Rank), Vec<u32>>),
}

impl<'a> Block<'a> {
    fn new(chunks: &'a Chunks) -> Result<Self> {
        if chunks.collective() != Collective::AllToAll {
            return Err(Error::value("collective", chunks.collective().name(), Collective::AllToAll.name()));
        }
        let Some(pieces) = chunks.as_pieces() else { return Ok(Self::Even(chunks, chunks.parts().unwrap_or(1))) };
        let mut by_pair: BTreeMap<(Rank, Rank), Vec<u32>> = BTreeMap::new();
        for (chunk, piece) in (0..).zip(pieces) {
            by_pair.entry((piece.src, piece.dst)).or_default().push(chunk);
        }
        Ok(Self::Pieces(by_pair))
    }

    fn of(&self, src: Rank, dst: Rank) -> Vec<u32> {
        match self {
            Self::Even(chunks, parts) => (0..*parts).map(|part| chunks.pair(src, dst, part)).collect(),
            Self::Pieces(by_pair) => by_pair.get(&(src, dst)).cloned().unwrap_or_default(),
        }
    }
}
