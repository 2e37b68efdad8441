//! The candidate on topologies that are given: those of a plan for a matrix like this one.

use super::bases;
use super::candidate::Candidate;
use super::flow::Path;
use super::layers::Layers;
use super::task::Task;
use crate::cutoffs::unequal_waiting::{LEAST_IN_COMMON, MOST_EXCHANGED_STEPS, TRIALS_FROM_GIVEN};
use crate::unequal::demand::Demand;
use crate::unequal::pursuit::{Given, GivenPath};
use crate::unequal::wiring::Wiring;

/// Hops by which the paths of a single step may be longer than its diameter.
const HOPS_MORE: u32 = 1;

/// The candidate on these topologies, with the paths that are given. Where there are none, or they leave some pair
/// without one, or are those of a matrix that is too different, few topologies get some exchanges of circuits that bring
/// bytes nearer, and all pairs new paths. `None` where some pair has no path on them, or where they do not begin with
/// the start.
pub(super) fn candidate(task: &Task<'_>, given: &Given) -> Option<Candidate> {
    let wirings: Vec<Wiring> = given.topologies.iter().map(|topology| Wiring::of(topology, task.ports)).collect();
    let first = wirings.first()?;
    if task.start.is_some_and(|start| !start.has_circuits_of(first)) {
        return None;
    }
    let mut candidate = on_paths(task, &wirings, given).or_else(|| on_circuits(task, wirings))?;
    candidate.improve_soon(task);
    Some(candidate)
}

/// The candidate on these topologies and paths, none longer within a step than the longest of these; `None` where they
/// carry other bytes, or some pair has no path within this length.
fn on_paths(task: &Task<'_>, wirings: &[Wiring], given: &Given) -> Option<Candidate> {
    if in_common(task.demand, &given.paths) < LEAST_IN_COMMON {
        return None;
    }
    let layers = Layers::new(wirings);
    let paths = kept(&layers, &given.paths);
    Candidate::on_paths(task, wirings.to_vec(), layers, paths, HOPS_MORE)
}

/// The candidate on these topologies after some exchanges of circuits where they are few, or as they are.
fn on_circuits(task: &Task<'_>, wirings: Vec<Wiring>) -> Option<Candidate> {
    let mut random = bases::seeded(0);
    let few = wirings.len() <= MOST_EXCHANGED_STEPS;
    let exchanged = few.then(|| task.nearer(&wirings, TRIALS_FROM_GIVEN, &mut random));
    let mut made = |wirings| Candidate::new(task, wirings, HOPS_MORE, &mut random);
    exchanged.and_then(&mut made).or_else(|| made(wirings))
}

/// The part of all bytes that the matrix and the one of the paths have in common, each pair's as a part of its matrix.
fn in_common(demand: &Demand, paths: &[GivenPath]) -> f64 {
    let ranks = demand.ranks();
    let mut before = vec![0.0; ranks * ranks];
    for path in paths {
        before[path.src as usize * ranks + path.dst as usize] += path.share;
    }
    let pairs = demand.pairs();
    let all: f64 = pairs.iter().map(|&(src, dst)| demand.share(src, dst)).sum();
    let all_before: f64 = before.iter().sum();
    let both = |&(src, dst): &(u32, u32)| {
        (demand.share(src, dst) / all).min(before[src as usize * ranks + dst as usize] / all_before)
    };
    if all_before > 0.0 { pairs.iter().map(both).sum() } else { 0.0 }
}

/// By pair, the paths over links that are there.
fn kept(layers: &Layers, given: &[GivenPath]) -> Vec<Vec<Path>> {
    let mut paths: Vec<Vec<Path>> = vec![Vec::new(); layers.ranks * layers.ranks];
    for path in given {
        let mut at = path.src;
        let link = |&(step, head): &(u32, _)| {
            let tail = std::mem::replace(&mut at, head);
            layers.link(step as usize, tail, head).map(|link| link as u32)
        };
        let Some(mut links) = path.hops.iter().map(link).collect::<Option<Vec<u32>>>() else { continue };
        if at != path.dst {
            continue;
        }
        links.reverse();
        let of_pair = &mut paths[path.src as usize * layers.ranks + path.dst as usize];
        match of_pair.iter_mut().find(|known| known.links == links) {
            Some(known) => known.share += path.share,
            None => of_pair.push(Path { links, share: path.share }),
        }
    }
    paths
}
