//! The times at which ports of ranks change their purpose in an iteration that repeats.

use std::collections::BTreeSet;

use model::{Rank, TrainingPlan, Work};

use super::purposes::{Catalogue, Purpose};

/// Ports of ranks that change together. A slot is rank · ports of the fabric + port.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    /// The time at which the change has to begin, s from the beginning of the iteration.
    pub(super) time_s: f64,
    /// Slots that change, with their purposes from then on.
    pub(super) purposes: Vec<(usize, Purpose)>,
    /// Events that used the slots last.
    pub(super) after: Vec<usize>,
    /// The event that needs the change, and the step of its plan; `None` where ports go back to rest.
    pub(super) before: Option<(usize, usize)>,
    /// -1 if the change belongs to the iteration before, 1 if it belongs to the next.
    lap: i8,
}

/// The changes of an iteration in the order of time, and what ports are for after the last event.
pub(super) struct Course {
    /// Changes of slots; some may set circuits that are there already.
    pub(super) changes: Vec<Change>,
    /// By slot.
    pub(super) last: Vec<Purpose>,
}

impl Course {
    pub(super) fn of(training: &TrainingPlan, catalogue: &Catalogue<'_>) -> Self {
        let mut following = Following::new(training, catalogue);
        // The first time finds what ports have when an iteration begins.
        following.follow();
        following.begin_again();
        following.follow();
        let total_s = following.total_s;
        let mut changes = following.changes;
        for change in &mut changes {
            if change.time_s >= total_s {
                (change.time_s, change.lap) = ((change.time_s - total_s).min(total_s), -1);
            } else if change.time_s < 0.0 {
                (change.time_s, change.lap) = ((change.time_s + total_s).max(0.0), 1);
            }
        }
        changes.sort_by(|one, other| one.time_s.total_cmp(&other.time_s).then(one.lap.cmp(&other.lap)));
        let slots = following.slots.iter().map(|slot| slot.purpose.unwrap_or(slot.unused));
        Self { changes, last: slots.collect() }
    }
}

/// A port of a rank.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// `None` until an event sets it.
    purpose: Option<Purpose>,
    /// Purpose at rest, where an event says one.
    resting: Option<Purpose>,
    /// Purpose if no event sets one: messages of others that pass.
    unused: Purpose,
    /// Whether it is at rest: `purpose` then follows `resting`.
    rests: bool,
    /// Until when it is in use, or dark after a change back, s.
    held_until_s: f64,
    user: Option<usize>,
}

const UNUSED: Slot = Slot {
    purpose: None,
    resting: None,
    unused: Purpose::None,
    rests: false,
    held_until_s: f64::NEG_INFINITY,
    user: None,
};

struct Following<'a> {
    training: &'a TrainingPlan,
    catalogue: &'a Catalogue<'a>,
    order: Vec<usize>,
    change_s: f64,
    total_s: f64,
    slots: Vec<Slot>,
    changes: Vec<Change>,
}

impl<'a> Following<'a> {
    fn new(training: &'a TrainingPlan, catalogue: &'a Catalogue<'a>) -> Self {
        let mut order = training.workload.order().to_vec();
        let times = |event: usize| (training.events[event].start_s, training.events[event].end_s);
        order.sort_by(|&a, &b| times(a).0.total_cmp(&times(b).0).then(times(a).1.total_cmp(&times(b).1)));
        let total_s = training.events.iter().map(|event| event.end_s).fold(0.0, f64::max);
        let slots = vec![UNUSED; (training.workload.ranks * training.fabric.shape.ports()) as usize];
        let change_s = training.fabric.reconfiguration.delay().constant_s().unwrap_or(0.0);
        let mut made = Self { training, catalogue, order, change_s, total_s, slots, changes: Vec::new() };
        made.claim_resting();
        made
    }

