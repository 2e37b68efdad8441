//! Binary-tree Broadcast: every rank of a level sends the buffer to both its children in one step.
//!
//! Relative to the root, rank v has the children 2v+1 and 2v+2, so that level l is complete after step l:
//! ⌊log2 n⌋ steps, with two transfers per sender. HARVEST §6.1.

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Algorithm, Extent, Options, refusals};

/// Broadcast along a complete binary tree.
pub(crate) struct BinaryTree;

impl Algorithm for BinaryTree {
    fn name(&self) -> &'static str {
        "binary-tree"
    }

    fn summary(&self) -> &'static str {
        "every rank of a level sends the whole buffer to two children: floor(log2 n) steps"
    }

    fn source(&self) -> &'static str {
        "HARVEST §6.1"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::Broadcast]
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2"
    }

    fn extent(&self, _: Collective, shape: &Shape, _: &Options) -> Extent {
        Extent::tree(u64::from(shape.gpus().ilog2()), shape.gpus(), u64::from(shape.gpus()) - 1)
    }

    fn check(&self, _: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::root(shape, options.root())
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let chunks = Chunks::buffer(collective, n, options.root(), 1)?;
        let rank = |relative: u32| (options.root() + relative) % n;
        let mut steps = Vec::new();
        for level in 1..=n.ilog2() {
            let first = (1u32 << level) - 1;
            let transfers = (first..n.min(2 * first + 1)).map(|child| Transfer {
                src: rank((child - 1) / 2),
                dst: rank(child),
                op: Op::Copy,
                chunks: vec![0],
            });
            steps.push(Step::new(Translations::trivial(n), transfers, &chunks)?);
        }
        Schedule::new(self.name(), chunks, steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_ranks_send_to_two_children_at_once() {
        let shape = Shape::new(15, &[], 2).unwrap();
        let built = BinaryTree.build(Collective::Broadcast, &shape, &Options { radix: None, root: Some(4) }).unwrap();
        let sizes: Vec<usize> = built.steps().iter().map(|step| step.transfers().len()).collect();
        assert_eq!(sizes, [2, 4, 8]);
        assert!(built.steps().iter().all(|step| step.traffic().degree() == 2));
        assert_eq!(built.steps()[0].transfers().iter().map(|t| (t.src, t.dst)).collect::<Vec<_>>(), [(4, 5), (4, 6)]);
    }
}
