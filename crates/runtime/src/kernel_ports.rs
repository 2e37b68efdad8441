//! The kernel as transport: a rank's ports are interfaces of its network namespace.

use rustix::event::{PollFd, PollFlags, poll};

use crate::arrivals::Arrivals;
use crate::board::Board;
use crate::clock::{now_ns, timespec};
use crate::cutoffs::kernel_ports::{LEAST_PACKETS, MOST_BUFFER};
use crate::datagrams::Datagrams;
use crate::envelope::{ENVELOPE_BYTES, Envelope};
use crate::namespaces::{Namespaces, enter};
use crate::request::Request;
use crate::transport::Transport;
use crate::wire::Header;

/// Memory that the kernel needs for a packet in addition to its bytes.
const RECORD_BYTES: u64 = 1024;
/// Time for which a rank hands packets over ahead, so that it may wake late; ranks that begin at once and hand over
/// more keep each other waiting. The system doubles it, for its records.
const SLACK_NS: f64 = 4e6;

struct Port {
    datagrams: Datagrams,
    /// Packets sent in this step.
    sent: u64,
    /// Packets that came in this step.
    arrivals: Arrivals,
    /// Whether a packet waits for room.
    is_full: bool,
}

/// A rank's ports.
pub struct KernelPorts<'a> {
    board: &'a Board,
    request: &'a Request,
    rank: u32,
    bucket_bytes: u64,
    ports: Vec<Port>,
    datagram: Vec<u8>,
}

impl<'a> KernelPorts<'a> {
    /// Moves this process into the rank's namespace, and opens its ports.
    ///
    /// incoming_packets: the most that come to the rank in a step.
    ///
    /// # Errors
    /// The refusal of the system, in words.
    pub fn open(
        board: &'a Board,
        request: &'a Request,
        namespaces: &Namespaces,
        rank: u32,
        incoming_packets: u64,
    ) -> Result<Self, String> {
        enter(&namespaces.ranks[rank as usize])?;
        let packet = u64::from(request.packet_bytes);
        let room = |packets: u64| packets.saturating_mul(packet + RECORD_BYTES).min(MOST_BUFFER) as usize;
        let per_ns = if request.ns_per_byte > 0.0 { 1.0 / request.ns_per_byte } else { f64::INFINITY };
        let sent_bytes = room(((SLACK_NS * per_ns / packet as f64) as u64).max(LEAST_PACKETS));
        let received_bytes = room(incoming_packets.max(LEAST_PACKETS));
        let port = |number| {
            let datagrams = Datagrams::open(Some(&format!("p{number}")), sent_bytes, received_bytes)?;
            Ok(Port { datagrams, sent: 0, arrivals: Arrivals::default(), is_full: false })
        };
        let ports = (0..request.ports).map(port).collect::<Result<_, String>>()?;
        let datagram = vec![1; ENVELOPE_BYTES + packet as usize];
        Ok(Self { board, request, rank, bucket_bytes: namespaces.bucket_bytes, ports, datagram })
    }
}

impl Transport for KernelPorts<'_> {
    fn begin_step(&mut self) {
        for port in &mut self.ports {
            (port.sent, port.arrivals) = (0, Arrivals::default());
        }
    }

    fn head_start_ns(&self, bytes: u64) -> u64 {
        (bytes.min(self.bucket_bytes) as f64 * self.request.ns_per_byte) as u64
    }

    fn look(&mut self) {
        self.ports.iter_mut().for_each(|port| port.is_full = false);
    }

    fn send(&mut self, port: u32, header: &Header, payload: &[u8]) -> Result<bool, String> {
        let transmitter = self.rank * self.request.ports + port;
        let port = &mut self.ports[port as usize];
        let envelope = Envelope { transmitter, sequence: port.sent, header: *header };
        self.datagram[..ENVELOPE_BYTES].copy_from_slice(&envelope.encode());
        let end = ENVELOPE_BYTES + payload.len();
        self.datagram[ENVELOPE_BYTES..end].copy_from_slice(payload);
        let has_room = port.datagrams.send(&self.datagram[..end])?;
        port.sent += u64::from(has_room);
        port.is_full |= !has_room;
        Ok(has_room)
    }

    fn receive(&mut self, number: u32, payload: &mut Vec<u8>) -> Result<Option<Header>, String> {
        let port = &mut self.ports[number as usize];
        let Some(size) = port.datagrams.receive(&mut self.datagram)? else {
            let lost = port.arrivals.lost(now_ns());
            return lost.map_or(Ok(None), |lost| Err(format!("{lost} {number}; {}", dropped())));
        };
        let Some(Envelope { transmitter, sequence, header }) = Envelope::decode(&self.datagram[..size]) else {
            return Err(format!("the data received at port {number} is not a packet"));
        };
        let from = (transmitter / self.request.ports, transmitter % self.request.ports);
        port.arrivals.note(sequence, from, now_ns()).map_err(|why| format!("{why} {number}"))?;
        payload.clear();
        payload.extend_from_slice(&self.datagram[ENVELOPE_BYTES..size]);
        let (step, bytes) = (header.step as usize, u64::from(header.size));
        self.board.count_use(step, transmitter as usize, bytes, header.sent_ns, now_ns());
        Ok(Some(header))
    }

    fn flush(&mut self) {}

    fn wait(&mut self, until_ns: Option<u64>) {
        let of_port = |port: &Port| if port.is_full { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut polled: Vec<PollFd<'_>> =
            self.ports.iter().map(|port| PollFd::new(port.datagrams.socket(), of_port(port))).collect();
        let until_ns = self.ports.iter().filter_map(|port| port.arrivals.lost_ns()).chain(until_ns).min();
        let left = until_ns.map(|moment_ns| timespec(moment_ns.saturating_sub(now_ns())));
        // A process that is woken looks again, for any reason of waking.
        let _ = poll(&mut polled, left.as_ref());
    }
}

/// The kernel's count, in this process's network namespace, of datagrams that came and were dropped.
fn dropped() -> String {
    let told = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap_or_default();
    let mut lines = told.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let of_errors =
        names.split(' ').zip(values.split(' ')).filter(|(name, count)| name.ends_with("Errors") && *count != "0");
    let counted: Vec<String> = of_errors.map(|(name, count)| format!("{name} {count}")).collect();
    if counted.is_empty() {
        "the receiving host dropped none".into()
    } else {
        format!("the receiving host counts {}", counted.join(", "))
    }
}
