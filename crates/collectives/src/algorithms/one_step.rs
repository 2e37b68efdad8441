//! Every rank to every other at once, each block straight to all who need it.
//!
//! ReduceScatter: rank r adds what it has to block s of every other rank s. AllGather: rank r sends block r to all
//! others. AllReduce is the two, a step each. Broadcast: the root sends the whole buffer to all others; Scatter: to each
//! its share; Reduce and Gather: all others send theirs to the root. Where every
//! pair has a circuit of its own, no algorithm takes fewer steps or bytes. The all-pairs algorithm of Cowan et al.,
//! MSCCLang (ASPLOS 2023); the Broadcast is known as the flat tree.

use model::{Chunks, Collective, Error, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Algorithm, Extent, Options, halves, refusals, root_tree};

/// Every rank to every other in one step (AllReduce: two), or the root to every other.
pub(crate) struct OneStep;

/// Each of the n² pairs has paths of its own on a topology without symmetry.
const MAX_RANKS: u32 = 512;

impl OneStep {
    /// A ReduceScatter or an AllGather.
    fn half(&self, collective: Collective, n: u32) -> Result<Schedule> {
        let chunks = Chunks::even(collective, n, 1)?;
        let transfers = (1..n).map(|dst| match collective {
            Collective::ReduceScatter => Transfer { src: 0, dst, op: Op::Reduce, chunks: vec![chunks.owned(dst, 0)] },
            _ => Transfer { src: 0, dst, op: Op::Copy, chunks: vec![chunks.owned(0, 0)] },
        });
        let step = Step::new(Translations::cyclic(n), transfers, &chunks)?;
        Schedule::new(self.name(), chunks, vec![step])
    }
}

impl Algorithm for OneStep {
    fn name(&self) -> &'static str {
        "one-step"
    }

    fn summary(&self) -> &'static str {
        "every rank straight to every other in one step (all-reduce: two), or the root to all others or they to it"
    }

    fn source(&self) -> &'static str {
        "Cowan et al., ASPLOS 2023 (all-pairs)"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[
            Collective::AllReduce,
            Collective::ReduceScatter,
            Collective::AllGather,
            Collective::Broadcast,
            Collective::Reduce,
            Collective::Gather,
            Collective::Scatter,
        ]
    }

    fn requirement(&self) -> &'static str {
        "2 <= n <= 512 (with a root: any n >= 2)"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let others = u64::from(shape.gpus()) - 1;
        match collective {
            _ if collective.has_root() => root_tree::extent(collective, shape, 1, others),
            _ => Extent { steps: 1, patterns: 1, transfers: others, chunks: others, arcs: others, orbits: 1 }
                .of_half(collective),
        }
    }

    fn check(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<()> {
        match collective {
            _ if collective.has_root() => refusals::root(shape, options.root()),
            _ if shape.gpus() > MAX_RANKS => {
                let reason = format!("it joins all pairs of at most {MAX_RANKS} GPUs, not {}", shape.gpus());
                Err(Error::refused("algorithm", self.name(), reason))
            }
            _ => Ok(()),
        }
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let n = shape.gpus();
        if collective.has_root() {
            let edges = (1..n).map(|child| (0, child)).collect();
            return root_tree::schedule(self.name(), collective, shape, options, [edges]);
        }
        halves::compose(collective, || self.half(Collective::ReduceScatter, n), || self.half(Collective::AllGather, n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block a pair, and from the root the buffer to each: by hand for five ranks, the root not the first.
    #[test]
    fn blocks_go_straight_to_all_who_need_them() {
        let shape = Shape::new(5, &[], 4).unwrap();
        let sent = |collective| {
            let options = Options { root: (collective == Collective::Broadcast).then_some(3), ..Options::default() };
            let schedule = OneStep.build(collective, &shape, &options).unwrap();
            let steps = schedule.steps().iter().map(|step| {
                let mut sent: Vec<_> =
                    step.expanded(schedule.chunks()).into_iter().map(|t| (t.src, t.dst, t.op, t.chunks)).collect();
                sent.sort_by_key(|(src, dst, ..)| (*src, *dst));
                sent
            });
            steps.collect::<Vec<_>>()
        };
        let pairs = || (0..5).flat_map(|src| (0..5).filter(move |&dst| dst != src).map(move |dst| (src, dst)));
        let gather: Vec<_> = pairs().map(|(src, dst)| (src, dst, Op::Copy, vec![src])).collect();
        let scatter: Vec<_> = pairs().map(|(src, dst)| (src, dst, Op::Reduce, vec![dst])).collect();
        assert_eq!(sent(Collective::AllGather), std::slice::from_ref(&gather));
        assert_eq!(sent(Collective::ReduceScatter), std::slice::from_ref(&scatter));
        assert_eq!(sent(Collective::AllReduce), [scatter, gather]);
        let from_the_root: Vec<_> = [0, 1, 2, 4].map(|dst| (3, dst, Op::Copy, vec![0])).into();
        assert_eq!(sent(Collective::Broadcast), [from_the_root]);
    }
}
