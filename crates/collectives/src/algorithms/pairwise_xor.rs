//! Pairwise exchange All-to-All: in step t = 1 … n−1 ranks u and u XOR t exchange their blocks.
//!
//! Every step is a symmetric matching, so that one two-way circuit per pair carries it.
//! Thakur, Rabenseifner & Gropp, IJHPCA 2005.

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Algorithm, Extent, Options, refusals};

/// The pairwise-exchange All-to-All over ranks `u` and `u XOR t`.
pub(crate) struct PairwiseXor;

impl Algorithm for PairwiseXor {
    fn name(&self) -> &'static str {
        "pairwise-xor"
    }

    fn summary(&self) -> &'static str {
        "n-1 pairwise exchanges, partner u XOR t"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner & Gropp, IJHPCA 2005"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::AllToAll]
    }

    fn requirement(&self) -> &'static str {
        "n a power of two, at most 8192"
    }

    fn extent(&self, _: Collective, shape: &Shape, _: &Options) -> Extent {
        let steps = u64::from(shape.gpus()) - 1;
        Extent::pairwise(steps, shape.gpus(), steps)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::power_of_two(self.name(), shape)?;
        refusals::pairs(self.name(), shape)
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let chunks = Chunks::even(collective, n, 1)?;
        let mut steps = Vec::with_capacity(n as usize - 1);
        for partner in 1..n {
            let transfer = Transfer { src: 0, dst: partner, op: Op::Copy, chunks: vec![chunks.pair(0, partner, 0)] };
            steps.push(Step::new(Translations::xor(n), [transfer], &chunks)?);
        }
        Schedule::new(self.name(), chunks, steps)
    }
}
