//! The circuits that are lit as an iteration is followed, where the optical layer limits them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::layer::{Load, NodeLoad, sum};
use crate::problem::{Event, Limits, Problem};

/// Rounding of a time, relative to it and a change.
const ROUNDING: f64 = 1e-12;

/// A communication that was given its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placed {
    pub(crate) node: usize,
    pub(crate) end_s: f64,
    /// Whether it is of this iteration, not of the one before.
    pub(crate) is_now: bool,
}

/// Who uses which ports, and what they were given up for. Communications are placed in the order of their starts.
#[derive(Clone)]
pub(crate) struct Lit {
    /// By node.
    loads: Arc<Vec<Option<Arc<NodeLoad>>>>,
    /// By class and port: whose circuits it has.
    users: Vec<Option<Placed>>,
    /// Communications that may be under way when the next begins to be set up.
    active: Vec<Placed>,
    latest_start_s: f64,
    /// By node: the communications whose circuits are given up for it.
    pub(crate) gives_up: Vec<Vec<usize>>,
    /// Whether communications came in the order of their starts, each with room for its circuits.
    pub(crate) is_sound: bool,
}

/// The communications that another one waits for until there is room, and whether circuits change before it.
pub(crate) struct Room {
    /// The communications whose ends it waits for, ascending.
    pub(crate) after: Vec<Placed>,
    /// Whether circuits of others are given up for it, which takes a change.
    pub(crate) gives_up: bool,
}

/// Whether there is room for the circuits that all communications leave, on ports of their own.
pub(crate) fn fits_at_once(problem: &Problem<'_>) -> bool {
    let Some(Limits { layer, library }) = problem.limits else { return true };
    let mut seen: BTreeSet<(usize, (u32, u32))> = BTreeSet::new();
    let mut all = layer.nothing();
    for (node, used) in problem.uses.iter().enumerate() {
        interruption::check();
        let (Some(used), Some(load)) = (used, layer.load_of(library, problem, node)) else { continue };
        let of_classes = problem.holders(node).iter().zip(&load.left);
        all = sum(all, of_classes.filter(|(class, _)| seen.insert((**class, used.ports))).map(|(_, left)| left));
    }
    layer.holds(&all)
}

impl Lit {
    pub(crate) fn dark(problem: &Problem<'_>) -> Option<Self> {
        let Limits { layer, library } = problem.limits?;
        let nodes = problem.jobs.jobs.len();
        Some(Self {
            loads: Arc::new((0..nodes).map(|node| layer.load_of(library, problem, node)).collect()),
            users: vec![None; problem.jobs.classes * problem.ports as usize],
            active: Vec::new(),
            latest_start_s: f64::NEG_INFINITY,
            gives_up: vec![Vec::new(); nodes],
            is_sound: true,
        })
    }

    /// When there is room for the circuits of a communication that could start at a time, `reconfigured` or not. `None`
    /// where there never is.
    pub(crate) fn room(&self, problem: &Problem<'_>, node: usize, start_s: f64, reconfigured: bool) -> Option<Room> {
        let (layer, own) = (problem.limits?.layer, self.loads[node].as_ref()?);
        let holds_all = |from_s: f64, with_active: Load| {
            let standing = self.standing(problem, node, from_s);
            layer.holds(&sum(with_active, standing.iter().map(|(_, load)| load)))
        };
        // Circuits that stand already need no change where there is room for all that follow them.
        if !reconfigured {
            let after = self.after(problem, own, start_s)?;
            let from_s = after.last().map_or(start_s, |last| last.end_s);
            if holds_all(from_s, self.with_active(own, &self.active_after(problem, from_s))) {
                return Some(Room { after, gives_up: false });
            }
        }
        let from_s = start_s - problem.delay_s;
        let after = self.after(problem, own, from_s)?;
        let from_s = after.last().map_or(from_s, |last| last.end_s);
        let gives_up = !holds_all(from_s, self.with_active(own, &self.active_after(problem, from_s)));
        Some(Room { after, gives_up })
    }

    /// The communications whose ends one waits for from a time on, until what is under way leaves it room; `None` where
    /// there is none without them.
    fn after(&self, problem: &Problem<'_>, own: &NodeLoad, mut from_s: f64) -> Option<Vec<Placed>> {
        let mut after: Vec<Placed> = Vec::new();
        let layer = problem.limits?.layer;
        loop {
            let active = self.active_after(problem, from_s);
            if layer.holds(&self.with_active(own, &active)) {
                return Some(after);
            }
            let next = active.into_iter().min_by(|a, b| a.end_s.total_cmp(&b.end_s))?;
            from_s = next.end_s;
            after.push(next);
        }
    }

