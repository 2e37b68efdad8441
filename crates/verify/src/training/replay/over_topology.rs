//! Messages over a topology of groups that is stated with them.

use std::collections::BTreeSet;

use model::Rank;

use super::super::catalogue::Circuits;
use super::super::iteration::show;
use super::super::routed::Paths;
use super::super::waits::Waits;
use super::{Change, Replay, Use};

impl Replay<'_> {
    /// Messages over a stated topology, which the ports of their ends have or get; at ranks on the way it is there.
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
        let ends: BTreeSet<Rank> = pairs.iter().flat_map(|&(source, destination)| [source, destination]).collect();
        let mut changed = None;
        for &rank in &ends {
            let used = Use {
                needs: Some(circuits(rank)),
                leaves: if planned.returns { Some(Circuits::Resting) } else { Some(circuits(rank)) },
                needs_resting: rests,
                is_steady: leaves_s == 0.0,
                until_s: planned.end_s + leaves_s,
            };
            self.take(event, rank, used, waits, &mut changed);
        }
        let mut paths = Paths::default();
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
        for (group, position) in paths.passed() {
            let rank = catalogue.group(group)[position as usize];
            if ends.contains(&rank) {
                continue;
            }
            for &port in &planned.ports {
                let slot = self.slot(rank, port);
                let on_the_way = &mut self.ports[slot];
                // Circuits that no event sets up were there before the first iteration, and stay.
                on_the_way.circuits.get_or_insert(circuits(rank));
                let has = match on_the_way.circuits {
                    Some(Circuits::Resting) if rests => self.resting.is_or_becomes(slot, circuits(rank)),
                    other => other == Some(circuits(rank)),
                };
                if !has || !iteration.is_by(on_the_way.since_s, planned.start_s) {
                    let start = show(planned.start_s);
                    let missing = format!(
                        "rank {rank}, port {port}: is on the message's path and without its circuits at {start}"
                    );
                    fault.get_or_insert(missing);
                }
                if on_the_way.passed_until_s < planned.end_s {
                    (on_the_way.passed_by, on_the_way.passed_until_s) = (Some(event), planned.end_s);
                }
            }
        }
        let is_whole = fault.is_none();
        self.findings.circuits.expect(is_whole, || format!("{}: {}", iteration.name(event), fault.unwrap_or_default()));
        if is_whole {
            self.findings.routed_s.insert(event, paths.seconds(&iteration.training.fabric, size_bytes));
        }
        changed
    }
}
