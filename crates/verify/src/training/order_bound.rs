//! A bound on the order of the events: no order takes less time, with the same plans on the same ports.

use std::collections::{BTreeMap, BTreeSet};

use model::{Rank, Work};

use super::catalogue::Circuits;
use super::iteration::{Iteration, show_apart};
use super::replay::Turn;
use crate::report::{Check, Tally};

/// An event on a port or rank: which, and whether that is dark before it in every order, and after it.
type Place = (usize, bool, bool);

/// Checks that the bound is one: at most what is recomputed, and the total.
pub(super) fn check(iteration: &Iteration<'_>, streams: &[Vec<(usize, Rank)>], turns: &[Turn]) -> Check {
    let training = iteration.training;
    let mut bound = Tally::new("order-bound");
    let stated_s = training.order_bound_s;
    bound.expect(stated_s.is_finite() && stated_s >= 0.0, || format!("{stated_s} s is not a time"));
    bound.expect(iteration.is_by(stated_s, iteration.total_s), || {
        let [stated, total] = show_apart([stated_s, iteration.total_s]);
        format!("stated as {stated}, and the iteration takes {total}")
    });
    let known_s = known_s(iteration, streams, turns);
    bound.expect(iteration.is_by(stated_s, known_s), || {
        let [stated, known] = show_apart([stated_s, known_s]);
        format!("stated as {stated}, recomputed as {known}")
    });
    let searched = training.order_exact && !iteration.is_at(known_s, iteration.total_s);
    let what = "of the bound for any order, which was recomputed";
    let unchecked = "; that no order is faster, as `order_exact` says, was not checked";
    bound.into_check("comparison", &format!("{what}{}", if searched { unchecked } else { "" }))
}

/// The longest chain of dependencies and streams; what each port and each rank has to do, over all iterations, and in
/// one of them between the chains before and after it.
fn known_s(iteration: &Iteration<'_>, streams: &[Vec<(usize, Rank)>], turns: &[Turn]) -> f64 {
    let workload = &iteration.training.workload;
    let takes_s: Vec<f64> = iteration.training.events.iter().map(|event| event.end_s - event.start_s).collect();
    let (mut before_s, mut after_s) = (vec![0.0_f64; takes_s.len()], vec![0.0_f64; takes_s.len()]);
    let waits = |event: usize| {
        let streams = streams[event].iter().map(|(other, _)| *other);
        workload.nodes[event].after.iter().copied().chain(streams).collect::<Vec<usize>>()
    };
    for &event in workload.order() {
        for other in waits(event) {
            before_s[event] = before_s[event].max(before_s[other] + takes_s[other]);
        }
    }
    for &event in workload.order().iter().rev() {
        for other in waits(event) {
            after_s[other] = after_s[other].max(after_s[event] + takes_s[event]);
        }
    }
    let mut known_s = (0..takes_s.len()).map(|event| before_s[event] + takes_s[event]).fold(0.0, f64::max);
    let dark_s = |dark: bool| if dark { iteration.change_s } else { 0.0 };
    for places in places(iteration, turns) {
        let task = |&(event, before, after): &Place| Task {
            from_s: before_s[event] - dark_s(before),
            takes_s: dark_s(before) + takes_s[event] + dark_s(after),
            then_s: after_s[event] - dark_s(after),
        };
        let tasks: Vec<Task> = places.iter().map(task).collect();
        known_s = known_s.max(tasks.iter().map(|task| task.takes_s).sum()).max(earliest_end_s(tasks));
    }
    known_s
}

/// The work of ports and ranks, the same once.
fn places(iteration: &Iteration<'_>, turns: &[Turn]) -> BTreeSet<Vec<Place>> {
    let workload = &iteration.training.workload;
    let mut computed: BTreeMap<Rank, Vec<Place>> = BTreeMap::new();
    for (event, node) in workload.nodes.iter().enumerate() {
        if let Work::Compute { .. } = node.work {
            workload.ranks_of(event).into_iter().for_each(|rank| {
                computed.entry(rank).or_default().push((event, false, false));
            });
        }
    }
    let mut of_port: BTreeMap<usize, Vec<&Turn>> = BTreeMap::new();
    turns.iter().for_each(|turn| of_port.entry(turn.slot).or_default().push(turn));
    let of_port = of_port.into_values().map(|turns| {
        // The circuits that turns leave, and how many turns leave them.
        let mut left: Vec<(Option<Circuits>, usize)> = Vec::new();
        for turn in &turns {
            match left.iter_mut().find(|(circuits, _)| *circuits == turn.used.leaves) {
                Some((_, count)) => *count += 1,
                None => left.push((turn.used.leaves, 1)),
            }
        }
        let mut places: Vec<Place> = turns.iter().map(|turn| turn.place(iteration, &left, turns.len())).collect();
        places.sort_unstable();
        places
    });
    computed.into_values().chain(of_port).collect()
}

impl Turn {
    /// The turn's dark times: before it, if no other turn leaves the circuits that it needs; after it, if its port is
    /// not free at its end.
    fn place(&self, iteration: &Iteration<'_>, left: &[(Option<Circuits>, usize)], turns: usize) -> Place {
        let stands = |&(circuits, count): &(Option<Circuits>, usize)| {
            let by_another = turns == 1 || count > 1 || circuits != self.used.leaves;
            let serves = circuits == self.used.needs || self.used.needs_resting && circuits == Some(Circuits::Resting);
            by_another && serves
        };
        let is_dark_after = self.used.until_s > iteration.event(self.event).end_s;
        (self.event, !left.iter().any(stands), is_dark_after)
    }
}

/// The occupation of a port or rank for `takes_s`, not before `from_s`, with `then_s` after it.
struct Task {
    from_s: f64,
    takes_s: f64,
    then_s: f64,
}

/// The earliest end of all tasks, one at a time and interrupted as one likes: always the one with most after it.
fn earliest_end_s(mut tasks: Vec<Task>) -> f64 {
    tasks.sort_by(|a, b| b.from_s.total_cmp(&a.from_s));
    // Tasks that have begun, as (`then_s`, seconds left), the largest `then_s` last.
    let mut begun: Vec<(f64, f64)> = Vec::new();
    let (mut now_s, mut end_s) = (f64::NEG_INFINITY, 0.0_f64);
    while !(tasks.is_empty() && begun.is_empty()) {
        if begun.is_empty() {
            now_s = now_s.max(tasks.last().map_or(now_s, |task| task.from_s));
        }
        while let Some(task) = tasks.pop_if(|task| task.from_s <= now_s) {
            let at = begun.partition_point(|(then_s, _)| *then_s < task.then_s);
            begun.insert(at, (task.then_s, task.takes_s));
        }
        let next_s = tasks.last().map_or(f64::INFINITY, |task| task.from_s);
        if let Some((then_s, left_s)) = begun.pop() {
            let until_s = (now_s + left_s).min(next_s);
            if until_s < now_s + left_s {
                begun.push((then_s, left_s - (until_s - now_s)));
            } else {
                end_s = end_s.max(until_s + then_s);
            }
            now_s = until_s;
        }
    }
    end_s
}
