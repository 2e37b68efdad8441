//! One hop a step on any topology, or a few, outwards from every rank at once.
//!
//! In step j a rank sends on what it had j − 1 hops from its origin, to those whose shortest path leads over it. Steps
//! of several hops are fewer and send what lies farther from where it was before the step; how many hops each takes is
//! chosen by price. The steps are as many as the diameter and every block uses one link for each rank that it reaches,
//! the least there is, so on a graph of small diameter that loads its links evenly this is near the least in hops and
//! in bytes at once. A ReduceScatter is an AllGather backwards on the circuits turned round.

use model::{Chunks, Collective, Link, Op, Result, Schedule, Step, Topology, Transfer};

use topologies::metacyclic::Metacyclic;

use crate::cayley_trees;
use crate::composition::{Composition, MOST_EXECUTED};
use crate::cutoffs::flood::{MOST_HOPS, MOST_LINKS, MOST_PAIRS};
use crate::flood_lengths;
use crate::outward_trees::OutwardTrees;
use crate::prices::Prices;

/// A topology of all ranks.
pub(crate) enum Whole {
    /// A topology of no known structure.
    Any(Topology),
    /// A Cayley digraph, whose links can be loaded evenly.
    Cayley(Metacyclic),
}

impl Whole {
    pub(crate) fn topology(&self) -> &Topology {
        match self {
            Self::Any(topology) => topology,
            Self::Cayley(cayley) => &cayley.topology,
        }
    }
}

/// The floods for a collective of blocks: that whose steps are chosen by price, where it differs from those of 1, 2 and
/// 3 hops a step, which follow. Empty where some rank cannot be reached, or ranks are too many.
///
/// # Errors
/// The errors of [`Step::new`].
pub(crate) fn compose(collective: Collective, whole: &Whole, prices: &Prices) -> Result<Vec<Composition>> {
    let (gathers, reduces) = match collective {
        Collective::AllGather => (true, false),
        Collective::ReduceScatter => (false, true),
        Collective::AllReduce => (true, true),
        _ => return Ok(Vec::new()),
    };
    let topology = whole.topology();
    let (ranks, orbits) = (topology.ranks(), topology.symmetry().orbits());
    let pairs = u64::from(ranks) * u64::from(orbits);
    if pairs > MOST_PAIRS || pairs * u64::from(topology.degree()) > MOST_LINKS {
        return Ok(Vec::new());
    }
    let chunks = |collective| Chunks::even(collective, ranks, 1);
    let all = chunks(collective)?;
    if all.executed_bytes(orbits) > MOST_EXECUTED {
        return Ok(Vec::new());
    }
    let mut ways = Vec::new();
    for (is_wanted, one) in [(reduces, Collective::ReduceScatter), (gathers, Collective::AllGather)] {
        let backwards = one == Collective::ReduceScatter;
        if is_wanted {
            let links = directed(topology, backwards);
            let Some(trees) = trees(whole, &links, backwards) else { return Ok(Vec::new()) };
            ways.push((trees, links, chunks(one)?));
        }
    }
    // Hops of the steps of each way.
    let mut lengths: Vec<Vec<Vec<u32>>> = Vec::new();
    // One circuit a rank makes rings, which digits serve in as few steps.
    let most = if topology.degree() > 1 { MOST_HOPS } else { 1 };
    for hops in 1..=most {
        lengths.push(ways.iter().map(|(trees, ..)| equal_lengths(hops, trees.depth())).collect());
    }
    if most > 1 {
        let cheapest = ways.iter().map(|(trees, links, _)| flood_lengths::cheapest(trees, links, prices));
        let cheapest: Option<Vec<Vec<u32>>> = cheapest.collect();
        if let Some(cheapest) = cheapest.filter(|cheapest| !lengths.contains(cheapest)) {
            lengths.insert(0, cheapest);
        }
    }
    // All hops in one step are every rank to every other at once.
    lengths.retain(|lengths| lengths.iter().all(|one| one.len() > 1 || one.iter().all(|hops| *hops == 1)));
    let mut floods = Vec::new();
    for lengths in lengths {
        let mut steps = Vec::new();
        for ((trees, _, chunks), lengths) in ways.iter().zip(lengths) {
            steps.extend(half(trees, lengths, chunks)?);
        }
        let schedule = Schedule::new(crate::ALGORITHM, all.clone(), steps)?;
        let topologies = vec![topology.clone()];
        floods.push(Composition { schedule, topologies, over_circuits: false, routes: Vec::new() });
    }
    Ok(floods)
}

/// The links, all of them turned round where what is sent runs backwards.
fn directed(topology: &Topology, backwards: bool) -> Vec<Link> {
    let turned = |link: Link| if backwards { Link { src: link.dst, dst: link.src, ..link } } else { link };
    topology.expanded().into_iter().map(turned).collect()
}

/// Steps of this many hops each, the last of what is left.
fn equal_lengths(hops: u32, depth: u32) -> Vec<u32> {
    (0..depth).step_by(hops as usize).map(|first| hops.min(depth - first)).collect()
}

