//! Phases of an All-to-All of equal blocks, carrying blocks of any size.
//!
//! The destinations do not depend on sizes, so every composition for equal blocks serves unequal ones too. Along
//! coordinates a rank sends on what many have for many, so that sums of blocks even out what single ones do not.

use model::{Chunks, Rank, Result, Step, Transfer, Translations};

use super::demand::Numbers;
use crate::composition::Composition;

/// The composition with blocks of sizes of their own, which `numbers` names by (src, dst); `None` where none of its
/// steps carries any.
///
/// # Errors
/// The errors of [`Step::new`].
pub(crate) fn with_blocks(equal: &Composition, chunks: &Chunks, numbers: &Numbers) -> Result<Option<Composition>> {
    let ranks = chunks.ranks();
    let (mut steps, mut topologies) = (Vec::new(), Vec::new());
    for (step, topology) in equal.schedule.steps().iter().zip(&equal.topologies) {
        interruption::check();
        let block = |chunk: &u32| numbers.get(&((chunk / ranks) as Rank, (chunk % ranks) as Rank)).copied();
        let with_blocks = |transfer: Transfer| {
            let chunks: Vec<u32> = transfer.chunks.iter().filter_map(block).collect();
            (!chunks.is_empty()).then_some(Transfer { chunks, ..transfer })
        };
        let transfers: Vec<Transfer> =
            step.expanded(equal.schedule.chunks()).into_iter().filter_map(with_blocks).collect();
        if !transfers.is_empty() {
            steps.push(Step::new(Translations::trivial(ranks), transfers, chunks)?);
            topologies.push(topology.clone());
        }
    }
    if steps.is_empty() { Ok(None) } else { Composition::new(chunks.clone(), steps, topologies).map(Some) }
}
