//! Circuits per GPU: every topology of a plan, the initial one included, fits the ports.

use std::collections::BTreeMap;

use model::{Plan, Rank, Topology, counted};

use crate::report::{Check, Tally};

/// Counts circuits out of and into one GPU of each orbit. The group acts freely, so an orbit of links
/// puts `count` circuits at every GPU of its sender's orbit and of its receiver's.
pub(crate) fn check(plan: &Plan) -> Check {
    let ports = u64::from(plan.fabric.shape.ports());
    let mut tally = Tally::new("ports");
    let initial = plan.fabric.initial.given();
    for topology in plan.topologies.iter().chain(initial) {
        let (out, into) = circuits_per_gpu(topology);
        for (direction, degrees) in [("out of", out), ("into", into)] {
            for (gpu, degree) in degrees {
                tally.expect(degree <= ports, || {
                    format!(
                        "topology `{}`: {} {direction} GPU {gpu}, which has {}",
                        topology.name(),
                        counted(degree, "circuit"),
                        counted(ports, "port")
                    )
                });
            }
        }
    }
    tally.into_check("degree", &format!("of GPUs, out and in, all within {}", counted(ports, "port")))
}

type Degrees = BTreeMap<Rank, u64>;

fn circuits_per_gpu(topology: &Topology) -> (Degrees, Degrees) {
    let (mut out, mut into) = (Degrees::new(), Degrees::new());
    for link in topology.links() {
        *out.entry(topology.symmetry().canonical(link.src).0).or_insert(0) += u64::from(link.count);
        *into.entry(topology.symmetry().canonical(link.dst).0).or_insert(0) += u64::from(link.count);
    }
    (out, into)
}
