//! Every port of every rank, event by event: who holds it, which circuits it has, when these change.

mod message;
mod over_topology;
mod rest;
mod resting_circuits;
mod room;
mod taken_room;

use std::collections::BTreeMap;

use model::{Rank, Work};

use super::catalogue::{Catalogue, Circuits, PlanTopologies};
use super::iteration::{Iteration, show_apart};
use super::waits::Waits;
use crate::report::{Check, Tally};
use resting_circuits::Resting;
use room::Room;

/// The result of following all ports.
pub(super) struct Replayed {
    pub(super) checks: Vec<Check>,
    /// Durations of messages over circuits of a group, by event, where these are there.
    pub(super) routed_s: BTreeMap<usize, f64>,
    pub(super) turns: Vec<Turn>,
}

/// A use of a port of a rank.
pub(super) struct Turn {
    /// Index of the rank and port.
    pub(super) slot: usize,
    pub(super) event: usize,
    pub(super) used: Use,
}

/// The circuits of a port of a rank, and since when it has them.
#[derive(Debug, Clone, Copy)]
struct Port {
    /// `None` until something sets them up.
    circuits: Option<Circuits>,
    /// The last user; `None` in the iteration before.
    user: Option<usize>,
    /// The last user, of whichever iteration.
    last: Option<usize>,
    /// The time at which that is done, a return to the resting topology included, s.
    busy_until_s: f64,
}

const UNUSED: Port = Port { circuits: None, user: None, last: None, busy_until_s: f64::NEG_INFINITY };

/// The effect of an event on the ports of a rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub(super) needs: Option<Circuits>,
    pub(super) leaves: Option<Circuits>,
    /// Whether what it needs is the resting topology of its plan.
    pub(super) needs_resting: bool,
    pub(super) until_s: f64,
}

/// The circuits that change before an event, at one of the ports that are the last to be free.
struct Change {
    rank: Rank,
    port: u32,
    since_s: f64,
}

struct Findings {
    held: Tally,
    circuits: Tally,
    resting: Tally,
    routed_s: BTreeMap<usize, f64>,
}

impl Findings {
    fn none() -> Self {
        let [held, circuits, resting] = ["held-ports", "circuits", "resting"].map(Tally::new);
        Self { held, circuits, resting, routed_s: BTreeMap::new() }
    }
}

struct Replay<'a> {
    iteration: &'a Iteration<'a>,
    catalogue: &'a Catalogue<'a>,
    /// The ports that any event has, ascending.
    used: Vec<u32>,
    /// By rank and port.
    ports: Vec<Port>,
    resting: Resting,
    findings: Findings,
    turns: Vec<Turn>,
    /// The optical layer, where the fabric has one.
    room: Option<Room<'a>>,
}

/// Checks that no port is held twice at once, that circuits are changed where they must be, α_r before they are needed,
/// and that no two resting topologies want one port. The iteration repeats: what ports have at its end is what they
/// have at its beginning.
pub(super) fn check(iteration: &Iteration<'_>, catalogue: &Catalogue<'_>, waits: &mut [Waits]) -> Replayed {
    let mut used: Vec<u32> = iteration.training.events.iter().flat_map(|event| &event.ports).copied().collect();
    used.sort_unstable();
    used.dedup();
    let ports = vec![UNUSED; iteration.training.workload.ranks as usize * used.len()];
    let (resting, findings, turns) = (Resting::default(), Findings::none(), Vec::new());
    let room = Room::of(iteration);
    let mut replay = Replay { iteration, catalogue, used, ports, resting, findings, turns, room };
    replay.claim_resting();
    let claimed = replay.resting.clone();
    // The first pass finds the circuits that ports have at the end; the second pass starts with them and finds faults.
    replay.follow(&mut waits.to_vec());
    replay.resting = claimed;
    let resting = std::mem::replace(&mut replay.findings, Findings::none()).resting;
    replay.findings.resting = resting;
    replay.turns.clear();
    replay.room.iter_mut().for_each(|room| room.begin_again(iteration.total_s));
    for port in &mut replay.ports {
        port.user = None;
        port.busy_until_s -= iteration.total_s;
    }
    replay.follow(waits);
    let Findings { held, circuits, resting, routed_s } = replay.findings;
    let room = replay.room.map(Room::into_check);
    let checks = [
        held.into_check("use", "of a port of a rank, one at a time"),
        circuits.into_check("statement", "of circuits that ports have and of their changes"),
        resting.into_check("port", "of ranks with a resting topology"),
    ];
    let checks = checks.into_iter().chain(room).collect();
    Replayed { checks, routed_s, turns: replay.turns }
}

