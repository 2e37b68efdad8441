//! Packets on circuits and through the electrical switches of islands, step by step.
//!
//! A packet of the electrical tier crosses two servers, from its GPU to the switch and from the switch to the next GPU,
//! each at the rate of the tier; the switch stores it between them. The hop delay is behind the second. Circuits are
//! servers as everywhere. Servers are first come, first served; a sender hands over the packets of all its transfers in
//! turn at the start of the step. Every GPU is simulated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use model::{Electrical, Error, Plan, Rank, Result, Translations};

use crate::change::{Change, initial};
use crate::clock::{LIMIT_FS, femtoseconds, too_long};
use crate::cutoffs::two_tiers::MOST_PACKETS;
use crate::message::{Message, full_packet, packet};
use crate::packet::Packet;
use crate::report::{StepTimes, idle_gpus, of_gpus, receive, send};
use crate::settings::{Forwarding, Injection, Level, ReconfigurationScope, Settings, Synchronisation};
use crate::simulation::{CircuitUse, SimulatedStep, Simulation};
use crate::split::{Dealer, Shares};

/// Whether some path of the plan goes through an electrical switch: from GPU to GPU without a circuit.
pub(crate) fn is_needed(plan: &Plan) -> bool {
    plan.fabric.electrical.is_some_and(|islands| {
        plan.steps.iter().any(|step| {
            let links = Links::of(plan, step.topology);
            let mut nodes = step.routes.arcs.iter().flat_map(|arc| &arc.paths).map(|path| &path.nodes);
            nodes.any(|nodes| nodes.windows(2).any(|hop| links.is_electrical(&islands, hop[0], hop[1])))
        })
    })
}

/// The circuits of a topology by their ends.
struct Links(BTreeMap<(Rank, Rank), u32>);

impl Links {
    fn of(plan: &Plan, topology: usize) -> Self {
        let links = plan.topologies[topology].expanded();
        Self(links.into_iter().map(|link| ((link.src, link.dst), link.count)).collect())
    }

    fn is_electrical(&self, islands: &Electrical, src: Rank, dst: Rank) -> bool {
        islands.joins(src, dst) && !self.0.contains_key(&(src, dst))
    }
}

/// Simulates a plan of two tiers.
///
/// # Errors
/// Settings other than packets in a burst with barriers, more packets than are simulated, routes that are none, or times
/// that femtoseconds cannot count.
pub(crate) fn run(plan: &Plan, settings: &Settings) -> Result<Simulation> {
    refuse(settings)?;
    let Some(islands) = plan.fabric.electrical else {
        return Err(Error::malformed("plan.fabric.electrical", "there is none"));
    };
    let between_fs = femtoseconds("barrier", settings.barrier_s)?;
    let barrier_fs = femtoseconds("barrier", plan.fabric.barrier_s)?;
    let startup_fs = femtoseconds("startup", plan.fabric.startup_s)?;
    let mut simulation = Simulation::default();
    let (mut before, mut ready_fs, mut up_fs) = (initial(plan), 0_u64, 0_u64);
    for index in 0..plan.steps.len() {
        let change = Change::new(plan, index, before)?;
        let dark_fs = change.left_fs(ready_fs.saturating_sub(up_fs));
        up_fs = ready_fs + dark_fs;
        let times = StepTimes { reconfiguration_fs: dark_fs, startup_fs };
        let begin_fs = up_fs + barrier_fs + startup_fs;
        let told = step(plan, settings, (index, &islands), (ready_fs, begin_fs, times), &mut simulation)?;
        simulation.total_fs = told.end_fs;
        ready_fs = told.end_fs + between_fs;
        simulation.steps.push(told);
        if ready_fs >= LIMIT_FS {
            return Err(too_long());
        }
        before = Some(&plan.topologies[plan.steps[index].topology]);
    }
    Ok(simulation)
}

/// Refuses settings that are simulated on circuits alone.
///
/// # Errors
/// The first such setting.
fn refuse(settings: &Settings) -> Result<()> {
    let only = |field: &str, value: &str, accepts: &str| {
        Err(Error::value(field, value, format!("{accepts} for plans that use electrical switches")))
    };
    if settings.level != Level::Packet {
        return only("level", settings.level.name(), "`packet`");
    }
    if settings.sync != Synchronisation::Barrier {
        return only("sync", settings.sync.name(), "`barrier`");
    }
    if settings.injection != Injection::Burst {
        return only("injection", settings.injection.name(), "`burst`");
    }
    if settings.reconfiguration != ReconfigurationScope::Global {
        return only("reconfiguration", settings.reconfiguration.name(), "`global`");
    }
    if let Some(buffer) = settings.buffer_bytes {
        return only("buffer", &buffer.to_string(), "no limit");
    }
    if !settings.congestion_control.is_none() {
        return only("congestion_control", "a rule", "`none`");
    }
    Ok(())
}

