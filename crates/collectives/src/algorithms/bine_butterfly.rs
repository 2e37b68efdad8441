//! The Bine butterfly with the nearest partners last: every rank's blocks stay one range of neighbouring ranks.
//!
//! AllGather: in step i = 0, 1, … an even rank r exchanges all that it has with r + ρ_i and an odd one with r − ρ_i,
//! where ρ_i = Σ_{j≤i} (−2)^j, so that distances double, 1, 1, 3, 5, 11, …, and ranges of 2^i blocks join. The distance
//! is about a third of the ranks where recursive doubling's is half of them. ReduceScatter is the reverse, m/2 at the
//! farthest partner first. The other order of the same butterfly, m/2 at distance 1 first, is `swing`.
//! De Sensi et al., Bine trees: enhancing collective operations by optimizing communication locality (SC 2025), arXiv
//! 2508.17311.

use std::collections::BTreeSet;

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use super::swing;
use crate::halves::{self, HALVES};
use crate::{Algorithm, Extent, Options, refusals};

/// All-gather with doubling distances along the Bine butterfly, its reverse, or both.
pub(crate) struct BineButterfly;

impl Algorithm for BineButterfly {
    fn name(&self) -> &'static str {
        "bine-butterfly"
    }

    fn summary(&self) -> &'static str {
        "negabinary partners, farthest first: halves exchanged at about n/3, every rank's blocks one range"
    }

    fn source(&self) -> &'static str {
        "De Sensi et al., SC 2025 (Bine trees)"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "one dimension, n a power of two"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        swing::extent(collective, shape, false)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::dimensions(self.name(), shape, 1..=1, "one dimension")?;
        refusals::power_of_two(self.name(), shape)
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let chunks = Chunks::even(Collective::AllGather, n, 1)?;
        let symmetry = Translations::grid(shape.dims(), &[2]);
        // Translations by even numbers keep the pattern, so what ranks 0 and 1 have says what all have.
        let mut held = [BTreeSet::from([0]), BTreeSet::from([1 % n])];
        let of = |held: &[BTreeSet<u32>; 2], rank: u32| -> BTreeSet<u32> {
            let shift = rank - rank % 2;
            held[(rank % 2) as usize].iter().map(|owner| (owner + shift) % n).collect()
        };
        let mut steps = Vec::new();
        for index in 0..n.ilog2() {
            let partner = |rank| swing::partner(rank, index, n, false);
            let transfers = symmetry.representatives().into_iter().map(|src| {
                let sent = of(&held, src).into_iter().map(|owner| chunks.owned(owner, 0)).collect();
                Transfer { src, dst: partner(src), op: Op::Copy, chunks: sent }
            });
            steps.push(Step::new(symmetry.clone(), transfers, &chunks)?);
            held = [0, 1].map(|rank| &of(&held, rank) | &of(&held, partner(rank)));
        }
        let all_gather = Schedule::new(self.name(), chunks, steps)?;
        let reduce_scatter = all_gather.reversed()?;
        halves::compose(collective, || Ok(reduce_scatter), || Ok(all_gather))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SC 2025: partners at the distances 1, 1, 3, 5, 11, 21 with 1, 2, 4, … blocks, which are neighbours.
    #[test]
    fn ranges_of_neighbouring_blocks_double() {
        let shape = Shape::new(64, &[], 1).unwrap();
        let built = BineButterfly.build(Collective::AllGather, &shape, &Options::default()).unwrap();
        let partners: Vec<u32> = built.steps().iter().map(|step| step.transfers()[0].dst).collect();
        assert_eq!(partners, [1, 63, 3, 59, 11, 43]);
        for (step, blocks) in built.steps().iter().zip([1usize, 2, 4, 8, 16, 32]) {
            for sent in step.expanded(built.chunks()) {
                let owners: BTreeSet<u32> = sent.chunks.iter().copied().collect();
                let starts = owners.iter().filter(|&&owner| !owners.contains(&((owner + 63) % 64))).count();
                assert_eq!((owners.len(), starts), (blocks, 1), "{} sends {owners:?}", sent.src);
            }
        }
    }
}
