//! One hop a step on any topology, or a few, outwards from every rank at once.
//!
//! In step j a rank sends on what it had j − 1 hops from its origin, to those whose shortest path leads over it. Steps of
//! several hops are fewer and send what lies farther from where it was before the step. The
//! steps are as many as the diameter and every block uses one link for each rank that it reaches, the least there is, so
//! on a graph of small diameter that loads its links evenly this is near the least in hops and in bytes at once. A
//! ReduceScatter is an AllGather backwards on the circuits turned round.

use std::collections::BTreeMap;

use model::{
    BreadthFirst, Chunks, Collective, Link, Op, Rank, Result, Schedule, Step, Topology, Transfer, Translations,
};

use crate::composition::Composition;
use crate::metacyclic::Metacyclic;
use crate::sent::Sent;

/// A topology of all ranks.
pub(crate) enum Whole {
    /// Of no known structure.
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

/// Most blocks times ranks of a flood.
const MOST_PAIRS: u64 = 1 << 18;

/// Hops of a step that are tried beside one.
const MOST_HOPS: usize = 3;

/// The floods for a collective of blocks by hops of a step; none where some rank cannot be reached, or ranks are too many.
///
/// # Errors
/// Those of [`Step::new`].
pub(crate) fn compose(collective: Collective, whole: &Whole) -> Result<Vec<Composition>> {
    let mut floods = Vec::new();
    // One circuit a rank makes rings, which digits serve in as few steps.
    let most = if whole.topology().degree() > 1 { MOST_HOPS } else { 1 };
    for hops in 1..=most {
        floods.extend(with_hops(collective, whole, hops)?);
    }
    Ok(floods)
}

fn with_hops(collective: Collective, whole: &Whole, hops: usize) -> Result<Option<Composition>> {
    let topology = whole.topology();
    let ranks = topology.ranks();
    if u64::from(ranks) * u64::from(ranks) > MOST_PAIRS {
        return Ok(None);
    }
    let chunks = |collective| Chunks::even(collective, ranks, 1);
    let gather = || half(whole, hops, &chunks(Collective::AllGather)?);
    let reduce = || half(whole, hops, &chunks(Collective::ReduceScatter)?);
    let steps = match collective {
        Collective::AllGather => gather()?,
        Collective::ReduceScatter => reduce()?,
        Collective::AllReduce => match (reduce()?, gather()?) {
            (Some(mut reduce), Some(gather)) => {
                reduce.extend(gather);
                Some(reduce)
            }
            _ => None,
        },
        Collective::AllToAll | Collective::Broadcast => None,
    };
    let Some(steps) = steps else { return Ok(None) };
    let schedule = Schedule::new(crate::ALGORITHM, chunks(collective)?, steps)?;
    Ok(Some(Composition { schedule, topologies: vec![topology.clone()], over_circuits: false }))
}

/// Steps of an AllGather, or of a ReduceScatter.
fn half(whole: &Whole, hops: usize, chunks: &Chunks) -> Result<Option<Vec<Step>>> {
    let backwards = chunks.collective() == Collective::ReduceScatter;
    let (symmetry, levels) = match whole {
        Whole::Any(topology) => {
            let turned = |link: &Link| if backwards { Link { src: link.dst, dst: link.src, ..*link } } else { *link };
            let links: Vec<Link> = topology.expanded().iter().map(turned).collect();
            let Some(levels) = levels(topology, &links) else { return Ok(None) };
            (topology.symmetry().clone(), levels)
        }
        Whole::Cayley(cayley) => (Translations::trivial(cayley.topology.ranks()), cayley.levels(backwards)),
    };
    if hops > 1 && levels.len() <= hops {
        // One step for all: that is every rank to every other at once.
        return Ok(None);
    }
    let (symmetry, levels) = match hops {
        1 => (symmetry, levels),
        _ => (
            Translations::trivial(symmetry.ranks()),
            levels.chunks(hops).map(|group| joined(group, &symmetry)).collect(),
        ),
    };
    let mut steps = Vec::new();
    for sent in levels {
        let transfers = sent.into_iter().map(|((src, dst), blocks)| {
            let chunks = blocks.into_iter().map(|owner| chunks.owned(owner, 0)).collect();
            if backwards {
                Transfer { src: dst, dst: src, op: Op::Reduce, chunks }
            } else {
                Transfer { src, dst, op: Op::Copy, chunks }
            }
        });
        steps.push(Step::new(symmetry.clone(), transfers, chunks)?);
    }
    if backwards {
        steps.reverse();
    }
    Ok(Some(steps))
}

/// Several levels in one step: what a rank would pass on in it comes straight from where it was before.
pub(crate) fn joined(levels: &[Sent], symmetry: &Translations) -> Sent {
    // By holder and origin, the rank that had the block before the step.
    let mut had: BTreeMap<(Rank, Rank), Rank> = BTreeMap::new();
    let mut all = Sent::new();
    for element in levels.iter().flat_map(|level| symmetry.elements().into_iter().map(move |element| (level, element)))
    {
        let (level, element) = element;
        let moved = |rank: &Rank| symmetry.apply(element, *rank);
        for ((src, dst), origins) in level {
            for origin in origins.iter().map(moved) {
                let (src, dst) = (moved(src), moved(dst));
                let from = had.get(&(src, origin)).copied().unwrap_or(src);
                had.insert((dst, origin), from);
                all.entry((from, dst)).or_default().push(origin);
            }
        }
    }
    all
}

/// What goes over each link by level, from one origin for each orbit of ranks. O(orbits · links), and the choice of links.
pub(crate) fn levels(topology: &Topology, links: &[Link]) -> Option<Vec<Sent>> {
    let group = topology.symmetry();
    let ranks = topology.ranks() as usize;
    let mut into: Vec<Vec<Link>> = vec![Vec::new(); ranks];
    let mut out: Vec<Vec<Rank>> = vec![Vec::new(); ranks];
    for link in links {
        into[link.dst as usize].push(*link);
        out[link.src as usize].push(link.dst);
    }
    let canonical = |src: Rank, dst: Rank| {
        let (representative, element) = group.canonical(src);
        (representative, group.apply(group.inverse(element), dst))
    };
    let mut sent: Vec<Sent> = Vec::new();
    for origin in group.representatives() {
        let distances = &distances(&out, origin)?;
        let into = &into;
        let mut reached: Vec<Rank> = (0..ranks as Rank).filter(|rank| *rank != origin).collect();
        let ways = move |rank: Rank| {
            let before = distances[rank as usize] - 1;
            into[rank as usize].iter().filter(move |link| distances[link.src as usize] == before)
        };
        // Those with the fewest ways first.
        reached.sort_by_key(|&rank| (distances[rank as usize], ways(rank).count(), rank));
        for rank in reached {
            let level = distances[rank as usize] as usize;
            if sent.len() < level {
                sent.resize_with(level, BTreeMap::new);
            }
            let carried = &mut sent[level - 1];
            let load = |link: &&Link| {
                let blocks = carried.get(&canonical(link.src, link.dst)).map_or(0, Vec::len);
                (blocks + 1) as f64 / f64::from(link.count)
            };
            let link = ways(rank).min_by(|a, b| load(a).total_cmp(&load(b)))?;
            let (representative, element) = group.canonical(link.src);
            let back = group.inverse(element);
            let over = (representative, group.apply(back, link.dst));
            carried.entry(over).or_default().push(group.apply(back, origin));
        }
    }
    Some(sent)
}

/// Hops from `origin`; `None` where some rank cannot be reached.
fn distances(out: &[Vec<Rank>], origin: Rank) -> Option<Vec<u32>> {
    let mut search = BreadthFirst::new(out.len());
    search.search(origin, |at| out[at as usize].iter().copied());
    (search.reached().len() == out.len()).then(|| search.into_distances())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Shape;

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
                let found = compose(collective, &Whole::Any(topology.clone())).unwrap().swap_remove(0);
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
        let cayley = Whole::Cayley(crate::metacyclic::best(24, 2).unwrap().unwrap());
        let torus = Whole::Any(topologies::build("torus:4x6", &Shape::new(24, &[4, 6], 4).unwrap()).unwrap());
        for whole in [kautz, cayley, torus] {
            for collective in [Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce] {
                let floods = compose(collective, &whole).unwrap();
                let passes = if collective == Collective::AllReduce { 2 } else { 1 };
                let diameter = floods[0].schedule.steps().len() / passes;
                assert!(floods.len() == MOST_HOPS && diameter > MOST_HOPS);
                for (hops, flood) in (1..).zip(&floods) {
                    assert_eq!(flood.schedule.steps().len(), passes * diameter.div_ceil(hops));
                    let report = verify::schedule(&flood.schedule);
                    assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
                }
            }
        }
    }
}