/// A server (a circuit or a port of an electrical switch), and the counts of what it has sent.
#[derive(Debug, Clone, Copy)]
struct Server {
    is_electrical: bool,
    /// Delay of the hop after the packet's last bit has left, fs.
    delay_fs: u64,
    free_fs: u64,
    used: CircuitUse,
    waiting_bytes: u64,
}

/// The servers of a step.
struct Servers {
    links: Links,
    of_circuit: BTreeMap<(Rank, Rank), usize>,
    /// From every GPU to its switch, and from its switch to every GPU.
    up: usize,
    down: usize,
    all: Vec<Server>,
}

impl Servers {
    fn of(plan: &Plan, topology: usize, islands: &Electrical) -> Result<Self> {
        let links = Links::of(plan, topology);
        let unused = |(src, dst): (Rank, Rank), circuit| CircuitUse {
            src,
            dst,
            circuit,
            bytes: 0,
            packets: 0,
            first_fs: 0,
            last_fs: 0,
            busy_fs: 0,
            queue_bytes: 0,
        };
        let hop_fs = femtoseconds("hop_delay", plan.fabric.hop_delay_s)?;
        let inside_fs = femtoseconds("electrical", islands.hop_delay_s)?;
        let server =
            |is_electrical, delay_fs, used| Server { is_electrical, delay_fs, free_fs: 0, used, waiting_bytes: 0 };
        let (mut all, mut of_circuit) = (Vec::new(), BTreeMap::new());
        for (&ends, &count) in &links.0 {
            of_circuit.insert(ends, all.len());
            all.extend((0..count).map(|circuit| server(false, hop_fs, unused(ends, circuit))));
        }
        let gpus = plan.fabric.shape.gpus();
        let (up, down) = (all.len(), all.len() + gpus as usize);
        all.extend((0..gpus).map(|gpu| server(true, 0, unused((gpu, gpu), 0))));
        all.extend((0..gpus).map(|gpu| server(true, inside_fs, unused((gpu, gpu), 0))));
        Ok(Self { links, of_circuit, up, down, all })
    }

    /// The servers of a path; of parallel circuits the one of packet `number`.
    fn of_path(&self, islands: &Electrical, nodes: &[Rank], number: u64) -> Option<Vec<usize>> {
        let mut found = Vec::with_capacity(2 * nodes.len());
        for hop in nodes.windows(2) {
            if let Some(first) = self.of_circuit.get(&(hop[0], hop[1])) {
                found.push(first + (number % u64::from(self.links.0[&(hop[0], hop[1])])) as usize);
            } else if islands.joins(hop[0], hop[1]) {
                found.extend([self.up + hop[0] as usize, self.down + hop[1] as usize]);
            } else {
                return None;
            }
        }
        Some(found)
    }
}

/// A packet on its way.
struct Sent {
    ends: (Rank, Rank),
    servers: Vec<usize>,
    /// Size of the packet, and its times on a circuit and at a switch.
    on_circuit: Packet,
    at_switch: Packet,
}

fn step(
    plan: &Plan,
    settings: &Settings,
    (index, islands): (usize, &Electrical),
    (ready_fs, begin_fs, times): (u64, u64, StepTimes),
    simulation: &mut Simulation,
) -> Result<SimulatedStep> {
    let gpus = plan.fabric.shape.gpus();
    let mut servers = Servers::of(plan, plan.steps[index].topology, islands)?;
    let packets = packets(plan, settings, (index, islands), &servers, simulation)?;
    let mut told = idle_gpus(&Translations::trivial(gpus), &vec![ready_fs; gpus as usize]);
    let mut queue: BinaryHeap<Reverse<(u64, u32, u32)>> =
        (0..packets.len() as u32).map(|packet| Reverse((begin_fs, packet, 0))).collect();
    let rates = [plan.fabric.bandwidth_bps, islands.bandwidth_bps];
    let mut handled = 0_u32;
    while let Some(Reverse((now_fs, number, hop))) = queue.pop() {
        handled = handled.wrapping_add(1);
        if handled.is_multiple_of(1 << 12) {
            interruption::check();
        }
        let sent = &packets[number as usize];
        let server = &mut servers.all[sent.servers[hop as usize]];
        let packet = if server.is_electrical { sent.at_switch } else { sent.on_circuit };
        let start_fs = server.free_fs.max(now_fs);
        let end_fs = start_fs + packet.wire_fs;
        if end_fs >= LIMIT_FS {
            return Err(too_long());
        }
        server.free_fs = end_fs;
        let used = &mut server.used;
        used.first_fs = if used.packets == 0 { start_fs } else { used.first_fs };
        (used.last_fs, used.busy_fs) = (end_fs, used.busy_fs + packet.wire_fs);
        (used.packets, used.bytes) = (used.packets + 1, used.bytes + packet.bytes);
        if hop > 0 {
            // The bytes in line before the packet, with the one that is being sent, and the packet's own.
            let rate = rates[usize::from(server.is_electrical)];
            let line = ((start_fs - now_fs) as f64 * rate / 8e15) as u64 + packet.bytes;
            server.waiting_bytes = server.waiting_bytes.max(line);
        }
        if hop == 0 {
            send(&mut told[sent.ends.0 as usize], start_fs, end_fs);
        }
        let onward_fs = match settings.forwarding {
            Forwarding::StoreAndForward => end_fs,
            Forwarding::CutThrough => {
                let header =
                    crate::clock::wire_fs(u64::from(settings.header_bytes), rates[usize::from(server.is_electrical)])?;
                start_fs + header.min(packet.wire_fs)
            }
        };
        if hop as usize + 1 < sent.servers.len() {
            queue.push(Reverse((onward_fs + server.delay_fs, number, hop + 1)));
        } else {
            receive(&mut told[sent.ends.1 as usize], end_fs + server.delay_fs);
        }
    }
    let mut circuits = Vec::new();
    for (at, server) in servers.all.iter().enumerate() {
        simulation.packet_hops += server.used.packets;
        simulation.wire_bytes += server.used.bytes;
        if at < servers.up {
            circuits.push(CircuitUse { queue_bytes: server.waiting_bytes, ..server.used });
        }
    }
    Ok(of_gpus(Translations::trivial(gpus), told, circuits, times))
}

