//! The times of all events, by a rule or in an order, once the plans and ports of communications are chosen: an
//! iteration that repeats for ever.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cutoffs::timeline::{MOST_ORDERED_ROUNDS, MOST_ROUNDS};
use crate::jobs::Task;
use crate::library::TopologyId;
use crate::lit::Lit;
pub(crate) use crate::problem::{Event, Problem, Use};

/// The circuits of a port: groups, topology, and the ports that share them.
pub(crate) type Circuits = (u32, u32, (u32, u32));

/// The resting topology, after any event that gave the port back.
const RESTING: Circuits = (0, u32::MAX, (0, 0));

/// Stands for the topology of messages with circuits of their own: which these are, their pairs say.
const OF_MESSAGES: u32 = u32::MAX - 2;

/// Circuits that nobody wants.
const UNSET: Circuits = (0, u32::MAX - 1, (0, 0));

/// The circuits that the next communication wants, whichever it is.
const WHATEVER: Circuits = (0, u32::MAX - 3, (0, 0));

/// An iteration in time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Timeline {
    pub(crate) events: Vec<Event>,
    pub(crate) total_s: f64,
    /// Nodes in the order in which they were given their times.
    pub(crate) order: Vec<usize>,
    /// By node: those whose circuits are given up for it; empty where no layer limits circuits.
    pub(crate) gives_up: Vec<Vec<usize>>,
}

impl Timeline {
    /// Whether a timeline that takes at least this long is no faster, but for rounding.
    pub(crate) fn is_least(&self, bound_s: f64) -> bool {
        bound_s >= self.total_s * (1.0 - 1e-12)
    }
}

/// The circuits of a port of a class of ranks, and since when it is free.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Port {
    circuits: Circuits,
    ready_s: f64,
    by: Option<usize>,
}

/// The rule for the next node among those that wait for nothing any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    /// By node; the lowest goes first.
    pub(crate) priority: Vec<u32>,
    /// Whether the node that can start first is next, and the priority decides between several that can.
    pub(crate) earliest_first: bool,
}

/// The extent to which an iteration is followed.
#[derive(Clone)]
pub(crate) struct Progress {
    /// Events of the nodes that have their times.
    pub(crate) events: Vec<Event>,
    /// By class: until when it computes, and what.
    computing: Vec<(f64, Option<usize>)>,
    stand: Stand,
}

/// The circuits of all ports.
#[derive(Clone)]
struct Stand {
    /// By class and port.
    ports: Vec<Port>,
    /// The circuits that are lit, on an optical layer that limits them.
    lit: Option<Lit>,
}

