//! Every rank to every other at once.
//!
//! For small buffers one step of several hops beats several steps and changes.

use model::{Chunks, Collective, Op, Rank, Result, Step, Topology, Transfer, Translations};

use crate::composition::Composition;
use crate::cutoffs::at_once::{MOST_CYCLIC, MOST_ORBITS, MOST_PAIRS, MOST_RANKS};

/// The ways to do it on a topology: one step, and for an AllReduce also two, a ReduceScatter and an AllGather, with far
/// fewer bytes. Empty where ranks are too many.
///
/// # Errors
/// The errors of [`Step::new`].
pub(crate) fn compose(collective: Collective, topology: &Topology) -> Result<Vec<Composition>> {
    let ranks = topology.ranks();
    if ranks > MOST_RANKS && u64::from(ranks) * u64::from(topology.symmetry().orbits()) > MOST_PAIRS {
        return Ok(Vec::new());
    }
    let chunks = Chunks::even(collective, ranks, 1)?;
    let symmetry = shared_symmetry(topology);
    let step = |sent: &dyn Fn(Rank, Rank) -> (Op, Vec<u32>)| {
        let transfers = symmetry.representatives().into_iter().flat_map(|src| {
            (0..ranks).filter(move |&dst| dst != src).map(move |dst| {
                let (op, chunks) = sent(src, dst);
                Transfer { src, dst, op, chunks }
            })
        });
        Step::new(symmetry.clone(), transfers, &chunks)
    };
    let scatter = |_: Rank, dst: Rank| (Op::Reduce, vec![chunks.owned(dst, 0)]);
    let gather = |src: Rank, _: Rank| (Op::Copy, vec![chunks.owned(src, 0)]);
    let ways: Vec<Vec<Step>> = match collective {
        Collective::AllGather => vec![vec![step(&gather)?]],
        Collective::ReduceScatter => vec![vec![step(&scatter)?]],
        Collective::AllReduce => vec![
            vec![step(&|_, _| (Op::Reduce, (0..chunks.count()).collect()))?],
            vec![step(&scatter)?, step(&gather)?],
        ],
        Collective::AllToAll => vec![vec![step(&|src, dst| (Op::Copy, vec![chunks.pair(src, dst, 0)]))?]],
        Collective::Broadcast | Collective::Reduce | Collective::Gather | Collective::Scatter => Vec::new(),
    };
    ways.into_iter().map(|steps| Composition::new(chunks.clone(), steps, vec![topology.clone()])).collect()
}

/// The symmetry among those of the traffic of all pairs, which has every one that there is, that leaves much in common
/// with the topology: that of a cycle where that loses nothing of the topology's, or the topology has little and ranks
/// are few, else the topology's own.
fn shared_symmetry(topology: &Topology) -> Translations {
    let cyclic = Translations::cyclic(topology.ranks());
    let own = topology.symmetry();
    let loses_much =
        cyclic.meet(own).order() < own.order() && (own.orbits() <= MOST_ORBITS || topology.ranks() > MOST_CYCLIC);
    if loses_much { own.clone() } else { cyclic }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above 512 ranks a step of all pairs is written by the symmetry of a Cayley digraph, and brings every block; a
    /// graph of more than 1024 that all look different has none.
    #[test]
    fn many_ranks_exchange_at_once_where_the_graph_has_symmetry() {
        let cayley = topologies::metacyclic::best(520, 4).unwrap().unwrap().topology;
        let [one] = &compose(Collective::AllToAll, &cayley).unwrap()[..] else { panic!("one way to do it") };
        assert_eq!((one.schedule.steps().len(), &one.schedule.symmetry()), (1, cayley.symmetry()));
        let report = verify::schedule(&one.schedule);
        assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
        for (ranks, ways) in [(1025, 0), (520, 1)] {
            let ring = topologies::build("ring", &model::Shape::new(ranks, &[], 2).unwrap()).unwrap();
            let all = Topology::new("written out", Translations::trivial(ranks), ring.expanded()).unwrap();
            assert_eq!(compose(Collective::AllToAll, &all).unwrap().len(), ways, "{ranks}");
        }
    }
}