/// The packets of a step in the order in which senders hand them over: of every transfer the first, then the second, and
/// so on, each sender beginning with the GPU after it.
fn packets(
    plan: &Plan,
    settings: &Settings,
    (index, islands): (usize, &Electrical),
    servers: &Servers,
    simulation: &mut Simulation,
) -> Result<Vec<Sent>> {
    let step = &plan.steps[index];
    let gpus = plan.fabric.shape.gpus();
    let malformed = |reason: String| Error::malformed(format!("plan.steps[{index}].routes"), reason);
    let traffic = step.step.traffic().expanded();
    let weights: BTreeMap<(Rank, Rank), f64> =
        traffic.into_iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
    let largest = plan.size_bytes as f64 * step.step.share();
    let (on_circuit, at_switch) = (plan.fabric.bandwidth_bps, islands.bandwidth_bps);
    let full = [full_packet(settings, on_circuit), full_packet(settings, at_switch)];
    let mut found: Vec<((u64, Rank, Rank), Sent)> = Vec::new();
    for arc in step.routes.expanded() {
        interruption::check();
        let ends = (arc.src, arc.dst);
        let weight = weights.get(&ends).ok_or_else(|| {
            malformed(format!("there are routes {} → {}, and the step sends nothing there", arc.src, arc.dst))
        })?;
        let message = Message::new(largest * weight, full[0], settings, on_circuit)?;
        if found.len() as u64 + message.packets > MOST_PACKETS {
            let accepts = format!("packets so large that a step has at most {MOST_PACKETS} of them");
            return Err(Error::value("packet_size", settings.payload_bytes, accepts));
        }
        simulation.payload_bytes += message.payload_bytes.round() as u64;
        let shares: Vec<f64> = arc.paths.iter().map(|path| path.share).collect();
        let shares = Shares::new(&shares)
            .ok_or_else(|| malformed(format!("the shares of {} → {} must be at least 0", arc.src, arc.dst)))?;
        let rest = message.payload_bytes - (message.packets - 1) as f64 * f64::from(settings.payload_bytes);
        let tail = message.tail.map(|tail| Ok::<_, Error>([tail, packet(rest, settings, at_switch)?])).transpose()?;
        let mut dealer = Dealer::new(shares.paths());
        for number in 0..message.packets {
            let (path, of_path) = dealer.deal(&shares);
            let nodes = &arc.paths[path].nodes;
            let is_its = (nodes.first(), nodes.last()) == (Some(&arc.src), Some(&arc.dst));
            let way = servers.of_path(islands, nodes, of_path).filter(|way| is_its && !way.is_empty());
            let way = way.ok_or_else(|| malformed(format!("a path of {} → {} does not exist", arc.src, arc.dst)))?;
            let [on_circuit, at_switch] = tail.filter(|_| number + 1 == message.packets).unwrap_or(full);
            let turn = (arc.dst + gpus - arc.src) % gpus;
            found.push(((number, turn, arc.src), Sent { ends, servers: way, on_circuit, at_switch }));
        }
        simulation.packets += message.packets;
    }
    found.sort_by_key(|(order, _)| *order);
    Ok(found.into_iter().map(|(_, sent)| sent).collect())
}
