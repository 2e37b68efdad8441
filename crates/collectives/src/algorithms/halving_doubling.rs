//! Recursive halving and doubling: partners differ in one bit of their rank.
//!
//! ReduceScatter exchanges m/2 at distance n/2 first, then m/4 at n/4, …; AllGather is its reverse.
//! Thakur, Rabenseifner & Gropp, Optimization of collective communication operations in MPICH (IJHPCA
//! 2005); PCCL §5 feeds it to its planner.

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::halves::{self, HALVES};
use crate::{Algorithm, Extent, Options, refusals};

/// Recursive halving (ReduceScatter), recursive doubling (AllGather), or both (AllReduce) over ranks that differ in one
/// bit.
pub(crate) struct HalvingDoubling;

impl Algorithm for HalvingDoubling {
    fn name(&self) -> &'static str {
        "halving-doubling"
    }

    fn summary(&self) -> &'static str {
        "partners differ in one bit: halves exchanged at distance n/2 first, gathered in reverse"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner & Gropp, IJHPCA 2005; PCCL §5"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "n a power of two"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let n = shape.gpus();
        Extent::pairwise(u64::from(n.ilog2()), n, u64::from(n) - 1).of_half(collective)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::power_of_two(self.name(), shape)
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let chunks = Chunks::even(Collective::ReduceScatter, n, 1)?;
        let mut steps = Vec::new();
        for bit in (0..n.ilog2()).rev() {
            // Higher bits of the owners that rank 0 still serves are zero by now.
            let distance = 1 << bit;
            let sent = (distance..2 * distance).map(|owner| chunks.owned(owner, 0)).collect();
            let transfer = Transfer { src: 0, dst: distance, op: Op::Reduce, chunks: sent };
            steps.push(Step::new(Translations::xor(n), [transfer], &chunks)?);
        }
        halves::mirror(collective, Schedule::new(self.name(), chunks, steps)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_exchange_goes_farthest_and_gathering_mirrors_it() {
        let shape = Shape::new(128, &[], 1).unwrap();
        let schedule = HalvingDoubling.build(Collective::AllReduce, &shape, &Options::default()).unwrap();
        let found: Vec<(u32, f64)> =
            schedule.steps().iter().map(|step| (step.transfers()[0].dst, step.share())).collect();
        let mut expected: Vec<(u32, f64)> = (1..=7).map(|i| (128 >> i, 0.5f64.powi(i))).collect();
        expected.extend(expected.clone().into_iter().rev());
        assert_eq!(found, expected);
    }
}