/// The trees of an AllGather, or of a ReduceScatter, which runs backwards over the links turned round.
fn trees(whole: &Whole, links: &[Link], backwards: bool) -> Option<OutwardTrees> {
    match whole {
        Whole::Any(topology) => OutwardTrees::over(topology, links),
        Whole::Cayley(cayley) => Some(cayley_trees::trees(cayley, backwards)),
    }
}

/// Steps of an AllGather, or of a ReduceScatter, in order: of this many hops from the origin on.
fn half(trees: &OutwardTrees, lengths: Vec<u32>, chunks: &Chunks) -> Result<Vec<Step>> {
    let backwards = chunks.collective() == Collective::ReduceScatter;
    let mut steps = Vec::new();
    for sent in trees.sent(lengths, None) {
        let transfers = sent.into_iter().map(|((src, dst), blocks)| {
            let chunks = blocks.into_iter().map(|owner| chunks.owned(owner, 0)).collect();
            if backwards {
                Transfer { src: dst, dst: src, op: Op::Reduce, chunks }
            } else {
                Transfer { src, dst, op: Op::Copy, chunks }
            }
        });
        steps.push(Step::new(trees.symmetry().clone(), transfers, chunks)?);
    }
    if backwards {
        steps.reverse();
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use model::{Rank, Shape};

    use super::*;

    /// Every rank takes in n − 1 blocks, one hop each, in as many steps as the diameter.
    #[test]
    fn a_flood_takes_the_diameter_and_one_use_of_a_link_for_each_rank() {
        for (spec, dims, ports, diameter) in [
            ("kautz", vec![64], 2, 6),
            ("torus:8x8", vec![8, 8], 4, 8),
            ("grid:4x4", vec![4, 4], 4, 6),
            ("ring", vec![9], 1, 8),
        ] {
            let gpus = dims.iter().product();
            let shape = Shape::new(gpus, if dims.len() > 1 { &dims } else { &[] }, ports).unwrap();
            let topology = topologies::build(spec, &shape).unwrap();
            for collective in [Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce] {
                let prices = Prices::in_a_test(gpus, ports, 1 << 20, 0.0);
                // Without startups steps of one hop are the cheapest.
                let found = compose(collective, &Whole::Any(topology.clone()), &prices).unwrap().swap_remove(0);
                let report = verify::schedule(&found.schedule);
                assert!(report.first_failure().is_none(), "{spec} {:?}", report.first_failure());
                let passes = if collective == Collective::AllReduce { 2 } else { 1 };
                assert_eq!(found.schedule.steps().len(), passes * diameter, "{spec}");
                let circuits: Vec<(Rank, Rank)> = topology.expanded().iter().map(|link| (link.src, link.dst)).collect();
                let mut moved = 0;
                for transfer in found.schedule.steps().iter().flat_map(|step| step.expanded(found.schedule.chunks())) {
                    assert!(circuits.contains(&(transfer.src, transfer.dst)), "{spec}");
                    moved += transfer.chunks.len();
                }
                assert_eq!(moved, passes * (gpus * (gpus - 1)) as usize, "{spec}");
            }
        }
    }

    #[test]
    fn steps_of_several_hops_are_fewer_and_gather_the_same() {
        let shape = Shape::new(24, &[], 2).unwrap();
        let kautz = Whole::Any(topologies::build("kautz", &shape).unwrap());
        let cayley = Whole::Cayley(topologies::metacyclic::best(24, 2).unwrap().unwrap());
        let torus = Whole::Any(topologies::build("torus:4x6", &Shape::new(24, &[4, 6], 4).unwrap()).unwrap());
        let mut chosen = 0;
        for whole in [kautz, cayley, torus] {
            for collective in [Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce] {
                let ports = whole.topology().degree();
                let floods =
                    |startup_s| compose(collective, &whole, &Prices::in_a_test(24, ports, 1 << 20, startup_s)).unwrap();
                // Without startups steps of one hop are the cheapest, with some there may be long ones near the
                // origins.
                let passes = if collective == Collective::AllReduce { 2 } else { 1 };
                let mut equal = floods(0.0);
                let diameter = equal[0].schedule.steps().len() / passes;
                assert!(equal.len() as u32 == MOST_HOPS && diameter as u32 > MOST_HOPS);
                for startup_s in [1e-7, 5e-7, 2e-6] {
                    let mut floods = floods(startup_s);
                    if floods.len() as u32 > MOST_HOPS {
                        equal.push(floods.swap_remove(0));
                        chosen += 1;
                    }
                }
                for (hops, flood) in (1..).zip(&equal) {
                    let steps = flood.schedule.steps().len();
                    assert!(hops > MOST_HOPS as usize || steps == passes * diameter.div_ceil(hops));
                    let report = verify::schedule(&flood.schedule);
                    assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
                }
            }
        }
        assert!(chosen > 9, "{chosen} of 27 floods have steps of their own lengths");
    }
}
