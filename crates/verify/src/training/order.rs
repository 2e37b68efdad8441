//! The order of events: dependencies, one computation at a time on a rank, collectives of a stream in their order.

use std::collections::BTreeMap;

use model::{Rank, Work, Workload};

use super::iteration::{Iteration, show_apart};
use super::waits::Waits;
use crate::report::{Check, Tally};

/// By node the collectives that come right before it in its stream on some rank, each once, with such a rank.
pub(super) fn stream_predecessors(workload: &Workload) -> Vec<Vec<(usize, Rank)>> {
    let mut last: BTreeMap<(&str, Rank), usize> = BTreeMap::new();
    let mut before = vec![Vec::new(); workload.nodes.len()];
    for (index, node) in workload.nodes.iter().enumerate() {
        let Work::Collective { stream: Some(stream), .. } = &node.work else { continue };
        let mut found = BTreeMap::new();
        for rank in workload.ranks_of(index) {
            if let Some(other) = last.insert((stream, rank), index) {
                found.entry(other).or_insert(rank);
            }
        }
        before[index] = found.into_iter().collect();
    }
    before
}

/// Checks that nothing starts before what it comes after has ended, and says so to `waits`.
pub(super) fn check(iteration: &Iteration<'_>, streams: &[Vec<(usize, Rank)>], waits: &mut [Waits]) -> [Check; 3] {
    let workload = &iteration.training.workload;
    let [mut dependencies, mut computations, mut in_streams] =
        ["dependencies", "computations", "streams"].map(Tally::new);
    let follows = |tally: &mut Tally, event: usize, other: usize, at: &dyn Fn() -> String| {
        let (start_s, end_s) = (iteration.event(event).start_s, iteration.event(other).end_s);
        tally.expect(iteration.is_by(end_s, start_s), || {
            let (name, other) = (iteration.name(event), iteration.name(other));
            let [start, end] = show_apart([start_s, end_s]);
            format!("{name}{}: starts at {start}, before the end of {other} at {end}", at())
        });
    };
    let mut last: Vec<Option<usize>> = vec![None; workload.ranks as usize];
    for &event in &iteration.order {
        interruption::check();
        for &other in &workload.nodes[event].after {
            follows(&mut dependencies, event, other, &String::new);
            waits[event].end_of(other, iteration.event(other).end_s);
        }
        for &(other, rank) in &streams[event] {
            follows(&mut in_streams, event, other, &|| format!(", rank {rank}"));
            waits[event].end_of(other, iteration.event(other).end_s);
        }
        if !matches!(iteration.work(event), Work::Compute { .. }) {
            continue;
        }
        for rank in workload.ranks_of(event) {
            let place = &mut last[rank as usize];
            if let Some(other) = *place {
                follows(&mut computations, event, other, &|| format!(", rank {rank}"));
                waits[event].end_of(other, iteration.event(other).end_s);
            }
            // A computation that lasts longer keeps the rank, also where another was wrongly begun during it.
            if place.is_none_or(|other| iteration.event(event).end_s >= iteration.event(other).end_s) {
                *place = Some(event);
            }
        }
    }
    [
        dependencies.into_check("dependency", "kept"),
        computations.into_check("computation", "one after another on their ranks"),
        in_streams.into_check("collective", "one after another in their streams"),
    ]
}
