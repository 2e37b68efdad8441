//! A second packet simulator, written to be read: every GPU, every packet, one event after the other from a
//! heap. It shares no code with the crate. Under dataflow it takes plans whose reconfigurations are global.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use lightloom_simulate::{Forwarding, Injection, ReconfigurationScope, Settings, Synchronisation};
use model::{Initial, Plan, Rank};

use super::packets::{Circuit, Packet, all_packets, circuits, time_on_wire};

/// The use of one circuit in one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub bytes: u64,
    pub packets: u64,
    pub first_fs: u64,
    pub last_fs: u64,
    pub busy_fs: u64,
    pub queue_bytes: u64,
}

/// The times of one GPU in one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    pub ready_fs: u64,
    pub first_send_fs: Option<u64>,
    pub last_sent_fs: Option<u64>,
    pub last_received_fs: Option<u64>,
}

/// The events of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepRecord {
    pub end_fs: u64,
    pub circuits: BTreeMap<Circuit, Usage>,
    pub gpus: BTreeMap<Rank, Times>,
}

/// Time of arrival, then step, arc, path, circuit in parallel, then hop, number on the path; and which packet. Packets
/// that senders hand over in a burst go by their number in the transfer.
type InLine = (u64, [usize; 4], usize, usize, usize);

#[derive(Default)]
struct Server {
    queue: BTreeSet<InLine>,
    free_fs: u64,
    credit: u64,
    transit: u64,
}

/// Events of one time happen in this order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The last bit of a packet is out of the server of this hop.
    Out(usize, usize),
    /// A server may send more bytes to the buffer at its far end.
    Credit(usize, u64),
    /// A packet can be sent by the server of this hop.
    Arrive(usize, usize),
}

struct World<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    names: Vec<Circuit>,
    servers: Vec<Server>,
    packets: Vec<Packet>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    steps: Vec<StepRecord>,
    /// Per step and GPU, packets that are not yet handed over, with their time after the GPU's release.
    to_come: Vec<Vec<Vec<(Packet, u64)>>>,
    /// Per step and GPU: packets to send and to receive.
    owed: Vec<Vec<u64>>,
    /// Per step, GPUs that are not ready for it.
    unready: Vec<BTreeSet<Rank>>,
    /// Steps and GPUs that are ready for them, whose packets are not yet handed over.
    waiting: Vec<(usize, Rank)>,
}

/// Simulates all steps; `None` when packets wait for each other for ever.
pub fn simulate(plan: &Plan, settings: &Settings) -> Option<Vec<StepRecord>> {
    let every: BTreeSet<Circuit> = plan.topologies.iter().flat_map(circuits).collect();
    let number: BTreeMap<Circuit, usize> = every.iter().copied().zip(0..).collect();
    let gpus = plan.fabric.shape.gpus();
    let credit = settings.buffer_bytes.unwrap_or(0);
    let mut world = World {
        plan,
        settings,
        names: every.iter().copied().collect(),
        servers: every.iter().map(|_| Server { credit, ..Server::default() }).collect(),
        packets: Vec::new(),
        events: BinaryHeap::new(),
        steps: Vec::new(),
        to_come: Vec::new(),
        owed: vec![vec![0; gpus as usize]; plan.steps.len()],
        unready: vec![(0..gpus).collect(); plan.steps.len()],
        waiting: Vec::new(),
    };
    for (index, step) in plan.steps.iter().enumerate() {
        let up = circuits(&plan.topologies[step.topology]);
        world.steps.push(StepRecord {
            circuits: up.into_iter().map(|circuit| (circuit, Usage::default())).collect(),
            gpus: (0..gpus).map(|gpu| (gpu, Times::default())).collect(),
            ..StepRecord::default()
        });
        world.to_come.push((0..gpus).map(|_| Vec::new()).collect());
        for (packet, offset_fs) in all_packets(plan, settings, index, &number) {
            world.owed[index][packet.ends.0 as usize] += 1;
            world.owed[index][packet.ends.1 as usize] += 1;
            world.to_come[index][packet.ends.0 as usize].push((packet, offset_fs));
        }
    }
    (0..gpus).for_each(|gpu| world.ready(gpu, 0, 0));
    world.run();
    world.owed.iter().flatten().all(|owed| *owed == 0).then_some(world.steps)
}

