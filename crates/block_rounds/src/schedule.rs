//! A strategy as an ordinary schedule: a round of h hops becomes h steps of transfers over one hop.
//!
//! In the step of slot j every flow of the round whose path has more than j hops moves its block one hop
//! on. Blocks wait at the GPUs on the way, so the symbolic execution of `verify` follows them. A circuit
//! carries one block in a step; on the stage's topology the step costs α + δ + β·block = T, and the steps
//! together T·Σ hops: the paper's cost, term by term.
//!
//! Blocks of several chunks move whole, or *by index* (§5.1): a round is run for the first chunk of every block, then
//! for the second, and so on. Each then pays α + δ for each hop, as the paper's T of one chunk does.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Error, Op, Rank, Result, Schedule, Step, Transfer};

use crate::{Round, Strategy};

/// Longer schedules are refused: a plan lists every step.
pub const MAX_STEPS: u64 = 1 << 18;

/// The units that move on when a round is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// All chunks of a block together.
    Blocks,
    /// Chunk after chunk of every block, in the order of their indices.
    ChunksByIndex,
}

/// The schedule of `strategy` for `chunks` under the name `algorithm`, and the index of the stage of every
/// step.
///
/// # Errors
/// More than 2^18 steps, chunks of another collective or that do not follow the strategy's group, or a flow
/// without chunks.
pub fn schedule(
    strategy: &Strategy,
    chunks: &Chunks,
    forwarding: Forwarding,
    algorithm: &str,
) -> Result<(Schedule, Vec<usize>)> {
    let blocks = Block::new(chunks)?;
    // Rounds are run once for every chunk of their longest block.
    let runs_of = |round: &Round| match forwarding {
        Forwarding::Blocks => 1,
        Forwarding::ChunksByIndex => round.paths.iter().map(|path| blocks.of(path).len()).max().unwrap_or(0),
    };
    let count: u64 = strategy.rounds().map(|round| u64::from(round.hops()) * runs_of(round) as u64).sum();
    if count > MAX_STEPS {
        return Err(Error::refused(
            "algorithm",
            algorithm,
            format!("its schedule has {count} steps of one hop; at most {MAX_STEPS} are accepted"),
        ));
    }
    let (mut steps, mut stages) = (Vec::with_capacity(count as usize), Vec::with_capacity(count as usize));
    for (index, stage) in strategy.stages.iter().enumerate() {
        for round in &stage.rounds {
            let moves: Vec<(&[Rank], Vec<u32>)> =
                round.paths.iter().map(|path| (path.as_slice(), blocks.of(path))).collect();
            for run in 0..runs_of(round) {
                let chunks_in_run = |block: &[u32]| match forwarding {
                    Forwarding::Blocks => block.to_vec(),
                    Forwarding::ChunksByIndex => block[run..run + 1].to_vec(),
                };
                let under_way = || moves.iter().filter(|(_, block)| block.len() > run);
                let hops = under_way().map(|(path, _)| path.len() - 1).max().unwrap_or(0);
                for slot in 0..hops {
                    let transfers = under_way().filter(|(path, _)| path.len() > slot + 1).map(|(path, block)| {
                        let chunks = chunks_in_run(block);
                        Transfer { src: path[slot], dst: path[slot + 1], op: Op::Copy, chunks }
                    });
                    steps.push(Step::new(strategy.symmetry.clone(), transfers, chunks)?);
                    stages.push(index);
                }
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

    /// The chunks of the pair at the ends of a path, in the order of their indices.
    fn of(&self, path: &[Rank]) -> Vec<u32> {
        let (src, dst) = (path[0], path[path.len() - 1]);
        match self {
            Self::Even(chunks, parts) => (0..*parts).map(|part| chunks.pair(src, dst, part)).collect(),
            Self::Pieces(by_pair) => by_pair.get(&(src, dst)).cloned().unwrap_or_default(),
        }
    }
}
