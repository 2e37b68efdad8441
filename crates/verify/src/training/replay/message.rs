//! Messages: over circuits of their own, or over those of a group that their ports have.

use std::collections::BTreeMap;

use model::Rank;

use super::super::catalogue::Circuits;
use super::super::held_ports::HeldPorts;
use super::super::iteration::show;
use super::super::routes::Paths;
use super::super::waits::Waits;
use super::{Change, Replay, Use};

impl Replay<'_> {
    /// Messages over circuits of their own.
    pub(super) fn direct(&mut self, event: usize, pairs: &[(Rank, Rank)], waits: &mut Waits) -> Option<Change> {
        let planned = self.iteration.event(event);
        let ports = self.catalogue.ports_number(&planned.ports);
        let mut ends: BTreeMap<Rank, (Option<Rank>, Option<Rank>)> = BTreeMap::new();
        for &(source, destination) in pairs {
            ends.entry(source).or_default().0 = Some(destination);
            ends.entry(destination).or_default().1 = Some(source);
        }
        let mut changed = None;
        for (rank, (to, from)) in ends {
            let circuits = Circuits::Message { to, from, ports };
            self.take(event, rank, self.message(event, Some(circuits)), waits, &mut changed);
        }
        changed
    }

    /// Messages over the circuits of a group, which are there and stay so.
    pub(super) fn routed(&mut self, event: usize, pairs: &[(Rank, Rank)], size_bytes: u64, waits: &mut Waits) {
        let (iteration, planned) = (self.iteration, self.iteration.event(event));
        let paths = self.paths(event, pairs);
        self.findings.circuits.expect(paths.is_ok(), || {
            let fault = paths.as_ref().err().cloned().unwrap_or_default();
            format!("{}: {fault}", iteration.name(event))
        });
        let Ok(paths) = paths else { return };
        self.findings.routed_s.insert(event, paths.seconds(&iteration.training.fabric, size_bytes));
        for (group, position) in paths.holders(|group| self.catalogue.group(group).len()) {
            let rank = self.catalogue.group(group)[position as usize];
            for &port in &planned.ports {
                // The circuits that a port has stay.
                let circuits = self.ports[self.slot(rank, port)].circuits;
                self.take_port(event, (rank, port), self.message(event, circuits), waits);
            }
        }
    }

    /// The effect of messages on ports that have, or get, these circuits.
    fn message(&self, event: usize, circuits: Option<Circuits>) -> Use {
        let planned = self.iteration.event(event);
        Use {
            needs: circuits,
            leaves: if planned.returns { Some(Circuits::Resting) } else { circuits },
            needs_resting: false,
            until_s: planned.end_s + if planned.returns { self.iteration.change_s } else { 0.0 },
        }
    }

    /// The paths of messages over circuits that are in force.
    ///
    /// # Errors
    /// An end without circuits of one topology of groups on exactly these ports, or a rank on the way without them.
    fn paths(&self, event: usize, pairs: &[(Rank, Rank)]) -> Result<Paths, String> {
        let (iteration, catalogue) = (self.iteration, self.catalogue);
        let planned = iteration.event(event);
        let ports = catalogue.ports_number(&planned.ports);
        let mut paths = Paths::on(HeldPorts::new(&iteration.training.fabric, &planned.ports)?);
        let mut shared = None;
        for &(source, destination) in pairs {
            let at_source = self.group_circuits(source, planned.ports[0]);
            let Some((group, topology)) = at_source.filter(|&(.., set)| set == ports).map(|(g, t, _)| (g, t)) else {
                return Err(format!(
                    "rank {source}, port {}: has no circuits of a group on exactly the message's ports",
                    planned.ports[0]
                ));
            };
            if *shared.get_or_insert(topology) != topology {
                return Err(format!("rank {source}: has the circuits of another topology than other ends"));
            }
            for rank in [source, destination] {
                let other = planned.ports.iter().find(|&&port| self.group_circuits(rank, port) != at_source);
                if let Some(port) = other {
                    return Err(format!("rank {rank}, port {port}: is not in the circuits that rank {source} has"));
                }
            }
            let members = catalogue.group(group);
            let position = |rank: Rank| members.iter().position(|&other| other == rank).map_or(0, |at| at as Rank);
            paths.add(group, catalogue.topology(topology), position(source), position(destination))?;
        }
        for (group, position) in paths.holders(|group| catalogue.group(group).len()) {
            let rank = catalogue.group(group)[position as usize];
            for &port in &planned.ports {
                let has = self
                    .group_circuits(rank, port)
                    .is_some_and(|(own, topology, set)| (own, Some(topology), set) == (group, shared, ports));
                if !has {
                    let start = show(planned.start_s);
                    return Err(format!(
                        "rank {rank}, port {port}: is in a message's group and without its circuits at {start}"
                    ));
                }
            }
        }
        Ok(paths)
    }

    /// Group, topology and ports of the circuits that a port has, where they are of a group.
    fn group_circuits(&self, rank: Rank, port: u32) -> Option<(usize, usize, usize)> {
        let slot = self.slot(rank, port);
        let circuits = match self.ports[slot].circuits {
            Some(Circuits::Resting) => self.resting.of(slot),
            circuits => circuits,
        };
        match circuits {
            Some(Circuits::Group { group, topology, ports }) => Some((group, topology, ports)),
            _ => None,
        }
    }
}
