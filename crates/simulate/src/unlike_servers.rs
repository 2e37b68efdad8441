//! Packets through servers of different rates, step by step: circuits on ports of different rates, and circuits next to
//! the electrical switches of islands.
//!
//! Packets take parallel circuits in turn, each circuit as many of them as its rate is of all. A packet of the
//! electrical tier crosses two servers, from its GPU to the switch and from the switch to the next GPU, each at the rate
//! of the tier; the switch stores it between them. The hop delay is behind the second. Circuits are servers as
//! everywhere. Servers are first come, first served; a sender hands over the packets of all its transfers in turn at
//! the start of the step. Every GPU is simulated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use model::{Electrical, Error, Plan, Rank, Result, Translations};

use crate::change::{Change, initial};
use crate::clock::{LIMIT_FS, femtoseconds, too_long, wire_fs};
use crate::cutoffs::unlike_servers::{MOST_IN_TURN, MOST_PACKETS, ROUNDING};
use crate::message::{Message, full_packet, packet};
use crate::packet::Packet;
use crate::report::{StepTimes, idle_gpus, of_gpus, receive, send};
use crate::settings::{Forwarding, Injection, Level, ReconfigurationScope, Settings, Synchronisation};
use crate::simulation::{CircuitUse, SimulatedStep, Simulation};
use crate::split::{Dealer, Shares};