fn fs(seconds: f64) -> u64 {
    (seconds * 1e15).round() as u64
}

impl World<'_> {
    fn is_dataflow(&self) -> bool {
        self.settings.sync == Synchronisation::Dataflow
    }

    /// A GPU may begin `step` at `ready_fs`.
    fn ready(&mut self, gpu: Rank, step: usize, ready_fs: u64) {
        self.times(step, gpu).ready_fs = ready_fs;
        self.unready[step].remove(&gpu);
        self.waiting.push((step, gpu));
        if self.is_dataflow() {
            self.go_on(gpu, step);
        }
    }

    /// Under dataflow, a GPU that has nothing more to do in a step is ready for the next.
    fn go_on(&mut self, gpu: Rank, step: usize) {
        let through = self.owed[step][gpu as usize] == 0 && !self.unready[step].contains(&gpu);
        if through && step + 1 < self.plan.steps.len() {
            let Times { ready_fs, last_sent_fs, last_received_fs, .. } = *self.times(step, gpu);
            self.ready(gpu, step + 1, ready_fs.max(last_sent_fs.max(last_received_fs).unwrap_or(0)));
        }
    }

    /// A GPU has sent or received a packet.
    fn settle(&mut self, gpu: Rank, step: usize) {
        self.owed[step][gpu as usize] -= 1;
        if self.is_dataflow() {
            self.go_on(gpu, step);
        } else if self.owed[step].iter().all(|owed| *owed == 0) && step + 1 < self.plan.steps.len() {
            let ready_fs = self.steps[step].end_fs + fs(self.settings.barrier_s);
            (0..self.plan.fabric.shape.gpus()).for_each(|gpu| self.ready(gpu, step + 1, ready_fs));
        }
    }

    fn times(&mut self, step: usize, gpu: Rank) -> &mut Times {
        self.steps[step].gpus.entry(gpu).or_default()
    }

    /// Hands over the packets of the GPUs that are ready, unless the fabric is not.
    fn release(&mut self) {
        for (step, gpu) in std::mem::take(&mut self.waiting) {
            let ready_fs = self.times(step, gpu).ready_fs;
            let change = (0..=step).rev().find(|&step| self.is_dataflow() && self.plan.steps[step].reconfigured);
            let up_fs = match change {
                Some(change) if !self.unready[change].is_empty() => {
                    self.waiting.push((step, gpu));
                    continue;
                }
                Some(change) => {
                    let ready = self.steps[change].gpus.values().map(|times| times.ready_fs).max().unwrap_or(0);
                    ready + fs(self.plan.steps[change].cost.reconfiguration_s)
                }
                None => 0,
            };
            self.hand_over(step, gpu, ready_fs.max(up_fs));
        }
    }

    fn hand_over(&mut self, step: usize, gpu: Rank, now_fs: u64) {
        let plan = self.plan;
        let before = match (step.checked_sub(1), &plan.fabric.initial) {
            (Some(before), _) => Some(&plan.topologies[plan.steps[before].topology]),
            (None, Initial::Topology(topology)) => Some(topology),
            (None, Initial::Free) => None,
            (None, Initial::Repeated) => plan.steps.last().map(|last| &plan.topologies[last.topology]),
        };
        let was_up: Option<BTreeSet<Circuit>> = before.map(|topology| circuits(topology).into_iter().collect());
        for (packet, offset_fs) in std::mem::take(&mut self.to_come[step][gpu as usize]) {
            let changed = |server: &usize| was_up.as_ref().is_some_and(|up| !up.contains(&self.names[*server]));
            let dark = self.settings.reconfiguration == ReconfigurationScope::Global || packet.way.iter().any(changed);
            let dark = dark && !self.is_dataflow();
            let dark_fs = if dark { fs(plan.steps[step].cost.reconfiguration_s) } else { 0 };
            let time = now_fs + dark_fs + fs(plan.fabric.startup_s) + offset_fs;
            self.events.push(Reverse((time, Event::Arrive(self.packets.len(), 0))));
            self.packets.push(packet);
        }
    }

    fn run(&mut self) {
        self.release();
        while let Some(&Reverse((now, _))) = self.events.peek() {
            let mut touched = BTreeSet::new();
            while self.events.peek().is_some_and(|Reverse((time, _))| *time == now) {
                let Some(Reverse((_, event))) = self.events.pop() else { return };
                touched.extend(self.happen(now, event));
                self.release();
            }
            touched.into_iter().for_each(|server| self.start_next(now, server));
        }
    }

    /// Returns the server that may have something to do.
    fn happen(&mut self, now: u64, event: Event) -> Option<usize> {
        let hop_fs = fs(self.plan.fabric.hop_delay_s);
        match event {
            Event::Out(packet, hop) => {
                let Packet { ref way, bytes, order, ends, .. } = self.packets[packet];
                let (server, is_last) = (way[hop], hop + 1 == way.len());
                if hop > 0 {
                    self.servers[server].transit -= bytes;
                    self.events.push(Reverse((now + hop_fs, Event::Credit(way[hop - 1], bytes))));
                }
                if !is_last && self.settings.forwarding == Forwarding::StoreAndForward {
                    self.events.push(Reverse((now + hop_fs, Event::Arrive(packet, hop + 1))));
                }
                if is_last {
                    self.times(order.0, ends.1).last_received_fs = Some(now + hop_fs);
                    self.steps[order.0].end_fs = self.steps[order.0].end_fs.max(now + hop_fs);
                }
                if hop == 0 {
                    self.settle(ends.0, order.0);
                }
                if is_last {
                    self.settle(ends.1, order.0);
                }
                Some(server)
            }
            Event::Credit(server, bytes) => {
                self.servers[server].credit += bytes;
                Some(server)
            }
            Event::Arrive(packet, hop) => {
                let Packet { ref way, bytes, order: (step, arc, path, parallel, nth), number: in_transfer, .. } =
                    self.packets[packet];
                let number = way[hop];
                let server = &mut self.servers[number];
                let is_handed_over = hop == 0 && self.settings.injection == Injection::Burst;
                server.queue.insert(if is_handed_over {
                    (now, [step, arc, 0, 0], hop, in_transfer, packet)
                } else {
                    (now, [step, arc, path, parallel], hop, nth, packet)
                });
                if hop > 0 {
                    server.transit += bytes;
                    let usage = self.steps[step].circuits.entry(self.names[number]).or_default();
                    usage.queue_bytes = usage.queue_bytes.max(server.transit);
                }
                Some(number)
            }
        }
    }

    fn start_next(&mut self, now: u64, number: usize) {
        let server = &mut self.servers[number];
        let Some(&first) = server.queue.first().filter(|_| server.free_fs <= now) else { return };
        let (.., hop, _, packet) = first;
        let Packet { ref way, bytes, wire_fs, order, ends, .. } = self.packets[packet];
        let goes_on = hop + 1 < way.len();
        if self.settings.buffer_bytes.is_some() && goes_on {
            if server.credit < bytes {
                return;
            }
            server.credit -= bytes;
        }
        server.queue.remove(&first);
        server.free_fs = now + wire_fs;
        let usage = self.steps[order.0].circuits.entry(self.names[number]).or_default();
        if usage.packets == 0 {
            usage.first_fs = now;
        }
        usage.last_fs = now + wire_fs;
        usage.busy_fs += wire_fs;
        usage.bytes += bytes;
        usage.packets += 1;
        self.events.push(Reverse((now + wire_fs, Event::Out(packet, hop))));
        if goes_on && self.settings.forwarding == Forwarding::CutThrough {
            let head = u64::from(self.settings.header_bytes);
            let head_fs = time_on_wire(self.plan, head) + fs(self.plan.fabric.hop_delay_s);
            self.events.push(Reverse((now + head_fs, Event::Arrive(packet, hop + 1))));
        }
        if hop == 0 {
            let sender = self.times(order.0, ends.0);
            sender.first_send_fs.get_or_insert(now);
            sender.last_sent_fs = sender.last_sent_fs.max(Some(now + wire_fs));
        }
    }
}
