//! When everything runs: list scheduling of computations and communications, once their plans and ports are chosen, for
//! an iteration that repeats for ever.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::jobs::{Jobs, Task};
use crate::library::{Entry, TopologyId};

/// What a port has: groups, topology, and the ports that share them.
type Circuits = (u32, u32, (u32, u32));

/// The resting topology, whoever gave the port back.
const RESTING: Circuits = (0, u32::MAX, (0, 0));

/// Stands for the topology of messages with circuits of their own: which these are, their pairs say.
const OF_MESSAGES: u32 = u32::MAX - 2;

/// Circuits that nobody wants.
const UNSET: Circuits = (0, u32::MAX - 1, (0, 0));

/// How a communication is carried out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Use {
    /// First port and the one after the last.
    pub(crate) ports: (u32, u32),
    /// The plan or message.
    pub(crate) entry: Entry,
    /// Whether its ports go back to the resting topology afterwards, and which that is on its own ports, if they have one.
    pub(crate) returns: Option<Option<TopologyId>>,
}

/// When a node runs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Event {
    pub(crate) start_s: f64,
    pub(crate) end_s: f64,
    pub(crate) reconfigured: bool,
    /// How much later it starts than without the change before it.
    pub(crate) exposed_s: f64,
    pub(crate) waits_for: Option<usize>,
}

/// An iteration in time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Timeline {
    pub(crate) events: Vec<Event>,
    pub(crate) total_s: f64,
    /// Nodes in the order in which they were given their times.
    pub(crate) order: Vec<usize>,
}

/// What a port of a class of ranks has, and since when it is free.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Port {
    circuits: Circuits,
    ready_s: f64,
    by: Option<usize>,
}

/// How often an iteration is followed by the next until they are alike.
const MOST_ROUNDS: usize = 12;

/// How often after that, all in the order of the last: what takes turns is then at rest.
const MOST_ORDERED_ROUNDS: usize = 8;

/// The timeline of an iteration, after the transient of the first ones.
///
/// The node that can start first is next; of several, messages before collectives before computations, then the one
/// with the longest way to the end. None where the iterations do not become alike. Costs
/// O(nodes · (classes · ports + log nodes)).
pub(crate) fn timeline(jobs: &Jobs, ports: u32, delay_s: f64, uses: &[Option<Use>]) -> Option<Timeline> {
    let priority = priorities(jobs, uses);
    let mut state = vec![Port { circuits: UNSET, ready_s: 0.0, by: None }; jobs.classes * ports as usize];
    let mut order: Vec<usize> = Vec::new();
    for round in 0..MOST_ROUNDS + MOST_ORDERED_ROUNDS {
        let start = state.clone();
        let mut next = Round { jobs, ports, delay_s, uses, priority: &priority, state: &mut state };
        let found = if round < MOST_ROUNDS { next.run() } else { next.run_in(&order) };
        let mut settled = true;
        for (port, start) in state.iter_mut().zip(&start) {
            port.ready_s -= found.total_s;
            let moved = (port.ready_s - start.ready_s).abs() > 1e-12 * found.total_s;
            let was_used = port.by.take().is_some();
            settled &= port.circuits == start.circuits && !(was_used && moved);
        }
        if settled {
            return Some(found);
        }
        order = found.order;
    }
    None
}

/// Ranks of the nodes: the lowest goes first.
fn priorities(jobs: &Jobs, uses: &[Option<Use>]) -> Vec<u32> {
    let mut tail_s = vec![0.0f64; jobs.jobs.len()];
    for &node in jobs.order.iter().rev() {
        let own_s = match &jobs.jobs[node].task {
            Task::Compute { duration_s } => *duration_s,
            Task::Communicate { .. } => uses[node].map_or(0.0, |used| used.entry.duration_s),
        };
        tail_s[node] += own_s;
        for &before in &jobs.jobs[node].before {
            tail_s[before] = tail_s[before].max(tail_s[node]);
        }
    }
    let class = |node: usize| match (&jobs.jobs[node].task, uses[node]) {
        (Task::Compute { .. }, _) => 2,
        (_, Some(used)) if used.entry.plan.is_none() => 0,
        _ => 1,
    };
    let mut nodes: Vec<usize> = (0..jobs.jobs.len()).collect();
    nodes.sort_by(|&a, &b| class(a).cmp(&class(b)).then(tail_s[b].total_cmp(&tail_s[a])).then(a.cmp(&b)));
    let mut priority = vec![0; nodes.len()];
    for (place, node) in nodes.into_iter().enumerate() {
        priority[node] = place as u32;
    }
    priority
}

/// One iteration.
struct Round<'a> {
    jobs: &'a Jobs,
    ports: u32,
    delay_s: f64,
    uses: &'a [Option<Use>],
    priority: &'a [u32],
    state: &'a mut [Port],
}