    /// The communications that are under way after a time.
    fn active_after(&self, problem: &Problem<'_>, from_s: f64) -> Vec<Placed> {
        let slack_s = ROUNDING * (from_s.abs() + problem.delay_s);
        self.active.iter().copied().filter(|placed| placed.end_s > from_s + slack_s).collect()
    }

    fn with_active(&self, own: &NodeLoad, active: &[Placed]) -> Load {
        sum(own.most.clone(), active.iter().filter_map(|placed| self.most(placed.node)))
    }

    fn most(&self, node: usize) -> Option<&Load> {
        self.loads[node].as_ref().map(|load| &load.most)
    }

    /// The circuits of communications that have ended, on ports that a communication does not take, by user.
    fn standing(&self, problem: &Problem<'_>, node: usize, from_s: f64) -> Vec<(Placed, Load)> {
        let slack_s = ROUNDING * (from_s.abs() + problem.delay_s);
        let mut found: Vec<(Placed, Load)> = Vec::new();
        let ports = problem.ports as usize;
        for class in 0..problem.jobs.classes {
            let mut seen: Vec<usize> = Vec::new();
            for port in 0..ports {
                let Some(placed) = self.users[class * ports + port] else { continue };
                let user = placed.node;
                let is_own = problem.takes(node, class, port as u32);
                if is_own || placed.end_s > from_s + slack_s || seen.contains(&user) {
                    continue;
                }
                seen.push(user);
                let at = problem.holders(user).iter().position(|&other| other == class);
                let Some(left) = at.and_then(|at| self.loads[user].as_ref()?.left.get(at)) else { continue };
                if left.iter().all(|&circuits| circuits == 0) {
                    continue;
                }
                match found.iter_mut().find(|(known, _)| known.node == user) {
                    Some((_, load)) => *load = sum(std::mem::take(load), [left]),
                    None => found.push((placed, left.clone())),
                }
            }
        }
        found
    }

    /// Gives a communication its ports; what it gives up, the places of the ports among all.
    pub(crate) fn place(&mut self, problem: &Problem<'_>, node: usize, event: &Event) -> Vec<usize> {
        let Some(Limits { layer, .. }) = problem.limits else { return Vec::new() };
        let earliest_s = event.start_s - problem.delay_s;
        let from_s = if event.reconfigured { earliest_s } else { event.start_s };
        let slack_s = ROUNDING * (event.start_s.abs() + problem.delay_s);
        self.is_sound &= event.start_s.is_finite() && event.start_s >= self.latest_start_s - slack_s;
        self.latest_start_s = self.latest_start_s.max(event.start_s);
        let mut standing = self.standing(problem, node, from_s);
        standing.sort_by(|a, b| a.0.end_s.total_cmp(&b.0.end_s).then(a.0.node.cmp(&b.0.node)));
        let own = self.most(node).cloned().unwrap_or_else(|| layer.nothing());
        let active = self.active_after(problem, from_s);
        let mut load = sum(own, active.iter().filter_map(|placed| self.most(placed.node)));
        self.is_sound &= layer.holds(&load);
        load = sum(load, standing.iter().map(|(_, load)| load));
        // The circuits that are in the way, those that were used longest ago first.
        let mut given_up = Vec::new();
        for (placed, circuits) in standing {
            if layer.is_in_the_way(&circuits, &load) {
                load.iter_mut().zip(&circuits).for_each(|(all, circuits)| *all -= circuits);
                given_up.push(placed.node);
            }
        }
        let mut dark = Vec::new();
        let ports = problem.ports as usize;
        for (at, user) in self.users.iter_mut().enumerate() {
            if problem.takes(node, at / ports, (at % ports) as u32) {
                *user = Some(Placed { node, end_s: event.end_s, is_now: true });
            } else if user.is_some_and(|user| given_up.contains(&user.node) && user.end_s <= from_s + slack_s) {
                *user = None;
                dark.push(at);
            }
        }
        given_up.sort_unstable();
        self.gives_up[node] = given_up;
        self.active.retain(|placed| placed.end_s > earliest_s - slack_s);
        self.active.push(Placed { node, end_s: event.end_s, is_now: true });
        dark
    }

    /// Makes times those of the next iteration.
    pub(crate) fn next_iteration(&mut self, total_s: f64) {
        for placed in self.users.iter_mut().flatten().chain(&mut self.active) {
            placed.end_s -= total_s;
            placed.is_now = false;
        }
        self.latest_start_s = f64::NEG_INFINITY;
        self.gives_up.iter_mut().for_each(Vec::clear);
    }

    /// Whether ports have the circuits of the same communications.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let users = |lit: &Self| lit.users.iter().map(|user| user.map(|user| user.node)).collect::<Vec<_>>();
        users(self) == users(other)
    }
}
