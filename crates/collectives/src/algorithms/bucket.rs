//! Bucket: the ring algorithm along one dimension of a grid after the other, with shrinking data.
//!
//! ReduceScatter takes the dimensions in order, AllGather in reverse; a dimension of size s takes s−1 steps. Along
//! dimension j a step passes to the next rank the blocks of one slice: owners that agree with the sender before
//! j, have one coordinate in common along j, and lie anywhere after j. One port is in use at a time.
//! Sack & Gropp, Collective algorithms for multiported torus networks (ACM TOPC 2015), the single-port
//! bucket; PCCL §5 as 2-D and 3-D bucket.

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::halves::{self, HALVES};
use crate::{Algorithm, Extent, Options, coordinates, refusals};

/// The bucket algorithm: a ring along each dimension of a grid in turn.
pub(crate) struct Bucket;

impl Bucket {
    /// Rank 0 sends to its successor along `dim` the blocks that lag `lag` behind it there.
    fn step(shape: &Shape, dim: usize, lag: u32, op: Op, chunks: &Chunks) -> Result<Step> {
        let dims = shape.dims();
        let choices: Vec<Vec<u32>> = (0..dims.len())
            .map(|j| match j.cmp(&dim) {
                std::cmp::Ordering::Less => vec![0],
                std::cmp::Ordering::Equal => vec![(dims[j] - lag) % dims[j]],
                std::cmp::Ordering::Greater => (0..dims[j]).collect(),
            })
            .collect();
        let sent = coordinates::product(shape, &choices).into_iter().map(|owner| chunks.owned(owner, 0)).collect();
        let neighbour: Vec<u32> = (0..dims.len()).map(|j| u32::from(j == dim)).collect();
        let transfer = Transfer { src: 0, dst: shape.rank(&neighbour), op, chunks: sent };
        Step::new(Translations::grid(dims, &vec![1; dims.len()]), [transfer], chunks)
    }

    fn reduce_scatter(&self, shape: &Shape) -> Result<Schedule> {
        let chunks = Chunks::even(Collective::ReduceScatter, shape.gpus(), 1)?;
        let turns = shape.dims().iter().enumerate().flat_map(|(dim, &size)| (1..size).map(move |lag| (dim, lag)));
        let steps = turns.map(|(dim, lag)| Self::step(shape, dim, lag, Op::Reduce, &chunks)).collect::<Result<_>>()?;
        Schedule::new(self.name(), chunks, steps)
    }

    fn all_gather(&self, shape: &Shape) -> Result<Schedule> {
        let chunks = Chunks::even(Collective::AllGather, shape.gpus(), 1)?;
        let turns = shape.dims().iter().enumerate().rev();
        let turns = turns.flat_map(|(dim, &size)| (0..size - 1).map(move |lag| (dim, lag)));
        let steps = turns.map(|(dim, lag)| Self::step(shape, dim, lag, Op::Copy, &chunks)).collect::<Result<_>>()?;
        Schedule::new(self.name(), chunks, steps)
    }
}

impl Algorithm for Bucket {
    fn name(&self) -> &'static str {
        "bucket"
    }

    fn summary(&self) -> &'static str {
        "rings along one grid dimension after the other, with shrinking data"
    }

    fn source(&self) -> &'static str {
        "Sack & Gropp, ACM TOPC 2015; PCCL §5"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "--dims with 2 or 3 dimensions"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let dims = shape.dims();
        let steps = dims.iter().map(|&dim| u64::from(dim) - 1).sum();
        // Translations along the first dimension are the only ones of the ranks in a line.
        let orbits = u64::from(shape.gpus() / dims[0]);
        Extent { arcs: steps * orbits, orbits, ..Extent::cyclic(steps, dims.len() as u64, u64::from(shape.gpus()) - 1) }
            .of_half(collective)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::dimensions(self.name(), shape, 2..=3, "2 or 3 dimensions")
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        halves::compose(collective, || self.reduce_scatter(shape), || self.all_gather(shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_shrink_from_one_dimension_to_the_next() {
        let shape = Shape::new(24, &[2, 3, 4], 1).unwrap();
        let schedule = Bucket.build(Collective::ReduceScatter, &shape, &Options::default()).unwrap();
        let found: Vec<(u32, usize)> =
            schedule.steps().iter().map(|step| (step.transfers()[0].dst, step.transfers()[0].chunks.len())).collect();
        assert_eq!(found, [(12, 12), (4, 4), (4, 4), (1, 1), (1, 1), (1, 1)]);
    }
}
