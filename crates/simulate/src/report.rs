//! The report of a step, from the notes about a network.

use std::ops::Range;

use model::Translations;

use crate::ledger::{Ledger, Use, whole_bytes};
use crate::simulation::{CircuitUse, GpuTimes, SimulatedStep, Simulation};
use crate::wiring::{Links, Wiring};

/// The fixed times of a step, fs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepTimes {
    pub(crate) reconfiguration_fs: u64,
    pub(crate) startup_fs: u64,
}

/// The report of the step of `flows` over `links`; GPUs of orbit i are ready at `ready_fs[i]`.
pub(crate) fn step(
    wiring: &Wiring,
    ledger: &Ledger,
    flows: Range<usize>,
    links: &Links,
    ready_fs: &[u64],
    times: StepTimes,
) -> SimulatedStep {
    let mut circuits = Vec::new();
    for (&(src, dst), parallel) in links {
        for (circuit, &(server, slot)) in (0..).zip(parallel) {
            let used = ledger.uses[slot as usize];
            let (Use { first_fs, last_fs, busy_fs, packets, .. }, bytes) = (used, whole_bytes(used.bytes));
            let queue_bytes = ledger.queue_bytes[server as usize];
            circuits.push(CircuitUse { src, dst, circuit, bytes, packets, first_fs, last_fs, busy_fs, queue_bytes });
        }
    }
    let mut gpus = idle_gpus(&wiring.group, ready_fs);
    for (flow, progress) in wiring.network.flows[flows.clone()].iter().zip(&ledger.flows[flows]) {
        send(&mut gpus[flow.ends.0 as usize], progress.first_fs, progress.sent_fs);
        receive(&mut gpus[flow.ends.1 as usize], progress.received_fs);
    }
    of_gpus(wiring.group.clone(), gpus, circuits, times)
}

/// One GPU of each orbit, ready at `ready_fs`, with nothing to do.
pub(crate) fn idle_gpus(group: &Translations, ready_fs: &[u64]) -> Vec<GpuTimes> {
    let idle =
        |(gpu, &ready_fs)| GpuTimes { gpu, ready_fs, first_send_fs: None, last_sent_fs: None, last_received_fs: None };
    group.representatives().into_iter().zip(ready_fs).map(idle).collect()
}

/// Notes that a GPU sends from `first_fs` to `last_fs`.
pub(crate) fn send(gpu: &mut GpuTimes, first_fs: u64, last_fs: u64) {
    gpu.first_send_fs = Some(gpu.first_send_fs.map_or(first_fs, |time| time.min(first_fs)));
    gpu.last_sent_fs = gpu.last_sent_fs.max(Some(last_fs));
}

/// Notes that a GPU receives a last bit at `last_fs`.
pub(crate) fn receive(gpu: &mut GpuTimes, last_fs: u64) {
    gpu.last_received_fs = gpu.last_received_fs.max(Some(last_fs));
}

/// A step from the times of its GPUs.
pub(crate) fn of_gpus(
    symmetry: Translations,
    gpus: Vec<GpuTimes>,
    circuits: Vec<CircuitUse>,
    times: StepTimes,
) -> SimulatedStep {
    let start_fs = gpus.iter().map(|gpu| gpu.ready_fs).min().unwrap_or(0);
    let end_fs = gpus.iter().filter_map(|gpu| gpu.last_received_fs).max().unwrap_or(start_fs);
    let StepTimes { reconfiguration_fs, startup_fs } = times;
    SimulatedStep { start_fs, reconfiguration_fs, startup_fs, end_fs, symmetry, circuits, gpus }
}

/// Adds what passed through a network of which one of `order` images was simulated.
pub(crate) fn count(simulation: &mut Simulation, wiring: &Wiring, ledger: &Ledger) {
    let order = u64::from(wiring.group.order());
    let flows = &wiring.network.flows;
    let add = |to: &mut u64, one: u64| *to = to.saturating_add(one.saturating_mul(order));
    let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0_u64, u64::saturating_add);
    add(&mut simulation.packets, sum(&mut flows.iter().map(|flow| flow.packets)));
    add(&mut simulation.packet_hops, sum(&mut ledger.uses.iter().map(|used| used.packets)));
    add(&mut simulation.congestion.marked_packets, ledger.congestion.marked_packets);
    add(&mut simulation.congestion.notifications, ledger.congestion.notifications);
    add(&mut simulation.congestion.decreases, ledger.congestion.decreases);
    let wire_bytes = ledger.uses.iter().map(|used| used.bytes).sum::<f64>() * order as f64;
    simulation.wire_bytes = simulation.wire_bytes.saturating_add(whole_bytes(wire_bytes));
    simulation.payload_bytes = simulation.payload_bytes.saturating_add(whole_bytes(wiring.payload_bytes));
}