    /// Notes the purposes of ports at rest, as far as collectives that go back say so.
    fn claim_resting(&mut self) {
        for event in self.order.clone() {
            let planned = &self.training.events[event];
            let resting = planned.plan.and_then(|plan| self.catalogue.plans[plan].resting);
            let (Some(topology), true) = (resting, planned.returns) else { continue };
            for (slot, purpose) in self.of_groups(event, topology) {
                self.slots[slot].resting.get_or_insert(purpose);
            }
        }
    }

    /// The next iteration: times are from its beginning.
    fn begin_again(&mut self) {
        self.changes.clear();
        self.slots.iter_mut().for_each(|slot| slot.held_until_s -= self.total_s);
    }

    fn follow(&mut self) {
        for event in self.order.clone() {
            interruption::check();
            let planned = &self.training.events[event];
            match &self.training.workload.nodes[event].work {
                Work::Compute { .. } => {}
                Work::Collective { .. } => self.collective(event),
                Work::Send { pairs, .. } if planned.direct => self.direct(event, pairs),
                Work::Send { pairs, .. } => self.over_topology(event, pairs),
            }
        }
    }

    fn collective(&mut self, event: usize) {
        let planned = &self.training.events[event];
        let Some(plan) = planned.plan.map(|plan| &self.catalogue.plans[plan]) else { return };
        self.begin(event, self.of_groups(event, plan.first), plan.resting == Some(plan.first));
        for &(topology, step, before_end_s) in &plan.later {
            let purposes = self.of_groups(event, topology);
            self.put(&purposes);
            let time_s = (planned.end_s - before_end_s).max(planned.start_s);
            self.changes.push(Change { time_s, purposes, after: vec![event], before: Some((event, step)), lap: 0 });
        }
        self.end(event, self.of_groups(event, plan.last()), plan.resting == Some(plan.last()));
    }

    fn direct(&mut self, event: usize, pairs: &[(Rank, Rank)]) {
        let ports = self.catalogue.ports_number(&self.training.events[event].ports);
        let ends: BTreeSet<Rank> = pairs.iter().flat_map(|&(source, destination)| [source, destination]).collect();
        let purposes = ends.into_iter().flat_map(|rank| {
            let to = pairs.iter().find(|pair| pair.0 == rank).map(|pair| pair.1);
            let from = pairs.iter().find(|pair| pair.1 == rank).map(|pair| pair.0);
            self.slots_of(event, rank).map(move |slot| (slot, Purpose::Message { to, from, ports }))
        });
        let purposes: Vec<(usize, Purpose)> = purposes.collect();
        self.begin(event, purposes.clone(), false);
        self.end(event, purposes, false);
    }

    /// Messages over a topology of groups; if none is stated, over the circuits that their ports have.
    fn over_topology(&mut self, event: usize, pairs: &[(Rank, Rank)]) {
        let planned = &self.training.events[event];
        let ends: BTreeSet<Rank> = pairs.iter().flat_map(|&(source, destination)| [source, destination]).collect();
        let Some(stated) = planned.topology else {
            let slots: Vec<usize> = ends.iter().flat_map(|&rank| self.slots_of(event, rank)).collect();
            let purposes = slots.into_iter().filter_map(|slot| Some((slot, self.slots[slot].purpose?))).collect();
            return self.end(event, purposes, false);
        };
        let (topology, groups) = &self.catalogue.message_topologies[stated];
        let ports = self.catalogue.ports_number(&planned.ports);
        let purpose = |rank: Rank| Purpose::Group { group: groups[rank as usize], topology: *topology, ports };
        let mut purposes: Vec<(usize, Purpose)> = Vec::new();
        for &rank in &ends {
            purposes.extend(self.slots_of(event, rank).map(|slot| (slot, purpose(rank))));
        }
        let used: BTreeSet<usize> = ends.iter().map(|&rank| groups[rank as usize]).collect();
        for rank in used.into_iter().flat_map(|group| &self.catalogue.groups[group]).copied() {
            for slot in self.slots_of(event, rank) {
                if self.slots[slot].unused == Purpose::None {
                    self.slots[slot].unused = purpose(rank);
                }
            }
        }
        let rests = self.training.topologies[stated].rests;
        self.begin(event, purposes.clone(), rests);
        self.end(event, purposes, rests);
    }

