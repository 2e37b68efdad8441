//! Direct-exchange hypercube All-to-All (DEX): log2 n exchanges of half the buffer.
//!
//! In step k = 0 … log2 n − 1 ranks u and u XOR 2^k exchange every block whose destination lies on the
//! other side of bit k, blocks of other sources that were handed over before included.
//! Foster, Designing and Building Parallel Programs (1995), ch. 11; PCCL §5.

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Algorithm, Extent, Options, refusals};

/// The direct-exchange hypercube All-to-All.
pub(crate) struct Dex;

impl Algorithm for Dex {
    fn name(&self) -> &'static str {
        "dex"
    }

    fn summary(&self) -> &'static str {
        "hypercube: log2 n exchanges of half the buffer, partner u XOR 2^k"
    }

    fn source(&self) -> &'static str {
        "Foster 1995, ch. 11; PCCL §5"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::AllToAll]
    }

    fn requirement(&self) -> &'static str {
        "n a power of two, at most 8192"
    }

    fn extent(&self, _: Collective, shape: &Shape, _: &Options) -> Extent {
        let n = shape.gpus();
        let steps = u64::from(n.ilog2());
        Extent::pairwise(steps, n, steps * u64::from(n / 2))
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::power_of_two(self.name(), shape)?;
        refusals::pairs(self.name(), shape)
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let chunks = Chunks::even(collective, n, 1)?;
        let mut steps = Vec::new();
        for distance in (0..n.ilog2()).map(|bit| 1 << bit) {
            // A block sits where the low bits are its destination's and the high bits its source's: at
            // rank 0 those with src below 2^k and dst a multiple of it.
            let mut sent = Vec::with_capacity(n as usize / 2);
            for dst in (distance..n).step_by(2 * distance as usize) {
                sent.extend((0..distance).map(|src| chunks.pair(src, dst, 0)));
            }
            let transfer = Transfer { src: 0, dst: distance, op: Op::Copy, chunks: sent };
            steps.push(Step::new(Translations::xor(n), [transfer], &chunks)?);
        }
        Schedule::new(self.name(), chunks, steps)
    }
}
