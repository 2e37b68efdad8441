//! Binary tree: every rank of a level sends the buffer to both its children in one step.
//!
//! Relative to the root, rank v has the children 2v+1 and 2v+2, so that level l is complete after step l:
//! ⌊log2 n⌋ steps, with two transfers per sender. HARVEST §6.1.

use model::{Collective, Result, Schedule, Shape};

use crate::root_tree::{self, ROOTED};
use crate::{Algorithm, Extent, Options, refusals};

/// Broadcast and Scatter down a complete binary tree, Reduce and Gather up.
pub(crate) struct BinaryTree;

impl Algorithm for BinaryTree {
    fn name(&self) -> &'static str {
        "binary-tree"
    }

    fn summary(&self) -> &'static str {
        "every rank of a level sends what their subtrees need to two children: floor(log2 n) steps; reduce, gather in reverse"
    }

    fn source(&self) -> &'static str {
        "HARVEST §6.1"
    }

    fn collectives(&self) -> &'static [Collective] {
        ROOTED
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let (n, steps) = (u64::from(shape.gpus()), u64::from(shape.gpus().ilog2()));
        root_tree::extent(collective, shape, steps, steps * n)
    }

    fn check(&self, _: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::root(shape, options.root())
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let edges = (1..=n.ilog2()).map(|level| {
            let first = (1u32 << level) - 1;
            (first..n.min(2 * first + 1)).map(|child| ((child - 1) / 2, child)).collect()
        });
        root_tree::schedule(self.name(), collective, shape, options, edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_ranks_send_to_two_children_at_once() {
        let shape = Shape::new(15, &[], 2).unwrap();
        let built =
            BinaryTree.build(Collective::Broadcast, &shape, &Options { root: Some(4), ..Options::default() }).unwrap();
        let sizes: Vec<usize> = built.steps().iter().map(|step| step.transfers().len()).collect();
        assert_eq!(sizes, [2, 4, 8]);
        assert!(built.steps().iter().all(|step| step.traffic().degree() == 2));
        assert_eq!(built.steps()[0].transfers().iter().map(|t| (t.src, t.dst)).collect::<Vec<_>>(), [(4, 5), (4, 6)]);
    }
}
