//! Binomial-tree Broadcast: every rank that has the buffer sends it, halving the distance in every step.
//!
//! Relative to the root, step by step for w = 2^(⌈log2 n⌉−1), …, 2, 1: multiples v of 2w send to v+w, if that is
//! a rank. Farthest first keeps the paths of one step apart on a ring.
//! Thakur, Rabenseifner & Gropp, IJHPCA 2005; HARVEST §6.1.

use model::{Chunks, Collective, Op, Rank, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Algorithm, Extent, Options, refusals};

/// Broadcast along a binomial tree.
pub(crate) struct BinomialTree;

/// ⌈log2 n⌉.
pub(super) fn depth(n: u32) -> u32 {
    n.next_power_of_two().ilog2()
}

/// The edges `(parent, child, w)` of each step, relative to the root; the child's subtree is `child ..
/// min(child + w, n)`.
pub(super) fn edges(n: u32) -> impl Iterator<Item = Vec<(Rank, Rank, u32)>> {
    (0..depth(n)).rev().map(move |bit| {
        let width = 1u32 << bit;
        (0..n - width).step_by(2 * width as usize).map(|parent| (parent, parent + width, width)).collect()
    })
}

impl Algorithm for BinomialTree {
    fn name(&self) -> &'static str {
        "binomial-tree"
    }

    fn summary(&self) -> &'static str {
        "every holder sends the whole buffer, distance halving: ceil(log2 n) steps"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner & Gropp, IJHPCA 2005; HARVEST §6.1"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::Broadcast]
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2"
    }

    fn extent(&self, _: Collective, shape: &Shape, _: &Options) -> Extent {
        Extent::tree(u64::from(depth(shape.gpus())), shape.gpus(), u64::from(shape.gpus()) - 1)
    }

    fn check(&self, _: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::root(shape, options.root())
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let chunks = Chunks::buffer(collective, n, options.root(), 1)?;
        let rank = |relative: u32| (options.root() + relative) % n;
        let mut steps = Vec::new();
        for edges in edges(n) {
            let transfers = edges.into_iter().map(|(parent, child, _)| Transfer {
                src: rank(parent),
                dst: rank(child),
                op: Op::Copy,
                chunks: vec![0],
            });
            steps.push(Step::new(Translations::trivial(n), transfers, &chunks)?);
        }
        Schedule::new(self.name(), chunks, steps)
    }
}
