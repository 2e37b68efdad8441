//! Recursive doubling, the cyclic variant: in step i = 1 … log2 n rank u sends to u + 2^(i−1) mod n.
//!
//! ReduceScatter sends m/2^i in step i, distance 1 first: the blocks whose owners lie an odd multiple of
//! 2^(i−1) ahead. AllGather has the distances and sizes in reverse order. It keeps the direction, so that
//! circuits of a late ReduceScatter step serve the early AllGather steps: with them HARVEST's published
//! time for 64 GPUs comes out, with the opposite direction it does not.
//! HARVEST §5.1 (observations 3 and 4, eq. 8); BRIDGE §3.1 for the pattern.

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::halves::{self, HALVES};
use crate::{Algorithm, Extent, Options, refusals};

/// Cyclic recursive doubling: partners 1, 2, 4, … ranks ahead.
pub(crate) struct RecursiveDoubling;

impl RecursiveDoubling {
    /// Step of `distance`: rank 0 sends to `distance` the blocks `first`, `first + 2·distance`, ….
    fn step(n: u32, distance: u32, first: u32, op: Op, chunks: &Chunks) -> Result<Step> {
        let owners = (0..n / (2 * distance)).map(|j| (first + 2 * distance * j) % n);
        let sent = owners.map(|owner| chunks.owned(owner, 0)).collect();
        Step::new(Translations::cyclic(n), [Transfer { src: 0, dst: distance, op, chunks: sent }], chunks)
    }

    fn reduce_scatter(&self, n: u32) -> Result<Schedule> {
        let chunks = Chunks::even(Collective::ReduceScatter, n, 1)?;
        let steps =
            (0..n.ilog2()).map(|i| Self::step(n, 1 << i, 1 << i, Op::Reduce, &chunks)).collect::<Result<_>>()?;
        Schedule::new(self.name(), chunks, steps)
    }

    fn all_gather(&self, n: u32) -> Result<Schedule> {
        let chunks = Chunks::even(Collective::AllGather, n, 1)?;
        let steps = (0..n.ilog2()).rev().map(|i| Self::step(n, 1 << i, 0, Op::Copy, &chunks)).collect::<Result<_>>()?;
        Schedule::new(self.name(), chunks, steps)
    }
}

impl Algorithm for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive-doubling"
    }

    fn summary(&self) -> &'static str {
        "cyclic: rank u sends to u + 2^i, halving the data, distance 1 first"
    }

    fn source(&self) -> &'static str {
        "HARVEST §5.1"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "n a power of two"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let steps = u64::from(shape.gpus().ilog2());
        Extent::cyclic(steps, steps, u64::from(shape.gpus()) - 1).of_half(collective)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::power_of_two(self.name(), shape)
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        halves::compose(collective, || self.reduce_scatter(n), || self.all_gather(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HARVEST §5.1: step i of ReduceScatter goes to u + 2^(i−1) with m/2^i; AllReduce mirrors it.
    #[test]
    fn distances_and_sizes_are_those_of_the_paper() {
        let shape = Shape::new(64, &[], 1).unwrap();
        let schedule = RecursiveDoubling.build(Collective::AllReduce, &shape, &Options::default()).unwrap();
        let found: Vec<(u32, f64)> =
            schedule.steps().iter().map(|step| (step.transfers()[0].dst, step.share())).collect();
        let mut expected: Vec<(u32, f64)> = (1..=6).map(|i| (1 << (i - 1), 0.5f64.powi(i))).collect();
        expected.extend(expected.clone().into_iter().rev());
        assert_eq!(found, expected);
        assert_eq!(schedule.symmetry(), Translations::cyclic(64));
    }
}
