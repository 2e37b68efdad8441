//! Messages over a topology of groups that is stated with them.

use model::Rank;

use super::super::catalogue::Circuits;
use super::super::held_ports::HeldPorts;
use super::super::routes::Paths;
use super::super::waits::Waits;
use super::{Change, Replay, Use};

impl Replay<'_> {
    /// Messages over a stated topology, which the ports that they hold have or get.
    pub(super) fn over_topology(
        &mut self,
        event: usize,
        pairs: &[(Rank, Rank)],
        size_bytes: u64,
        waits: &mut Waits,
    ) -> Option<Change> {
        let (iteration, catalogue) = (self.iteration, self.catalogue);
        let planned = iteration.event(event);
        let stated = planned.topology?;
        let rests = iteration.training.topologies[stated].rests;
        let ports = catalogue.ports_number(&planned.ports);
        let circuits = |rank: Rank| {
            let (topology, group) = catalogue.message_topology(stated, rank);
            Circuits::Group { group, topology, ports }
        };
        let leaves_s = if planned.returns && !rests { iteration.change_s } else { 0.0 };
        let held = HeldPorts::new(&iteration.training.fabric, &planned.ports);
        let held = held.map_err(|fault| self.findings.circuits.expect(false, || fault)).ok()?;
        held.check(&iteration.training.topologies[stated].topology, &mut self.findings.circuits);
        let mut paths = Paths::on(held);
        let mut fault = None;
        for &(source, destination) in pairs {
            let (topology, group) = catalogue.message_topology(stated, source);
            let members = catalogue.group(group);
            let position = |rank: Rank| members.iter().position(|&other| other == rank).map(|at| at as Rank);
            let found = match (position(source), position(destination)) {
                (Some(from), Some(to)) => paths.add(group, catalogue.topology(topology), from, to),
                _ => Err(format!("ranks {source} and {destination} are in no group of the topology")),
            };
            fault = fault.or(found.err());
        }
        let mut changed = None;
        for (group, position) in paths.holders(|group| catalogue.group(group).len()) {
            let rank = catalogue.group(group)[position as usize];
            let used = Use {
                needs: Some(circuits(rank)),
                leaves: if planned.returns { Some(Circuits::Resting) } else { Some(circuits(rank)) },
                needs_resting: rests,
                until_s: planned.end_s + leaves_s,
            };
            self.take(event, rank, used, waits, &mut changed);
        }
        let is_whole = fault.is_none();
        self.findings.circuits.expect(is_whole, || format!("{}: {}", iteration.name(event), fault.unwrap_or_default()));
        if is_whole {
            self.findings.routed_s.insert(event, paths.seconds(&iteration.training.fabric, size_bytes));
        }
        changed
    }
}
