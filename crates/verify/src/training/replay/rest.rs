//! The resting topologies that events go back to.

use super::super::catalogue::Circuits;
use super::Replay;

impl Replay<'_> {
    /// Notes the resting topologies of all events that go back to theirs, and that no two of them want one port.
    pub(super) fn claim_resting(&mut self) {
        let iteration = self.iteration;
        for &event in &iteration.order {
            let planned = iteration.event(event);
            let initial = planned.plan.and_then(|plan| self.catalogue.plan(plan).initial);
            let (Some(topology), true) = (initial, planned.returns) else { continue };
            let ports = self.catalogue.ports_number(&planned.ports);
            for ranks in iteration.training.workload.groups_of(event) {
                let circuits = Circuits::Group { group: self.catalogue.group_number(&ranks), topology, ports };
                for rank in ranks {
                    for &port in &planned.ports {
                        let slot = self.slot(rank, port);
                        let agrees = self.resting.is_or_becomes(slot, circuits);
                        self.findings.resting.expect(agrees, || {
                            let name = iteration.name(event);
                            format!("{name}, rank {rank}, port {port}: goes back to other circuits than an earlier event does")
                        });
                    }
                }
            }
        }
    }
}
