//! Binomial tree: every rank that has the buffer sends it, halving the distance in every step.
//!
//! Relative to the root, step by step for w = 2^(⌈log2 n⌉−1), …, 2, 1: multiples v of 2w send to v+w, if that is
//! a rank. Farthest first keeps the paths of one step apart on a ring.
//! A Scatter sends each child the shares of its subtree; Reduce and Gather are the two backwards.
//! Thakur, Rabenseifner & Gropp, IJHPCA 2005; HARVEST §6.1.

use model::{Collective, Rank, Result, Schedule, Shape};

use crate::root_tree::{self, ROOTED};
use crate::{Algorithm, Extent, Options, refusals};

/// Broadcast and Scatter down a binomial tree, Reduce and Gather up.
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
        "every holder sends what its child's subtree needs, distance halving: ceil(log2 n) steps; reduce, gather in reverse"
    }

    fn source(&self) -> &'static str {
        "Thakur, Rabenseifner & Gropp, IJHPCA 2005; HARVEST §6.1"
    }

    fn collectives(&self) -> &'static [Collective] {
        ROOTED
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let (n, steps) = (u64::from(shape.gpus()), u64::from(depth(shape.gpus())));
        root_tree::extent(collective, shape, steps, steps * n / 2)
    }

    fn check(&self, _: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::root(shape, options.root())
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let edges =
            edges(shape.gpus()).map(|edges| edges.into_iter().map(|(parent, child, _)| (parent, child)).collect());
        root_tree::schedule(self.name(), collective, shape, options, edges)
    }
}
