//! All orders of few nodes: branch and bound.

use super::machines::{Machine, one_at_a_time_s};
use super::paths::Paths;
pub(super) use crate::cutoffs::orders_branching::MOST_NODES;
use crate::timeline::{Event, Problem, Progress, Timeline};

/// The search through all orders.
///
/// Every order whose nodes begin as early as they can is met once, by its starts, in an iteration before which nothing
/// is known of circuits. An order's own time is that of the iteration that repeats.
pub(super) struct Branching<'a> {
    problem: Problem<'a>,
    paths: &'a Paths,
    machines: &'a [Machine],
    /// By node: those that share a machine with it, and those before and after it.
    apart: Vec<u64>,
    /// Lower bound on the time of any order, s.
    bound_s: f64,
    best: Option<Timeline>,
    /// The number of nodes that may still be placed.
    left: usize,
    /// Whether iterations in each order that was looked at become alike.
    all_settle: bool,
}

/// The first nodes of an order.
#[derive(Clone)]
struct Begun {
    order: Vec<usize>,
    placed: u64,
    progress: Progress,
}

impl<'a> Branching<'a> {
    pub(super) fn new(
        problem: Problem<'a>,
        paths: &'a Paths,
        machines: &'a [Machine],
        bound_s: f64,
        best: Option<Timeline>,
    ) -> Self {
        let mut apart = vec![0u64; problem.jobs.jobs.len()];
        for machine in machines {
            let all = machine.iter().fold(0, |all, turn| all | 1 << turn.node);
            machine.iter().for_each(|turn| apart[turn.node] |= all);
        }
        for (node, job) in problem.jobs.jobs.iter().enumerate() {
            for &before in &job.before {
                apart[node] |= 1 << before;
                apart[before] |= 1 << node;
            }
        }
        Self { problem, paths, machines, apart, bound_s, best, left: 0, all_settle: true }
    }

    /// The best timeline, and whether no order is faster; gives up after this many placed nodes.
    pub(super) fn run(mut self, most_placed: usize) -> (Option<Timeline>, bool) {
        self.left = most_placed;
        let begun = Begun { order: Vec::new(), placed: 0, progress: self.problem.relaxed() };
        let complete = self.is_least(self.bound_s) || (self.extend(&begun) && self.all_settle);
        (self.best, complete)
    }

    /// Whether an order that takes at least this long is no faster than the best.
    fn is_least(&self, bound_s: f64) -> bool {
        self.best.as_ref().is_some_and(|best| best.is_least(bound_s))
    }

    /// Looks through all orders that begin so; whether it did to the end.
    fn extend(&mut self, begun: &Begun) -> bool {
        let jobs = &self.problem.jobs.jobs;
        if begun.order.len() == jobs.len() {
            match self.problem.in_order(&begun.order) {
                None => self.all_settle = false,
                Some(found) if !self.is_least(found.total_s) => self.best = Some(found),
                Some(_) => {}
            }
            return true;
        }
        if self.is_least(self.bound_of(begun)) {
            return true;
        }
        let is_ready = |node: usize| jobs[node].before.iter().all(|&before| begun.placed >> before & 1 == 1);
        let open = (0..jobs.len()).filter(|&node| begun.placed >> node & 1 == 0 && is_ready(node));
        let mut next: Vec<(usize, Event)> = open
            .map(|node| (node, self.problem.earliest(node, &begun.progress)))
            .filter(|(node, event)| self.follows(begun, *node, event))
            .collect();
        let behind_s = &self.paths.behind_s;
        next.sort_by(|a, b| a.1.start_s.total_cmp(&b.1.start_s).then(behind_s[b.0].total_cmp(&behind_s[a.0])));
        for (node, event) in next {
            if self.is_least(self.bound_s) {
                return true;
            }
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            let mut more = begun.clone();
            self.problem.place(node, event, &mut more.progress);
            more.order.push(node);
            more.placed |= 1 << node;
            if !self.extend(&more) {
                return false;
            }
        }
        true
    }

    /// Whether a node may be the next of an order by starts; of two that begin together and have nothing to do with
    /// each other the lower comes first.
    fn follows(&self, begun: &Begun, node: usize, event: &Event) -> bool {
        let Some(&last) = begun.order.last() else { return true };
        let last_s = begun.progress.events[last].start_s;
        event.start_s > last_s || (event.start_s == last_s && (node > last || self.apart[node] >> last & 1 == 1))
    }

    /// The least time of all orders that begin so.
    fn bound_of(&self, begun: &Begun) -> f64 {
        let (problem, placed) = (&self.problem, |node: usize| begun.placed >> node & 1 == 1);
        let events = &begun.progress.events;
        let mut head_s = vec![0.0; events.len()];
        let mut bound_s = 0.0f64;
        for &node in &problem.jobs.order {
            if placed(node) {
                bound_s = bound_s.max(events[node].end_s + self.paths.behind_s[node]);
                continue;
            }
            let before = problem.jobs.jobs[node].before.iter();
            let ends = before.map(|&before| {
                if placed(before) { events[before].end_s } else { head_s[before] + problem.duration_s(before) }
            });
            head_s[node] = ends.fold(problem.free_s(node, &begun.progress), f64::max);
            bound_s = bound_s.max(head_s[node] + problem.duration_s(node) + self.paths.behind_s[node]);
        }
        for machine in self.machines {
            let open = |node: usize| !placed(node);
            bound_s = bound_s.max(one_at_a_time_s(problem, machine, open, &head_s, &self.paths.behind_s));
        }
        bound_s
    }
}