impl Problem<'_> {
    /// The timeline that a rule leads to, after the transient of the first iterations. `None` where the iterations do
    /// not become alike. Costs O(nodes · (classes · ports + log nodes)) an iteration.
    pub(crate) fn by_rule(&self, rule: &Rule) -> Option<Timeline> {
        let mut stand = self.stand_with(UNSET);
        let mut order = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let mut progress = self.begin(stand.clone());
            let found = self.run(rule, &mut progress);
            let is_alike = progress.stand.next_iteration(&stand, found.total_s)?;
            if is_alike {
                return Some(found);
            }
            (stand, order) = (progress.stand, found.order);
        }
        self.repeated(stand, &order)
    }

    /// The timeline where nodes have their times given in an order, each after all that it waits for. `None` as above.
    pub(crate) fn in_order(&self, order: &[usize]) -> Option<Timeline> {
        self.repeated(self.stand_with(UNSET), order)
    }

    fn repeated(&self, mut stand: Stand, order: &[usize]) -> Option<Timeline> {
        for _ in 0..MOST_ORDERED_ROUNDS {
            let mut progress = self.begin(stand.clone());
            for &node in order {
                let event = self.earliest(node, &progress);
                self.place(node, event, &mut progress);
            }
            let total_s = progress.events.iter().map(|event| event.end_s).fold(0.0, f64::max);
            let gives_up = progress.stand.given_up();
            let is_alike = progress.stand.next_iteration(&stand, total_s)?;
            if is_alike {
                return Some(Timeline { events: progress.events, total_s, order: order.to_vec(), gives_up });
            }
            stand = progress.stand;
        }
        None
    }

    fn run(&self, rule: &Rule, progress: &mut Progress) -> Timeline {
        let jobs = self.jobs;
        let mut missing: Vec<usize> = jobs.jobs.iter().map(|job| job.before.len()).collect();
        // Times are not negative, so that their bits are in their order.
        let mut ready: BinaryHeap<Reverse<(u64, u32, usize)>> = BinaryHeap::new();
        for node in (0..jobs.jobs.len()).filter(|&node| missing[node] == 0) {
            ready.push(Reverse((0, rule.priority[node], node)));
        }
        let mut order = Vec::with_capacity(jobs.jobs.len());
        let mut total_s = 0.0f64;
        while let Some(Reverse((bits, priority, node))) = ready.pop() {
            interruption::check();
            let event = self.earliest(node, progress);
            if rule.earliest_first && event.start_s.to_bits() > bits {
                ready.push(Reverse((event.start_s.to_bits(), priority, node)));
                continue;
            }
            self.place(node, event, progress);
            order.push(node);
            total_s = total_s.max(event.end_s);
            for &follower in &jobs.followers[node] {
                missing[follower] -= 1;
                if missing[follower] == 0 {
                    let bits = if rule.earliest_first { event.end_s.to_bits() } else { 0 };
                    ready.push(Reverse((bits, rule.priority[follower], follower)));
                }
            }
        }
        let gives_up = progress.stand.given_up();
        Timeline { events: std::mem::take(&mut progress.events), total_s, order, gives_up }
    }

    /// An iteration before which nothing is known of circuits: ports have any circuits that are wanted, and are free.
    pub(crate) fn relaxed(&self) -> Progress {
        self.begin(self.stand_with(WHATEVER))
    }

    fn stand_with(&self, circuits: Circuits) -> Stand {
        let ready_s = if circuits == WHATEVER { f64::NEG_INFINITY } else { 0.0 };
        let ports = vec![Port { circuits, ready_s, by: None }; self.jobs.classes * self.ports as usize];
        Stand { ports, lit: Lit::dark(self) }
    }

    fn begin(&self, stand: Stand) -> Progress {
        let events = vec![Event::default(); self.jobs.jobs.len()];
        Progress { events, computing: vec![(0.0, None); self.jobs.classes], stand }
    }

    /// The duration of a node, s.
    pub(crate) fn duration_s(&self, node: usize) -> f64 {
        match self.jobs.jobs[node].task {
            Task::Compute { duration_s } => duration_s,
            Task::Communicate { .. } => self.uses[node].map_or(0.0, |used| used.entry.duration_s),
        }
    }

    /// The earliest time at which a node can run as things are.
    pub(crate) fn earliest(&self, node: usize, progress: &Progress) -> Event {
        let job = &self.jobs.jobs[node];
        let mut without: (f64, Option<usize>) = (0.0, None);
        let later = |time: (f64, Option<usize>), known: &mut (f64, Option<usize>)| {
            if time.0 > known.0 {
                *known = time;
            }
        };
        for &before in &job.before {
            later((progress.events[before].end_s, Some(before)), &mut without);
        }
        let Some(used) = &self.uses[node] else {
            for &class in &job.classes {
                later(progress.computing[class], &mut without);
            }
            let (start_s, waits_for) = without;
            return Event { start_s, end_s: start_s + self.duration_s(node), waits_for, ..Event::default() };
        };
        let mut changed: (f64, Option<usize>) = (0.0, None);
        let mut reconfigured = false;
        for (place, &class) in self.holders(node).iter().enumerate() {
            for port in used.ports.0..used.ports.1 {
                let port = &progress.stand.ports[class * self.ports as usize + port as usize];
                later((port.ready_s, port.by), &mut without);
                if !self.has_circuits(node, place, port.circuits) {
                    reconfigured = true;
                    later((port.ready_s + self.delay_s, port.by), &mut changed);
                }
            }
        }
        if let Some(lit) = &progress.stand.lit {
            let room = lit.room(self, node, without.0.max(changed.0), reconfigured);
            reconfigured |= room.as_ref().is_some_and(|room| room.gives_up);
            for placed in room.iter().flat_map(|room| &room.after) {
                let by = placed.is_now.then_some(placed.node);
                later((placed.end_s, by), &mut without);
                if reconfigured {
                    later((placed.end_s + self.delay_s, by), &mut changed);
                }
            }
            if room.is_none() {
                without.0 = f64::INFINITY;
            }
        }
        let exposed_s = (changed.0 - without.0).max(0.0);
        let (start_s, waits_for) = if changed.0 > without.0 { changed } else { without };
        Event { start_s, end_s: start_s + used.entry.duration_s, reconfigured, exposed_s, waits_for }
    }

    /// The time at which the ports of a communication are free at the earliest, or the ranks of a computation, s.
    pub(crate) fn free_s(&self, node: usize, progress: &Progress) -> f64 {
        let classes = self.holders(node).iter();
        let Some(used) = &self.uses[node] else {
            return classes.map(|&class| progress.computing[class].0).fold(0.0, f64::max);
        };
        let ports = classes.flat_map(|class| (used.ports.0..used.ports.1).map(move |port| (class, port)));
        ports
            .map(|(class, port)| progress.stand.ports[class * self.ports as usize + port as usize].ready_s)
            .fold(0.0, f64::max)
    }

    /// Whether circuits are those of the first topology of a communication, at one of its classes.
    pub(crate) fn has_circuits(&self, node: usize, place: usize, has: Circuits) -> bool {
        let Some(used) = &self.uses[node] else { return true };
        let rests = used.returns.flatten() == Some(used.entry.first);
        has == self.circuits(node, place, used, used.entry.first) || (rests && has == RESTING) || has == WHATEVER
    }

    /// The circuits of one of an event's topologies at a class.
    fn circuits(&self, node: usize, place: usize, used: &Use, topology: TopologyId) -> Circuits {
        match &self.jobs.jobs[node].task {
            Task::Communicate { pairs, .. } if used.entry.direct => (pairs[place], OF_MESSAGES, used.ports),
            Task::Communicate { around, .. } if used.entry.through => (around[place], topology.0, used.ports),
            Task::Communicate { groups, .. } => (groups[place], topology.0, used.ports),
            Task::Compute { .. } => UNSET,
        }
    }

    /// The circuits that a communication leaves at a class, and how long its ports are dark after it.
    pub(crate) fn left(&self, node: usize, place: usize) -> (Circuits, f64) {
        let Some(used) = &self.uses[node] else { return (UNSET, 0.0) };
        match used.returns {
            None => (self.circuits(node, place, used, used.entry.last), 0.0),
            Some(resting) if resting == Some(used.entry.last) => (RESTING, 0.0),
            Some(_) => (RESTING, self.delay_s),
        }
    }

    /// Gives a node its time.
    pub(crate) fn place(&self, node: usize, event: Event, progress: &mut Progress) {
        let job = &self.jobs.jobs[node];
        progress.events[node] = event;
        let Some(used) = &self.uses[node] else {
            for &class in &job.classes {
                progress.computing[class] = (event.end_s, Some(node));
            }
            return;
        };
        if let Some(lit) = &mut progress.stand.lit {
            for at in lit.place(self, node, &event) {
                progress.stand.ports[at].circuits = UNSET;
            }
        }
        for (place, &class) in self.holders(node).iter().enumerate() {
            let (circuits, dark_s) = self.left(node, place);
            for port in used.ports.0..used.ports.1 {
                let place = class * self.ports as usize + port as usize;
                progress.stand.ports[place] = Port { circuits, ready_s: event.end_s + dark_s, by: Some(node) };
            }
        }
    }
}

impl Stand {
    /// Makes times those of the next iteration; whether it begins as the one before did. `None` where the optical layer
    /// has no room for some circuits.
    fn next_iteration(&mut self, before: &Self, total_s: f64) -> Option<bool> {
        let mut is_alike = true;
        if let (Some(lit), Some(before)) = (&mut self.lit, &before.lit) {
            if !(lit.is_sound && total_s.is_finite()) {
                return None;
            }
            lit.next_iteration(total_s);
            is_alike = lit.is_like(before);
        }
        for (port, before) in self.ports.iter_mut().zip(&before.ports) {
            port.ready_s -= total_s;
            let moved = (port.ready_s - before.ready_s).abs() > 1e-12 * total_s;
            let was_used = port.by.take().is_some();
            is_alike &= port.circuits == before.circuits && !(was_used && moved);
        }
        Some(is_alike)
    }

    /// By node: those whose circuits were given up for it.
    fn given_up(&self) -> Vec<Vec<usize>> {
        self.lit.as_ref().map_or_else(Vec::new, |lit| lit.gives_up.clone())
    }
}

#[cfg(test)]
pub(crate) mod tests;
