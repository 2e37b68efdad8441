//! Scatter–AllGather for large buffers: the root scatters n parts, then a ring gathers them.
//!
//! The scatter follows the binomial tree, each child getting the parts of its subtree, m/2 first; where n is
//! not a power of two the last subtrees are smaller. Then, relative to the root, rank v passes part v−t to
//! v+1 in step t = 0 … n−2. Reduce is the reverse: a ring sums up the parts, the tree gathers them. There the ring
//! leaves out what the tree brings, so that nothing is added twice.
//! Barnett et al., Building a high-performance collective communication library (SC 1994); Thakur,
//! Rabenseifner & Gropp, IJHPCA 2005.

use model::{Chunks, Collective, Error, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use super::binomial_tree::{depth, edges};
use crate::{Algorithm, Extent, Options, refusals};

/// Broadcast as a scatter and a ring AllGather, Reduce as their reverse.
pub(crate) struct ScatterAllGather;

/// Parts of a Broadcast buffer do not follow their ranks, so all n² transfers of the ring are kept.
const MAX_RANKS: u32 = 2048;

impl Algorithm for ScatterAllGather {
    fn name(&self) -> &'static str {
        "scatter-allgather"
    }

    fn summary(&self) -> &'static str {
        "the root scatters n parts down a binomial tree, a ring gathers them; reduce in reverse"
    }

    fn source(&self) -> &'static str {
        "Barnett et al., SC 1994; Thakur, Rabenseifner & Gropp, IJHPCA 2005"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::Broadcast, Collective::Reduce]
    }

    fn requirement(&self) -> &'static str {
        "2 <= n <= 2048"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let (n, steps) = (u64::from(shape.gpus()), u64::from(depth(shape.gpus())));
        let sent = (n - 1) * n;
        // A Reduce leaves transfers out of the ring, different ones in every step.
        let (patterns, arcs) = if collective == Collective::Reduce { (n - 1, sent) } else { (1, n - 1) };
        let ring = Extent { steps: n - 1, patterns, transfers: sent, chunks: sent, arcs, orbits: 1 };
        Extent::tree(steps, shape.gpus(), steps * n / 2) + ring
    }

    fn check(&self, _: Collective, shape: &Shape, options: &Options) -> Result<()> {
        if shape.gpus() > MAX_RANKS {
            let reason = format!("it takes at most {MAX_RANKS} GPUs, not {}", shape.gpus());
            return Err(Error::refused("algorithm", self.name(), reason));
        }
        refusals::root(shape, options.root())
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let chunks = Chunks::buffer(Collective::Broadcast, n, options.root(), n)?;
        // Backwards, a part that came twice would be added twice.
        let is_news = |to: u32, part: u32| match collective {
            Collective::Reduce => to != 0 && !(to..to + (1 << to.trailing_zeros())).contains(&part),
            _ => true,
        };
        let transfer = |from: u32, to: u32, parts: Vec<u32>| Transfer {
            src: (options.root() + from) % n,
            dst: (options.root() + to) % n,
            op: Op::Copy,
            chunks: parts,
        };
        let mut steps = Vec::new();
        for edges in edges(n) {
            let transfers = edges
                .into_iter()
                .map(|(parent, child, width)| transfer(parent, child, (child..n.min(child + width)).collect()));
            steps.push(Step::new(Translations::trivial(n), transfers, &chunks)?);
        }
        for lag in 0..n - 1 {
            let passed = (0..n).map(|v| (v, (v + 1) % n, (v + n - lag) % n));
            let passed = passed.filter(|&(_, to, part)| is_news(to, part));
            let transfers = passed.map(|(from, to, part)| transfer(from, to, vec![part]));
            steps.push(Step::new(Translations::trivial(n), transfers, &chunks)?);
        }
        let broadcast = Schedule::new(self.name(), chunks, steps)?;
        if collective == Collective::Reduce { broadcast.reversed() } else { Ok(broadcast) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_split_unevenly_where_n_is_no_power_of_two() {
        let shape = Shape::new(6, &[], 1).unwrap();
        let built = ScatterAllGather.build(Collective::Broadcast, &shape, &Options::default()).unwrap();
        let scatter: Vec<Vec<(u32, u32, Vec<u32>)>> = built.steps()[..3]
            .iter()
            .map(|step| step.transfers().iter().map(|t| (t.src, t.dst, t.chunks.clone())).collect())
            .collect();
        assert_eq!(
            scatter,
            [
                vec![(0, 4, vec![4, 5])],
                vec![(0, 2, vec![2, 3])],
                vec![(0, 1, vec![1]), (2, 3, vec![3]), (4, 5, vec![5])]
            ]
        );
    }
}
