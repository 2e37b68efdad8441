//! Nothing that is broken is used: no GPU that failed is a rank, and no topology needs ports or circuits that do not work.

use std::collections::{BTreeMap, BTreeSet};

use model::{Fault, Plan, Shape, counted};

use crate::report::{Check, Tally};

/// Counts, by GPU, the circuits of every topology against the ports that are left when the ports of each fault are
/// taken away. `None` where everything works.
///
/// Costs O(circuits of all topologies · log circuits + GPUs · ports).
pub(crate) fn check(plan: &Plan) -> Option<Check> {
    let shape = &plan.fabric.shape;
    let faults = shape.faults().all();
    if faults.is_empty() {
        return None;
    }
    let mut tally = Tally::new("failed");
    let (dead_out, dead_into, cut) = broken(shape);
    for rank in 0..shape.gpus() {
        let gpu = shape.gpu_of(rank);
        tally.expect(!faults.contains(&Fault::Gpu(gpu)), || format!("rank {rank} is GPU {gpu}, which failed"));
    }
    tally.expect(!on_own_switches(plan) || !faults.iter().any(is_of_port), || {
        "a port failed, and each port is on a switch of its own, so that no other takes its place".to_string()
    });
    let initial = plan.fabric.initial.given();
    for topology in plan.topologies.iter().chain(initial) {
        interruption::check();
        let name = topology.name();
        let mut used: [BTreeMap<u32, u32>; 2] = Default::default();
        for link in topology.expanded() {
            let (src, dst) = (shape.gpu_of(link.src), shape.gpu_of(link.dst));
            tally.expect(!cut.contains(&(src, dst)), || {
                format!("topology `{name}` has a circuit {src} → {dst}, and that link failed")
            });
            *used[0].entry(src).or_default() += link.count;
            *used[1].entry(dst).or_default() += link.count;
        }
        for (used, dead, what) in [(&used[0], &dead_out, "transmitters"), (&used[1], &dead_into, "receivers")] {
            for (gpu, &circuits) in used {
                let left = shape.ports() - dead.get(gpu).map_or(0, |ports| ports.len() as u32).min(shape.ports());
                tally.expect(circuits <= left, || {
                    format!("topology `{name}` uses {circuits} {what} of GPU {gpu}, of which {left} work")
                });
            }
        }
    }
    Some(
        tally.into_check(
            "comparison",
            &format!("with {}, which no topology uses", counted(faults.len() as u64, "fault")),
        ),
    )
}

/// Whether port k of each GPU is on a switch k, as delays by port and changes behind a dark port need it.
fn on_own_switches(plan: &Plan) -> bool {
    let terms = plan.fabric.reconfiguration.delay().terms();
    plan.fabric.optics.is_none() && (plan.fabric.reconfiguration.overlap().background || !terms.by_port_s.is_empty())
}

fn is_of_port(fault: &Fault) -> bool {
    matches!(fault, Fault::Transmitter { .. } | Fault::Receiver { .. } | Fault::Switch(_))
}

pub(crate) type DeadPorts = BTreeMap<u32, BTreeSet<u32>>;

/// Dead transmitters and receivers by GPU, and ordered pairs that cannot be joined.
pub(crate) fn broken(shape: &Shape) -> (DeadPorts, DeadPorts, BTreeSet<(u32, u32)>) {
    let (mut out, mut into, mut cut) = (DeadPorts::new(), DeadPorts::new(), BTreeSet::new());
    for &fault in shape.faults().all() {
        match fault {
            Fault::Gpu(_) => {}
            Fault::Transmitter { gpu, port } => drop(out.entry(gpu).or_default().insert(port)),
            Fault::Receiver { gpu, port } => drop(into.entry(gpu).or_default().insert(port)),
            Fault::Link(a, b) => cut.extend([(a, b), (b, a)]),
            Fault::OneWay(src, dst) => drop(cut.insert((src, dst))),
            Fault::Switch(port) => {
                for gpu in 0..shape.fabric_gpus() {
                    out.entry(gpu).or_default().insert(port);
                    into.entry(gpu).or_default().insert(port);
                }
            }
        }
    }
    (out, into, cut)
}
