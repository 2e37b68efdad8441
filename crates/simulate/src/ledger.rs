//! What is noted while packets are served: use of circuits, progress of flows.

use crate::backlog::Backlog;
use crate::network::QueueingNetwork;
use crate::runs::Run;

/// How a server is used, fs and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Use {
    /// First bit out; meaningless where there are no packets.
    pub(crate) first_fs: u64,
    /// Last bit out.
    pub(crate) last_fs: u64,
    pub(crate) busy_fs: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// What a flow has come to, fs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    /// First bit out of the sender.
    pub(crate) first_fs: u64,
    /// Last bit out of the sender.
    pub(crate) sent_fs: u64,
    /// Last bit at the receiver.
    pub(crate) received_fs: u64,
}

/// The last packet of a stream is out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) stream: u32,
    /// When its last bit left the server.
    pub(crate) departure_fs: u64,
}

/// What has happened in a network.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(crate) uses: Vec<Use>,
    pub(crate) flows: Vec<Progress>,
    /// Packets that each stream has yet to send.
    left: Vec<u64>,
    /// Queue of each server.
    pub(crate) backlogs: Vec<Backlog>,
    /// Streams that are through since this was last looked at.
    pub(crate) done: Vec<Done>,
}

impl Ledger {
    pub(crate) fn new(network: &QueueingNetwork) -> Self {
        let packets = |stream: &crate::network::Stream| network.flows[stream.flow as usize].packets;
        Self {
            uses: vec![Use::default(); network.slots],
            flows: vec![Progress::default(); network.flows.len()],
            left: network.streams.iter().map(packets).collect(),
            backlogs: vec![Backlog::default(); network.servers],
            done: Vec::new(),
        }
    }

    /// Notes that packets of `stream` that came as `arrivals` leave as `departures`.
    pub(crate) fn note(&mut self, network: &QueueingNetwork, stream: u32, arrivals: &Run, departures: &Run) {
        let at = &network.streams[stream as usize];
        let (start_fs, end_fs) = (departures.first_fs - departures.packet.wire_fs, departures.last_fs());
        let used = &mut self.uses[at.slot as usize];
        if used.packets == 0 {
            used.first_fs = start_fs;
        }
        used.last_fs = used.last_fs.max(end_fs);
        used.busy_fs += departures.count * departures.packet.wire_fs;
        used.packets += departures.count;
        used.bytes += departures.count * departures.packet.bytes;
        let flow = &mut self.flows[at.flow as usize];
        if at.edge.is_none() {
            if flow.sent_fs == 0 {
                flow.first_fs = start_fs;
            }
            flow.sent_fs = end_fs;
        } else {
            let are_full = departures.packet == network.packet;
            self.backlogs[at.server as usize].pass(arrivals, *departures, are_full);
        }
        if at.is_last {
            flow.received_fs = end_fs + network.hop.delay_fs;
        }
        let left = &mut self.left[stream as usize];
        *left -= departures.count;
        if *left == 0 {
            self.done.push(Done { stream, departure_fs: end_fs });
        }
    }

    /// Notes a flow that all its servers send at once, from `start_fs` to `end_fs`.
    pub(crate) fn note_flow(&mut self, network: &QueueingNetwork, flow: u32, start_fs: u64, end_fs: u64) {
        let sent = &network.flows[flow as usize];
        let delay_fs = network.hop.delay_fs;
        for (hop, number) in (0..).zip(sent.streams.clone()) {
            let used = &mut self.uses[network.streams[number].slot as usize];
            used.first_fs = if used.packets == 0 { start_fs } else { used.first_fs.min(start_fs) };
            used.last_fs = used.last_fs.max(end_fs);
            used.busy_fs += network.fluid_fs(flow) as u64;
            used.packets += sent.packets;
            used.bytes += sent.fluid_bytes;
            self.done.push(Done { stream: number as u32, departure_fs: end_fs + hop * delay_fs });
        }
        let received_fs = end_fs + sent.streams.len() as u64 * delay_fs;
        self.flows[flow as usize] = Progress { first_fs: start_fs, sent_fs: end_fs, received_fs };
    }
}