impl Replay<'_> {
    fn slot(&self, rank: Rank, port: u32) -> usize {
        rank as usize * self.used.len() + self.used.partition_point(|&other| other < port)
    }

    fn follow(&mut self, waits: &mut [Waits]) {
        let iteration = self.iteration;
        for &event in &iteration.order {
            interruption::check();
            let planned = iteration.event(event);
            let changed = match iteration.work(event) {
                Work::Compute { .. } => continue,
                Work::Collective { .. } => self.collective(event, &mut waits[event]),
                Work::Send { pairs, .. } if planned.direct => self.direct(event, pairs, &mut waits[event]),
                Work::Send { pairs, size_bytes } if planned.topology.is_some() => {
                    self.over_topology(event, pairs, *size_bytes, &mut waits[event])
                }
                Work::Send { pairs, size_bytes } => {
                    self.routed(event, pairs, *size_bytes, &mut waits[event]);
                    None
                }
            };
            self.give_up(event);
            self.compare(event, changed);
            self.find_room(event, &mut waits[event]);
        }
    }

    fn collective(&mut self, event: usize, waits: &mut Waits) -> Option<Change> {
        let (iteration, catalogue) = (self.iteration, self.catalogue);
        let planned = iteration.event(event);
        let plan: PlanTopologies = catalogue.plan(planned.plan?);
        let ports = catalogue.ports_number(&planned.ports);
        let stays = plan.initial == Some(plan.last);
        let mut changed = None;
        for ranks in iteration.training.workload.groups_of(event) {
            let group = catalogue.group_number(&ranks);
            let of = |topology: usize| Circuits::Group { group, topology, ports };
            let rests = planned.returns && !stays;
            let used = Use {
                needs: Some(of(plan.first)),
                leaves: Some(if planned.returns { Circuits::Resting } else { of(plan.last) }),
                needs_resting: plan.initial == Some(plan.first),
                until_s: planned.end_s + if rests { iteration.change_s } else { 0.0 },
            };
            for rank in ranks {
                self.take(event, rank, used, waits, &mut changed);
            }
        }
        changed
    }

    /// An event uses the ports of a rank; `changed` becomes the port with other circuits that was the last in use.
    fn take(&mut self, event: usize, rank: Rank, used: Use, waits: &mut Waits, changed: &mut Option<Change>) {
        for &port in &self.iteration.event(event).ports {
            let since_s = self.take_port(event, (rank, port), used, waits);
            if let Some(since_s) = since_s.filter(|&since_s| changed.as_ref().is_none_or(|last| last.since_s < since_s))
            {
                *changed = Some(Change { rank, port, since_s });
            }
        }
    }

    /// Lets an event use a port. Returns when the port's circuits were last in use, if the event needs other circuits.
    fn take_port(&mut self, event: usize, at: (Rank, u32), used: Use, waits: &mut Waits) -> Option<f64> {
        let (iteration, (rank, port)) = (self.iteration, at);
        let start_s = iteration.event(event).start_s;
        let slot = self.slot(rank, port);
        self.turns.push(Turn { slot, event, used });
        let before = self.ports[slot];
        self.findings.held.expect(iteration.is_by(before.busy_until_s, start_s), || {
            let whose = before.user.map_or("the iteration before".into(), |user| iteration.name(user));
            let [start, until] = show_apart([start_s, before.busy_until_s]);
            let name = iteration.name(event);
            format!("{name}, rank {rank}, port {port}: starts at {start}, {whose} has the port until {until}")
        });
        if before.busy_until_s > f64::NEG_INFINITY {
            waits.of(before.user, before.busy_until_s);
        }
        let in_place = match (before.circuits, used.needs) {
            (Some(Circuits::Resting), Some(needs)) if used.needs_resting => self.resting.is_or_becomes(slot, needs),
            (has, needs) => has == needs,
        };
        let since_s = before.busy_until_s;
        if !in_place {
            waits.change_after(before.user, since_s + iteration.change_s);
        }
        self.ports[slot] = Port {
            circuits: used.leaves,
            user: Some(event),
            last: Some(event),
            busy_until_s: used.until_s.max(before.busy_until_s),
        };
        (!in_place).then_some(since_s)
    }

    /// Compares what an event says of changes before it with what its ports have.
    fn compare(&mut self, event: usize, changed: Option<Change>) {
        let iteration = self.iteration;
        let planned = iteration.event(event);
        let name = || iteration.name(event);
        let changes = changed.is_some() || !planned.gives_up.is_empty();
        self.findings.circuits.expect(planned.reconfigured == changes, || match &changed {
            None if !planned.reconfigured => format!("{}: gives up circuits, and reconfigured is false", name()),
            None => format!("{}: reconfigured is true, and all ports have its first circuits already", name()),
            Some(Change { rank, port, .. }) => {
                format!("{}, rank {rank}, port {port}: has other circuits, and reconfigured is false", name())
            }
        });
        if let Some(Change { rank, port, since_s }) = changed {
            let ready_s = since_s + iteration.change_s;
            self.findings.circuits.expect(iteration.is_by(ready_s, planned.start_s), || {
                let [start, since, ready] = show_apart([planned.start_s, since_s, ready_s]);
                let name = name();
                format!(
                    "{name}, rank {rank}, port {port}: starts at {start}, when the port is in use until {since} and \
                    dark until {ready}"
                )
            });
        }
    }
}
