//! The circuits of events, and of ports that keep some, in the room on the optical layer.

use std::collections::BTreeSet;

use model::{Rank, Topology, Work, counted};

use super::super::catalogue::Circuits;
use super::super::iteration::show;
use super::super::waits::Waits;
use super::Replay;
use super::room::{Active, Crossing, Load};
use crate::shared_ports::Described;

/// The circuits of a group's topology to other islands and from them, by rank and direction.
fn crossing(gpus: u64, topology: &Topology, group: &[Rank]) -> Crossing {
    let island = |rank: Rank| u64::from(rank) / gpus;
    let mut of_rank = Crossing::new();
    for link in topology.expanded() {
        let [source, destination] = [link.src, link.dst].map(|place| group[place as usize]);
        if island(source) != island(destination) {
            *of_rank.entry((source, true)).or_insert(0) += u64::from(link.count);
            *of_rank.entry((destination, false)).or_insert(0) += u64::from(link.count);
        }
    }
    of_rank
}

fn total(loads: impl IntoIterator<Item = Load>) -> Load {
    let mut all = Load::new();
    for (at, circuits) in loads.into_iter().flatten() {
        *all.entry(at).or_insert(0) += circuits;
    }
    all
}

impl Replay<'_> {
    /// Ports whose circuits an event gives up are dark.
    pub(super) fn give_up(&mut self, event: usize) {
        let iteration = self.iteration;
        let planned = iteration.event(event);
        let from_s = planned.start_s - iteration.change_s;
        let used = self.used.len();
        for (slot, port) in self.ports.iter_mut().enumerate() {
            if !port.last.is_some_and(|last| last != event && planned.gives_up.contains(&last)) {
                continue;
            }
            self.findings.circuits.expect(iteration.is_by(port.busy_until_s, from_s), || {
                let [name, user] = [event, port.last.unwrap_or(event)].map(|event| iteration.name(event));
                format!("{name}, rank {}: gives up circuits that {user} uses", slot / used)
            });
            (port.circuits, port.last) = (None, None);
        }
    }

    /// Whether the layer has room for an event's circuits with all others; what it waits for otherwise.
    pub(super) fn find_room(&mut self, event: usize, waits: &mut Waits) {
        let Some(Described::Islands { gpus, ports }) = self.room.as_ref().map(|room| room.described) else { return };
        let iteration = self.iteration;
        // Where the GPUs of an island have no more ports than it has, no more circuits can be there.
        let shape = &iteration.training.fabric.shape;
        if ports >= gpus.min(u64::from(shape.gpus())) * u64::from(shape.ports()) {
            return;
        }
        let planned = iteration.event(event);
        let change_s = if planned.reconfigured { iteration.change_s } else { 0.0 };
        let from_s = planned.start_s - change_s;
        let own = self.most(event, gpus);
        let Some(room) = &mut self.room else { return };
        if let Some(own) = own {
            room.most.insert(event, own);
        }
        let own = room.most.get(&event).cloned().unwrap_or_default();
        let is_too_much = |load: &Load| load.values().any(|&circuits| circuits > ports);
        let with = |active: &dyn Fn(&Active) -> bool| {
            let others = room.active.iter().filter(|other| active(other));
            total(others.filter_map(|other| room.most.get(&other.event).cloned()).chain([own.clone()]))
        };
        for last in room.active.iter().filter(|last| iteration.is_at(last.end_s, from_s)) {
            if is_too_much(&with(&|other| iteration.is_by(last.end_s, other.end_s))) {
                let name = last.is_now.then_some(last.event);
                waits.of(name, last.end_s);
                if planned.reconfigured {
                    waits.change_after(name, last.end_s + change_s);
                }
            }
        }
        let is_active = |other: &Active| !iteration.is_by(other.end_s, from_s);
        let under_way = with(&is_active);
        let counted_in: BTreeSet<usize> =
            room.active.iter().filter(|other| is_active(other)).map(|one| one.event).collect();
        room.active
            .retain(|other| !iteration.is_by(other.end_s, planned.start_s - iteration.change_s - iteration.rounding_s));
        room.active.push(Active { event, end_s: planned.end_s, is_now: true });
        let is_counted = |user: usize| user == event || counted_in.contains(&user);
        let standing = self.standing(gpus, is_counted);
        let all = total([under_way, standing]);
        let name = iteration.name(event);
        if let Some(room) = &mut self.room {
            for ((island, leaves), circuits) in all {
                room.tally.expect(circuits <= ports, || {
                    let (verb, at) = (if leaves { "leave" } else { "enter" }, show(planned.start_s));
                    let (circuits, ports) = (counted(circuits, "circuit"), counted(ports, "port"));
                    format!("{name}: {circuits} {verb} island {island} at {at}, which has {ports}")
                });
            }
        }
    }

    /// The most circuits of an event at every island; `None` for messages over circuits that are there.
    fn most(&self, event: usize, gpus: u64) -> Option<Load> {
        let iteration = self.iteration;
        let (planned, workload) = (iteration.event(event), &iteration.training.workload);
        let mut most = Load::new();
        match iteration.work(event) {
            Work::Compute { .. } => {}
            Work::Collective { .. } => {
                let groups = workload.groups_of(event);
                for step in iteration
                    .plan(event)
                    .into_iter()
                    .flat_map(|plan| plan.steps.iter().map(move |step| &plan.topologies[step.topology]))
                {
                    let mut load = Load::new();
                    for ((rank, leaves), circuits) in groups.iter().flat_map(|group| crossing(gpus, step, group)) {
                        *load.entry((u64::from(rank) / gpus, leaves)).or_insert(0) += circuits;
                    }
                    for (at, circuits) in load {
                        let known = most.entry(at).or_insert(0);
                        *known = circuits.max(*known);
                    }
                }
            }
            Work::Send { pairs, .. } if planned.direct => {
                for ends in pairs {
                    let [from, to] = [ends.0, ends.1].map(|rank| u64::from(rank) / gpus);
                    if from != to {
                        *most.entry((from, true)).or_insert(0) += planned.ports.len() as u64;
                        *most.entry((to, false)).or_insert(0) += planned.ports.len() as u64;
                    }
                }
            }
            Work::Send { .. } => {
                planned.topology?;
                return Some(self.of_ports(gpus, |user| user == event));
            }
        }
        Some(most)
    }

    /// The circuits of ports whose last user is not counted otherwise.
    fn standing(&self, gpus: u64, is_counted: impl Fn(usize) -> bool) -> Load {
        let has_own = |user: usize| self.room.as_ref().is_some_and(|room| room.most.contains_key(&user));
        self.of_ports(gpus, |user| !(is_counted(user) && has_own(user)))
    }

    /// The circuits of ports with such users.
    fn of_ports(&self, gpus: u64, is_meant: impl Fn(usize) -> bool) -> Load {
        let mut load = Load::new();
        for (rank, ports) in (0..).zip(self.ports.chunks(self.used.len().max(1))) {
            let mut seen: Vec<(Circuits, u64)> = Vec::new();
            for (at, port) in ports.iter().enumerate() {
                let slot = rank as usize * self.used.len() + at;
                let circuits = match port.circuits {
                    Some(Circuits::Resting) => self.resting.of(slot),
                    circuits => circuits,
                };
                let Some(circuits) = circuits.filter(|_| port.last.is_some_and(&is_meant)) else { continue };
                match seen.iter_mut().find(|(known, _)| *known == circuits) {
                    Some((_, ports)) => *ports += 1,
                    None => seen.push((circuits, 1)),
                }
            }
            for (circuits, ports) in seen {
                self.add_circuits(&mut load, gpus, rank, circuits, ports);
            }
        }
        load
    }

    /// Adds circuits that so many ports of a rank have.
    fn add_circuits(&self, load: &mut Load, gpus: u64, rank: Rank, circuits: Circuits, ports: u64) {
        let island = |rank: Rank| u64::from(rank) / gpus;
        match circuits {
            Circuits::Group { group, topology, .. } => {
                let Some(room) = &self.room else { return };
                let mut known = room.known.borrow_mut();
                let found = known
                    .entry((group, topology))
                    .or_insert_with(|| crossing(gpus, self.catalogue.topology(topology), self.catalogue.group(group)));
                for leaves in [true, false] {
                    if let Some(&circuits) = found.get(&(rank, leaves)) {
                        *load.entry((island(rank), leaves)).or_insert(0) += circuits.min(ports);
                    }
                }
            }
            Circuits::Message { to, from, .. } => {
                for (other, leaves) in [(to, true), (from, false)] {
                    if other.is_some_and(|other| island(other) != island(rank)) {
                        *load.entry((island(rank), leaves)).or_insert(0) += ports;
                    }
                }
            }
            Circuits::Resting => {}
        }
    }
}
