//! A machine does one thing at a time: the computations of a class of ranks, or a port of one. Each bounds every order.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use crate::timeline::{Circuits, Problem};

/// A node's turn on a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turn {
    pub(super) node: usize,
    /// Dark time of the port before the turn that every order has, s: the delay of a change if no other turn leaves the
    /// circuits that this one begins with, else 0.
    before_s: f64,
    /// Dark time of the port after the turn, s.
    after_s: f64,
}

/// The turns of a machine, in the order of the nodes.
pub(super) type Machine = Vec<Turn>;

/// All machines, those with the same turns once.
pub(super) fn machines(problem: &Problem<'_>) -> Vec<Machine> {
    let jobs = problem.jobs;
    let mut computing: Vec<Machine> = vec![Vec::new(); jobs.classes];
    let mut users: BTreeMap<(usize, u32), Vec<(usize, usize)>> = BTreeMap::new();
    for node in 0..jobs.jobs.len() {
        for (place, &class) in problem.holders(node).iter().enumerate() {
            match &problem.uses[node] {
                None => computing[class].push(Turn { node, before_s: 0.0, after_s: 0.0 }),
                Some(used) => {
                    for port in used.ports.0..used.ports.1 {
                        users.entry((class, port)).or_default().push((node, place));
                    }
                }
            }
        }
    }
    let of_port = |users: Vec<(usize, usize)>| -> Machine {
        let mut left: BTreeMap<Circuits, usize> = BTreeMap::new();
        for &(node, place) in &users {
            *left.entry(problem.left(node, place).0).or_default() += 1;
        }
        let is_alone = users.len() == 1;
        let turn = |(node, place): (usize, usize)| {
            // The turn before it, in this iteration or in the one before, where there is one.
            let own = problem.left(node, place).0;
            let by_another = |(&circuits, &turns): (&Circuits, &usize)| is_alone || circuits != own || turns > 1;
            let mut before = left.iter().filter(|&entry| by_another(entry));
            let stands = before.any(|(&circuits, _)| problem.has_circuits(node, place, circuits));
            let before_s = if stands { 0.0 } else { problem.delay_s };
            Turn { node, before_s, after_s: problem.left(node, place).1 }
        };
        users.into_iter().map(turn).collect()
    };
    let mut all: Vec<Machine> = computing.into_iter().chain(users.into_values().map(of_port)).collect();
    let key = |turn: &Turn| (turn.node, turn.before_s.to_bits(), turn.after_s.to_bits());
    all.retain(|machine| !machine.is_empty());
    all.sort_by(|a, b| a.iter().map(key).cmp(b.iter().map(key)));
    all.dedup();
    all
}

/// The least period of a machine: iteration after iteration, all of its turns and what is dark between them.
pub(super) fn period_s(problem: &Problem<'_>, machine: &Machine) -> f64 {
    machine.iter().map(|turn| turn.before_s + problem.duration_s(turn.node) + turn.after_s).sum()
}

/// The least end of an iteration by what a machine has left to do: each of its `open` turns not before `head_s` of its
/// node, with `behind_s` after it, one at a time, and interrupted as one likes (Jackson's preemptive schedule, which
/// Carlier bounds one machine by).
pub(super) fn one_at_a_time_s(
    problem: &Problem<'_>,
    machine: &Machine,
    open: impl Fn(usize) -> bool,
    head_s: &[f64],
    behind_s: &[f64],
) -> f64 {
    // The dark time before a turn may be within the iteration before.
    let task = |turn: &Turn| {
        let length_s = turn.before_s + problem.duration_s(turn.node) + turn.after_s;
        (head_s[turn.node] - turn.before_s, length_s, behind_s[turn.node] - turn.after_s)
    };
    let mut tasks: Vec<(f64, f64, f64)> = machine.iter().filter(|turn| open(turn.node)).map(task).collect();
    tasks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut waiting: BinaryHeap<Waiting> = BinaryHeap::new();
    let mut tasks = tasks.into_iter().peekable();
    let (mut now_s, mut end_s) = (f64::NEG_INFINITY, 0.0f64);
    loop {
        if waiting.is_empty() {
            let Some(&(release_s, ..)) = tasks.peek() else { return end_s };
            now_s = now_s.max(release_s);
        }
        while let Some(&(_, length_s, tail_s)) = tasks.peek().filter(|task| task.0 <= now_s) {
            waiting.push(Waiting { tail_s, left_s: length_s });
            tasks.next();
        }
        let Some(Waiting { tail_s, left_s }) = waiting.pop() else { continue };
        let until_s = tasks.peek().map_or(f64::INFINITY, |task| task.0);
        if now_s + left_s <= until_s {
            now_s += left_s;
            end_s = end_s.max(now_s + tail_s);
        } else {
            waiting.push(Waiting { tail_s, left_s: left_s - (until_s - now_s) });
            now_s = until_s;
        }
    }
}

/// A task that waits for the machine; the one with the longest tail is next.
struct Waiting {
    tail_s: f64,
    left_s: f64,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.tail_s.total_cmp(&other.tail_s)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}