    /// An event takes its slots, which have to have their purposes when it starts.
    fn begin(&mut self, event: usize, purposes: Vec<(usize, Purpose)>, needs_resting: bool) {
        let mut changed = Vec::with_capacity(purposes.len());
        let (mut free_s, mut after) = (f64::NEG_INFINITY, Vec::new());
        let gives_up = &self.training.events[event].gives_up;
        if !gives_up.is_empty() {
            let own: BTreeSet<usize> = purposes.iter().map(|(slot, _)| *slot).collect();
            for (slot, found) in self.slots.iter_mut().enumerate() {
                let is_given_up = found.user.is_some_and(|user| gives_up.contains(&user)) && !own.contains(&slot);
                if is_given_up {
                    after.extend(found.user.take());
                    free_s = free_s.max(found.held_until_s);
                    (found.purpose, found.rests) = (Some(Purpose::None), false);
                    changed.push((slot, Purpose::None));
                }
            }
        }
        for (slot, purpose) in purposes {
            let found = &mut self.slots[slot];
            if found.rests && needs_resting {
                found.resting.get_or_insert(purpose);
            }
            let has = if found.rests { found.resting } else { found.purpose };
            if has != Some(purpose) {
                free_s = free_s.max(found.held_until_s);
                after.extend(found.user);
                changed.push((slot, purpose));
            }
            (found.purpose, found.rests) = (Some(purpose), false);
        }
        if !changed.is_empty() {
            after.sort_unstable();
            after.dedup();
            let time_s = (self.training.events[event].start_s - self.change_s).max(free_s);
            self.changes.push(Change { time_s, purposes: changed, after, before: Some((event, 0)), lap: 0 });
        }
    }

    fn put(&mut self, purposes: &[(usize, Purpose)]) {
        purposes.iter().for_each(|&(slot, purpose)| self.slots[slot].purpose = Some(purpose));
    }

    /// An event leaves its slots with these purposes, or as they rest.
    fn end(&mut self, event: usize, purposes: Vec<(usize, Purpose)>, is_resting: bool) {
        let planned = &self.training.events[event];
        let goes_back = planned.returns && !is_resting;
        let until_s = planned.end_s + if goes_back { self.change_s } else { 0.0 };
        let mut back = Vec::new();
        for (slot, _) in purposes {
            let found = &mut self.slots[slot];
            (found.held_until_s, found.user, found.rests) = (until_s, Some(event), planned.returns);
            if goes_back {
                back.push((slot, found.resting.unwrap_or(found.unused)));
            }
            if planned.returns {
                found.purpose = found.resting;
            }
        }
        if goes_back {
            let change = Change { time_s: planned.end_s, purposes: back, after: vec![event], before: None, lap: 0 };
            self.changes.push(change);
        }
    }

    /// The slots of an event's groups, for a topology of each.
    fn of_groups(&self, event: usize, topology: usize) -> Vec<(usize, Purpose)> {
        let ports = self.catalogue.ports_number(&self.training.events[event].ports);
        let mut made = Vec::new();
        for group in self.training.workload.groups_of(event) {
            let purpose = Purpose::Group { group: self.catalogue.group_number(&group), topology, ports };
            for rank in group {
                made.extend(self.slots_of(event, rank).map(|slot| (slot, purpose)));
            }
        }
        made
    }

    /// The slots of a rank at an event's ports.
    fn slots_of(&self, event: usize, rank: Rank) -> impl Iterator<Item = usize> + use<'a> {
        let ports = self.training.fabric.shape.ports();
        self.training.events[event].ports.iter().map(move |port| (rank * ports + port) as usize)
    }
}
