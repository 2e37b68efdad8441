//! No circuit on a port that failed.

use model::{Circuits, Fault, Plan};

use crate::report::{Check, Tally};

/// Looks every connection up among the ports that failed; `at` says which port of which GPU a port of a switch is.
/// `None` where nothing failed.
///
/// Costs O(connections · faults).
pub(super) fn check(circuits: &Circuits, plan: &Plan, at: impl Fn(usize, u32) -> (u32, u32)) -> Option<Check> {
    let faults = plan.fabric.shape.faults().all();
    if faults.is_empty() {
        return None;
    }
    let mut tally = Tally::new("failed-ports");
    for (index, configuration) in circuits.configurations().iter().enumerate() {
        interruption::check();
        for (place, told) in configuration.switches.iter().enumerate() {
            for one in &told.connections {
                for (here, sends) in [(one.ingress, true), (one.egress, false)] {
                    let (own, number) = at(place, here);
                    let hit = faults.iter().find(|fault| match **fault {
                        Fault::Gpu(gpu) => gpu == own,
                        Fault::Transmitter { gpu, port } => sends && (gpu, port) == (own, number),
                        Fault::Receiver { gpu, port } => !sends && (gpu, port) == (own, number),
                        Fault::Switch(port) => port == number,
                        Fault::Link(..) | Fault::OneWay(..) => false,
                    });
                    tally.expect(hit.is_none(), || {
                        let fault = hit.map(ToString::to_string).unwrap_or_default();
                        format!("configuration {}: a circuit is at port {here}, and `{fault}` failed", index + 1)
                    });
                }
            }
        }
    }
    Some(tally.into_check("port", "of circuits, none of which failed"))
}
