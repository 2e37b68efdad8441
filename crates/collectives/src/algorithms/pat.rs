//! Parallel aggregated trees (PAT): Bruck's pattern, farthest distance first, with a limit on what one message joins.
//!
//! Every block goes down the binomial tree whose node s ranks ahead of the block's owner has the parent s − 2^k, where
//! 2^k is the lowest bit of s; all n trees are the same but for a rotation. With N = 2^⌈log2 n⌉ and an aggregation of A,
//! the log2 A distances N/2, N/4, …, N/A come first, a step each, in which a rank sends 1, 2, …, A/2 blocks. Below
//! them stand A trees of N/A nodes. They are run side by side, an edge of each in a step, depth first and the farthest
//! child first, so that a rank keeps only a logarithmic number of blocks of others: N/A − 1 steps with A blocks each.
//! ReduceScatter is the mirror image in time, in the same direction. With the largest aggregation, N/2, there are
//! ⌈log2 n⌉ steps, those of `bruck-doubling` with radix 2; with 1 there are n − 1 steps of a block each.
//! Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv 2506.20252 (2025), and
//! NCCL's `PatAGAlgorithm` for the order of the edges.

use model::{Chunks, Collective, Error, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Algorithm, Extent, Options};

/// All-gather and reduce-scatter by parallel aggregated trees.
pub(crate) struct Pat;

/// Blocks that a message joins, at most N/2: a larger aggregation changes nothing.
fn aggregation(n: u32, options: &Options) -> u32 {
    let most = (n.next_power_of_two() / 2).max(1);
    options.aggregation.map_or(most, |asked| asked.min(most))
}

/// The nodes below `node`, whose children are up to `width`/2 away, depth first and the farthest child first.
fn descend(node: u32, width: u32, order: &mut Vec<u32>) {
    let mut distance = width / 2;
    while distance > 0 {
        order.push(node + distance);
        descend(node + distance, distance, order);
        distance /= 2;
    }
}

/// For every step of an all-gather, the nodes that receive in all trees, as ranks ahead of the block's owner.
fn receivers(n: u32, aggregation: u32) -> Vec<Vec<u32>> {
    let trees = n.next_power_of_two();
    let width = trees / aggregation;
    let mut steps = Vec::new();
    let mut distance = trees / 2;
    while distance >= width {
        steps.push((distance..n).step_by(2 * distance as usize).collect());
        distance /= 2;
    }
    let mut order = Vec::new();
    descend(0, width, &mut order);
    steps.extend(order.into_iter().map(|node| (node..n).step_by(width as usize).collect::<Vec<u32>>()));
    steps.retain(|nodes| !nodes.is_empty());
    steps
}

impl Algorithm for Pat {
    fn name(&self) -> &'static str {
        "pat"
    }

    fn summary(&self) -> &'static str {
        "binomial trees of all blocks side by side, far edges first, messages of at most --aggregation blocks"
    }

    fn source(&self) -> &'static str {
        "Jeaugey, arXiv 2506.20252 (2025)"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::ReduceScatter, Collective::AllGather]
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2, aggregation a power of two"
    }

    fn extent(&self, _: Collective, shape: &Shape, options: &Options) -> Extent {
        let n = shape.gpus();
        let joined = aggregation(n, options);
        let width = n.next_power_of_two() / joined;
        let steps = u64::from(joined.ilog2()) + u64::from(width.min(n)) - 1;
        Extent::cyclic(steps, steps, u64::from(n) - 1)
    }

    fn check(&self, _: Collective, _: &Shape, options: &Options) -> Result<()> {
        match options.aggregation {
            Some(blocks) if !blocks.is_power_of_two() => {
                Err(Error::value("aggregation", blocks, "a power of two, such as 1, 2 or 4"))
            }
            _ => Ok(()),
        }
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        let gathers = collective == Collective::AllGather;
        let chunks = Chunks::even(collective, n, 1)?;
        let mut order = receivers(n, aggregation(n, options));
        if !gathers {
            order.reverse();
        }
        let step = |nodes: Vec<u32>| {
            let distance = 1u32 << nodes[0].trailing_zeros();
            // Gathered, a block stands at the parent of the node; reduced, it stands as far ahead as the node.
            let owner = |node: u32| if gathers { (n - (node - distance)) % n } else { node };
            let op = if gathers { Op::Copy } else { Op::Reduce };
            let sent = nodes.into_iter().map(|node| chunks.owned(owner(node), 0)).collect();
            Step::new(Translations::cyclic(n), [Transfer { src: 0, dst: distance, op, chunks: sent }], &chunks)
        };
        let steps = order.into_iter().map(step).collect::<Result<_>>()?;
        Schedule::new(self.name(), chunks, steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::bruck_doubling::BruckDoubling;

    fn build(collective: Collective, n: u32, aggregation: Option<u32>) -> Schedule {
        let options = Options { aggregation, ..Options::default() };
        Pat.build(collective, &Shape::new(n, &[], 1).unwrap(), &options).unwrap()
    }

    #[test]
    fn with_any_aggregation_it_is_bruck_farthest_first() {
        for n in 2..=70 {
            for collective in [Collective::ReduceScatter, Collective::AllGather] {
                let bruck = BruckDoubling.build(collective, &Shape::new(n, &[], 1).unwrap(), &Options::default());
                assert_eq!(build(collective, n, None).steps(), bruck.unwrap().steps(), "{collective:?} {n}");
            }
        }
    }

    /// By hand: one tree of eight nodes, depth first; then two trees of four.
    #[test]
    fn edges_are_run_depth_first_and_the_farthest_child_first() {
        assert_eq!(receivers(8, 1), [[4], [6], [7], [5], [2], [3], [1]]);
        assert_eq!(receivers(8, 2), [vec![4], vec![2, 6], vec![3, 7], vec![1, 5]]);
        assert_eq!(receivers(6, 1), [[4], [5], [2], [3], [1]]);
    }

    /// arXiv 2506.20252: a logarithmic number of blocks of others is kept, whatever n; here counted from the order.
    #[test]
    fn few_blocks_wait_to_be_sent_on() {
        for log in 1..=8u32 {
            let order: Vec<u32> = receivers(1 << log, 1).into_iter().map(|nodes| nodes[0]).collect();
            let parent = |node: u32| node & (node - 1);
            let waiting = |step: usize| {
                let sends_later = |node: &&u32| order[step + 1..].iter().any(|&later| parent(later) == **node);
                order[..=step].iter().filter(sends_later).count() as u32
            };
            assert!((0..order.len()).all(|step| waiting(step) < log.max(2)), "2^{log}");
        }
    }

    #[test]
    fn an_aggregation_that_is_no_power_of_two_is_refused() {
        for blocks in [0, 3, 12] {
            let options = Options { aggregation: Some(blocks), ..Options::default() };
            let error = Pat.build(Collective::AllGather, &Shape::new(8, &[], 1).unwrap(), &options).unwrap_err();
            assert_eq!(error.field(), "aggregation");
        }
    }
}