impl Round<'_> {
    fn run(&mut self) -> Timeline {
        let jobs = self.jobs;
        let mut events = vec![Event::default(); jobs.jobs.len()];
        let mut computing: Vec<(f64, Option<usize>)> = vec![(0.0, None); jobs.classes];
        let mut missing: Vec<usize> = jobs.jobs.iter().map(|job| job.before.len()).collect();
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); jobs.jobs.len()];
        for (node, job) in jobs.jobs.iter().enumerate() {
            for &before in &job.before {
                followers[before].push(node);
            }
        }
        // Times are not negative, so that their bits are in their order.
        let mut ready: BinaryHeap<Reverse<(u64, u32, usize)>> = BinaryHeap::new();
        for node in (0..jobs.jobs.len()).filter(|&node| missing[node] == 0) {
            ready.push(Reverse((0, self.priority[node], node)));
        }
        let mut order = Vec::with_capacity(jobs.jobs.len());
        let mut total_s = 0.0f64;
        while let Some(Reverse((bits, priority, node))) = ready.pop() {
            let event = self.earliest(node, &events, &computing);
            if event.start_s.to_bits() > bits {
                ready.push(Reverse((event.start_s.to_bits(), priority, node)));
                continue;
            }
            self.run_node(node, event, &mut computing);
            events[node] = event;
            order.push(node);
            total_s = total_s.max(event.end_s);
            for &follower in &followers[node] {
                missing[follower] -= 1;
                if missing[follower] == 0 {
                    ready.push(Reverse((event.end_s.to_bits(), self.priority[follower], follower)));
                }
            }
        }
        Timeline { events, total_s, order }
    }

    /// As [`Round::run`], nodes in a given order.
    fn run_in(&mut self, order: &[usize]) -> Timeline {
        let mut events = vec![Event::default(); self.jobs.jobs.len()];
        let mut computing: Vec<(f64, Option<usize>)> = vec![(0.0, None); self.jobs.classes];
        for &node in order {
            events[node] = self.earliest(node, &events, &computing);
            self.run_node(node, events[node], &mut computing);
        }
        let total_s = events.iter().map(|event| event.end_s).fold(0.0, f64::max);
        Timeline { events, total_s, order: order.to_vec() }
    }

    /// The earliest time at which a node can run as things are.
    fn earliest(&self, node: usize, events: &[Event], computing: &[(f64, Option<usize>)]) -> Event {
        let job = &self.jobs.jobs[node];
        let mut without: (f64, Option<usize>) = (0.0, None);
        let later = |time: (f64, Option<usize>), known: &mut (f64, Option<usize>)| {
            if time.0 > known.0 {
                *known = time;
            }
        };
        for &before in &job.before {
            later((events[before].end_s, Some(before)), &mut without);
        }
        let Some(used) = &self.uses[node] else {
            let Task::Compute { duration_s } = job.task else { return Event::default() };
            for &class in &job.classes {
                later(computing[class], &mut without);
            }
            let (start_s, waits_for) = without;
            return Event { start_s, end_s: start_s + duration_s, waits_for, ..Event::default() };
        };
        let mut changed: (f64, Option<usize>) = (0.0, None);
        let mut reconfigured = false;
        for (place, &class) in job.classes.iter().enumerate() {
            for port in used.ports.0..used.ports.1 {
                let state = &self.state[class * self.ports as usize + port as usize];
                later((state.ready_s, state.by), &mut without);
                if !self.has_circuits(node, place, used, state) {
                    reconfigured = true;
                    later((state.ready_s + self.delay_s, state.by), &mut changed);
                }
            }
        }
        let exposed_s = (changed.0 - without.0).max(0.0);
        let (start_s, waits_for) = if changed.0 > without.0 { changed } else { without };
        Event { start_s, end_s: start_s + used.entry.duration_s, reconfigured, exposed_s, waits_for }
    }

    /// Whether a port has the circuits of the first topology already.
    fn has_circuits(&self, node: usize, place: usize, used: &Use, port: &Port) -> bool {
        let rests = used.returns.flatten() == Some(used.entry.first);
        port.circuits == self.circuits(node, place, used, used.entry.first) || (rests && port.circuits == RESTING)
    }

    /// The circuits of one of an event's topologies at a class.
    fn circuits(&self, node: usize, place: usize, used: &Use, topology: TopologyId) -> Circuits {
        match &self.jobs.jobs[node].task {
            Task::Communicate { pairs, .. } if used.entry.direct => (pairs[place], OF_MESSAGES, used.ports),
            Task::Communicate { groups, .. } => (groups[place], topology.0, used.ports),
            Task::Compute { .. } => UNSET,
        }
    }

    fn run_node(&mut self, node: usize, event: Event, computing: &mut [(f64, Option<usize>)]) {
        let job = &self.jobs.jobs[node];
        let Some(used) = self.uses[node] else {
            for &class in &job.classes {
                computing[class] = (event.end_s, Some(node));
            }
            return;
        };
        for (place, &class) in job.classes.iter().enumerate() {
            let last = self.circuits(node, place, &used, used.entry.last);
            for port in used.ports.0..used.ports.1 {
                let (circuits, ready_s) = match used.returns {
                    None => (last, event.end_s),
                    Some(resting) if resting == Some(used.entry.last) => (RESTING, event.end_s),
                    Some(_) => (RESTING, event.end_s + self.delay_s),
                };
                let place = class * self.ports as usize + port as usize;
                self.state[place] = Port { circuits, ready_s, by: Some(node) };
            }
        }
    }
}

#[cfg(test)]
mod tests;