/// Whether circuits have different rates, or some path of the plan goes through an electrical switch: from GPU to GPU
/// without a circuit.
pub(crate) fn is_needed(plan: &Plan) -> bool {
    let has_paths_inside = plan.fabric.electrical.is_some_and(|islands| {
        plan.steps.iter().any(|step| {
            let links = Links::of(plan, step.topology);
            let mut nodes = step.routes.arcs.iter().flat_map(|arc| &arc.paths).map(|path| &path.nodes);
            nodes.any(|nodes| nodes.windows(2).any(|hop| links.is_electrical(&islands, hop[0], hop[1])))
        })
    });
    has_paths_inside || plan.fabric.shape.unlike_rates().is_some()
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

/// Simulates a plan for which it is needed.
///
/// # Errors
/// Settings other than packets in a burst with barriers, more packets than are simulated, routes that are none, or times
/// that femtoseconds cannot count.
pub(crate) fn run(plan: &Plan, settings: &Settings) -> Result<Simulation> {
    refuse(settings)?;
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
        let told = step(plan, settings, index, (ready_fs, begin_fs, times), &mut simulation)?;
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
        Err(Error::value(
            field,
            value,
            format!("{accepts} for plans on circuits of different rates or through electrical switches"),
        ))
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
    /// Place of its rate.
    rate: usize,
    /// Behind its last bit, fs.
    delay_fs: u64,
    free_fs: u64,
    used: CircuitUse,
    waiting_bytes: u64,
}

/// A circuit that has sent nothing.
fn unused((src, dst): (Rank, Rank), circuit: u32) -> CircuitUse {
    CircuitUse { src, dst, circuit, bytes: 0, packets: 0, first_fs: 0, last_fs: 0, busy_fs: 0, queue_bytes: 0 }
}

/// The servers of a step.
struct Servers {
    islands: Option<Electrical>,
    /// Rates of the ports, bit/s, the fastest first, then that of the switches.
    rates_bps: Vec<f64>,
    /// By their ends the circuits that packets take one after the other, over and over.
    in_turn: BTreeMap<(Rank, Rank), Vec<usize>>,
    /// From every GPU to its switch, and from its switch to every GPU.
    up: usize,
    down: usize,
    all: Vec<Server>,
}

impl Servers {
    fn of(plan: &Plan, topology: usize) -> Result<Self> {
        let (islands, topology) = (plan.fabric.electrical, &plan.topologies[topology]);
        let hop_fs = femtoseconds("hop_delay", plan.fabric.hop_delay_on_s(topology))?;
        let inside_fs = femtoseconds("electrical", islands.map_or(0.0, |islands| islands.hop_delay_s))?;
        let mut rates_bps = plan.fabric.shape.rates_bps();
        if rates_bps.is_empty() {
            rates_bps.push(plan.fabric.bandwidth_bps);
        }
        let inside = rates_bps.len();
        rates_bps.extend(islands.map(|islands| islands.bandwidth_bps));
        let server = |rate, delay_fs, used| Server { rate, delay_fs, free_fs: 0, used, waiting_bytes: 0 };
        let (mut all, mut in_turn) = (Vec::new(), BTreeMap::new());
        for link in topology.expanded() {
            let (ends, first) = ((link.src, link.dst), all.len());
            let by_rate = topology.circuits_by_rate(link.src, link.dst).map_or(vec![link.count], <[u32]>::to_vec);
            let of_circuits = by_rate.iter().enumerate().flat_map(|(rate, &count)| (0..count).map(move |_| rate));
            let circuits = of_circuits.zip(0..);
            all.extend(circuits.map(|(rate, circuit)| server(rate, hop_fs, unused(ends, circuit))));
            in_turn.insert(ends, turns(&all[first..], &rates_bps).into_iter().map(|place| first + place).collect());
        }
        let gpus = plan.fabric.shape.gpus();
        let (up, down) = (all.len(), all.len() + gpus as usize);
        all.extend((0..gpus).map(|gpu| server(inside, 0, unused((gpu, gpu), 0))));
        all.extend((0..gpus).map(|gpu| server(inside, inside_fs, unused((gpu, gpu), 0))));
        Ok(Self { islands, rates_bps, in_turn, up, down, all })
    }

    /// The servers of a path; of parallel circuits the one of packet `number`.
    fn of_path(&self, nodes: &[Rank], number: u64) -> Option<Vec<usize>> {
        let mut found = Vec::with_capacity(2 * nodes.len());
        for hop in nodes.windows(2) {
            if let Some(circuits) = self.in_turn.get(&(hop[0], hop[1])) {
                found.push(circuits[(number % circuits.len() as u64) as usize]);
            } else if self.islands.is_some_and(|islands| islands.joins(hop[0], hop[1])) {
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
    /// Its size, and its time at each rate.
    sizes: Rc<[Packet]>,
}

/// The parallel circuits that packets take one after the other: each once where they are alike, else each as often as
/// its rate is of all: over the first number of packets after which no circuit has to be busy for longer than it must,
/// or that with the least excess.
fn turns(circuits: &[Server], rates_bps: &[f64]) -> Vec<usize> {
    let rates: Vec<f64> = circuits.iter().map(|circuit| rates_bps[circuit.rate]).collect();
    let Some(shares) = Shares::new(&rates).filter(|shares| !shares.are_equal()) else {
        return (0..circuits.len()).collect();
    };
    let mut dealer = Dealer::new(circuits.len());
    let (mut taken, mut sent) = (Vec::new(), vec![0.0f64; circuits.len()]);
    let (mut least, mut best) = (f64::INFINITY, 0);
    while taken.len() < MOST_IN_TURN && least > 1.0 + ROUNDING {
        let place = dealer.deal(&shares).0;
        taken.push(place);
        sent[place] += 1.0;
        let busy = |(place, packets): (usize, &f64)| packets / (taken.len() as f64 * shares.of(place));
        let longest = sent.iter().enumerate().map(busy).fold(0.0, f64::max);
        if longest < least - ROUNDING {
            (least, best) = (longest, taken.len());
        }
    }
    taken.truncate(best);
    taken
}

fn step(
    plan: &Plan,
    settings: &Settings,
    index: usize,
    (ready_fs, begin_fs, times): (u64, u64, StepTimes),
    simulation: &mut Simulation,
) -> Result<SimulatedStep> {
    let gpus = plan.fabric.shape.gpus();
    let mut servers = Servers::of(plan, plan.steps[index].topology)?;
    let packets = packets(plan, settings, index, &servers, simulation)?;
    let mut told = idle_gpus(&Translations::trivial(gpus), &vec![ready_fs; gpus as usize]);
    let mut queue: BinaryHeap<Reverse<(u64, u32, u32)>> =
        (0..packets.len() as u32).map(|packet| Reverse((begin_fs, packet, 0))).collect();
    let mut handled = 0_u32;
    while let Some(Reverse((now_fs, number, hop))) = queue.pop() {
        handled = handled.wrapping_add(1);
        if handled.is_multiple_of(1 << 12) {
            interruption::check();
        }
        let sent = &packets[number as usize];
        let server = &mut servers.all[sent.servers[hop as usize]];
        let (packet, rate_bps) = (sent.sizes[server.rate], servers.rates_bps[server.rate]);
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
            // What is in line before it, up to a packet that is being sent, and itself.
            let line = ((start_fs - now_fs) as f64 * rate_bps / 8e15) as u64 + packet.bytes;
            server.waiting_bytes = server.waiting_bytes.max(line);
        }
        if hop == 0 {
            send(&mut told[sent.ends.0 as usize], start_fs, end_fs);
        }
        let onward_fs = match settings.forwarding {
            Forwarding::StoreAndForward => end_fs,
            Forwarding::CutThrough => {
                let header = wire_fs(u64::from(settings.header_bytes), rate_bps)?;
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
    index: usize,
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
    let full: Rc<[Packet]> = servers.rates_bps.iter().map(|&rate_bps| full_packet(settings, rate_bps)).collect();
    let mut found: Vec<((u64, Rank, Rank), Sent)> = Vec::new();
    for arc in step.routes.expanded() {
        interruption::check();
        let ends = (arc.src, arc.dst);
        let weight = weights.get(&ends).ok_or_else(|| {
            malformed(format!("there are routes {} → {}, and the step sends nothing there", arc.src, arc.dst))
        })?;
        let message = Message::new(largest * weight, full[0], settings, servers.rates_bps[0])?;
        if found.len() as u64 + message.packets > MOST_PACKETS {
            let accepts = format!("packets so large that a step has at most {MOST_PACKETS} of them");
            return Err(Error::value("packet_size", settings.payload_bytes, accepts));
        }
        simulation.payload_bytes += message.payload_bytes.round() as u64;
        let shares: Vec<f64> = arc.paths.iter().map(|path| path.share).collect();
        let shares = Shares::new(&shares)
            .ok_or_else(|| malformed(format!("the shares of {} → {} must be at least 0", arc.src, arc.dst)))?;
        let rest = message.payload_bytes - (message.packets - 1) as f64 * f64::from(settings.payload_bytes);
        let short = |&rate_bps: &f64| packet(rest, settings, rate_bps);
        let tail =
            message.tail.map(|_| servers.rates_bps.iter().map(short).collect::<Result<Rc<[_]>>>()).transpose()?;
        let mut dealer = Dealer::new(shares.paths());
        for number in 0..message.packets {
            let (path, of_path) = dealer.deal(&shares);
            let nodes = &arc.paths[path].nodes;
            let is_its = (nodes.first(), nodes.last()) == (Some(&arc.src), Some(&arc.dst));
            let way = servers.of_path(nodes, of_path).filter(|way| is_its && !way.is_empty());
            let way = way.ok_or_else(|| malformed(format!("a path of {} → {} does not exist", arc.src, arc.dst)))?;
            let sizes = tail.clone().filter(|_| number + 1 == message.packets).unwrap_or_else(|| full.clone());
            let turn = (arc.dst + gpus - arc.src) % gpus;
            found.push(((number, turn, arc.src), Sent { ends, servers: way, sizes }));
        }
        simulation.packets += message.packets;
    }
    found.sort_by_key(|(order, _)| *order);
    Ok(found.into_iter().map(|(_, sent)| sent).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(of_circuits_bps: &[f64]) -> Vec<usize> {
        let server = |rate| Server { rate, delay_fs: 0, free_fs: 0, used: unused((0, 1), 0), waiting_bytes: 0 };
        turns(&(0..of_circuits_bps.len()).map(server).collect::<Vec<_>>(), of_circuits_bps)
    }

    #[test]
    fn circuits_of_one_rate_take_turns() {
        assert_eq!(taken(&[4e11; 3]), [0, 1, 2]);
    }

    #[test]
    fn turns_end_where_each_circuit_has_its_whole_share() {
        for rates in [&[2.0, 1.0][..], &[2.0, 2.0, 1.0, 1.0], &[100.0, 100.0, 1.0, 1.0, 1.0], &[7.0, 5.0, 3.0, 2.0]] {
            let turns = taken(&rates.iter().map(|rate| rate * 8e9).collect::<Vec<_>>());
            let counts: Vec<f64> =
                (0..rates.len()).map(|place| turns.iter().filter(|&&taken| taken == place).count() as f64).collect();
            assert_eq!(counts, rates);
        }
    }

    #[test]
    fn a_circuit_that_would_hold_up_the_others_has_no_turn() {
        assert_eq!(taken(&[8e11, 1.0]), [0]);
    }
}
