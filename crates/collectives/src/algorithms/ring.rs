//! Ring: every rank passes one block to its successor in every step.
//!
//! ReduceScatter step t = 1 … n−1: rank r adds what it has to block r−t of rank r+1. AllGather step
//! t = 1 … n−1: rank r sends block r−t+1. Both go the same way round, so that a one-way ring serves them.
//! Patarasuk & Yuan, Bandwidth optimal all-reduce algorithms (JPDC 2009).

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::halves::{self, HALVES};
use crate::{Algorithm, Extent, Options};

/// The ring algorithm: n − 1 steps to the next rank (AllReduce: twice as many).
pub(crate) struct Ring;

impl Ring {
    /// Rank 0 sends block `-lag` in steps `lag = first ..= last`.
    fn half(&self, collective: Collective, op: Op, n: u32, lags: std::ops::RangeInclusive<u32>) -> Result<Schedule> {
        let chunks = Chunks::even(collective, n, 1)?;
        let mut steps = Vec::with_capacity(n as usize - 1);
        for lag in lags {
            let transfer = Transfer { src: 0, dst: 1, op, chunks: vec![chunks.owned((n - lag) % n, 0)] };
            steps.push(Step::new(Translations::cyclic(n), [transfer], &chunks)?);
        }
        Schedule::new(self.name(), chunks, steps)
    }
}

impl Algorithm for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn summary(&self) -> &'static str {
        "every rank passes one block to its successor in every step"
    }

    fn source(&self) -> &'static str {
        "Patarasuk & Yuan, JPDC 2009"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let sent = u64::from(shape.gpus()) - 1;
        Extent::cyclic(sent, 1, sent).of_half(collective)
    }

    fn check(&self, _: Collective, _: &Shape, _: &Options) -> Result<()> {
        Ok(())
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        halves::compose(
            collective,
            || self.half(Collective::ReduceScatter, Op::Reduce, n, 1..=n - 1),
            || self.half(Collective::AllGather, Op::Copy, n, 0..=n - 2),
        )
    }
}
