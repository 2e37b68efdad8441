//! Records made while packets are served: use of circuits, progress of flows.

use crate::congestion::CongestionTotals;
use crate::network::{QueueingNetwork, SENDER};
use crate::packet::Packet;
use crate::runs::{Marks, Run};

/// The use of a server, fs and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Use {
    /// First bit out; meaningless where there are no packets.
    pub(crate) first_fs: u64,
    /// Last bit out.
    pub(crate) last_fs: u64,
    pub(crate) busy_fs: u64,
    pub(crate) packets: u64,
    /// Whole packets at packet level; exact parts at flow level.
    pub(crate) bytes: f64,
}

/// The nearest number of bytes, for any order of their addition.
pub(crate) fn whole_bytes(bytes: f64) -> u64 {
    (bytes * (1.0 + 1e-12) + 1e-9).round() as u64
}

/// The progress of a flow, fs.
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
    /// The time at which the last bit left the server.
    pub(crate) departure_fs: u64,
}

/// The events in a network.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(crate) uses: Vec<Use>,
    pub(crate) flows: Vec<Progress>,
    /// Most bytes that waited at each server, as [`crate::backlog::Backlog`] counts them.
    pub(crate) queue_bytes: Vec<u64>,
    /// Counts of what congestion control did, for one GPU of each orbit.
    pub(crate) congestion: CongestionTotals,
    /// Streams that are through since this was last looked at.
    pub(crate) done: Vec<Done>,
}

impl Ledger {
    /// A ledger in which nothing has happened yet.
    pub(crate) fn new(network: &QueueingNetwork) -> Self {
        Self {
            uses: vec![Use::default(); network.slots],
            flows: vec![Progress::default(); network.flows.len()],
            queue_bytes: vec![0; network.servers],
            congestion: CongestionTotals::default(),
            done: Vec::new(),
        }
    }

    /// Notes how much every server will have sent: what is known before the first packet is sent.
    pub(crate) fn note_amounts(&mut self, network: &QueueingNetwork) {
        for flow in &network.flows {
            let (full, Packet { bytes, wire_fs }) = (flow.full(), network.packet);
            let tail = flow.tail.unwrap_or(Packet { bytes: 0, wire_fs: 0 });
            // A packet of full size may take longer than is counted without a packet of full size.
            let busy_fs = tail.wire_fs + if full > 0 { full * wire_fs } else { 0 };
            for stream in &network.streams[flow.streams.clone()] {
                let used = &mut self.uses[stream.slot as usize];
                used.first_fs = u64::MAX;
                used.busy_fs = used.busy_fs.saturating_add(busy_fs);
                used.packets += flow.packets;
                used.bytes += (full * bytes + tail.bytes) as f64;
            }
        }
    }

    /// Notes that packets of `stream`, the flow's first or last ones among them, are sent from `start_fs` to `end_fs`.
    pub(crate) fn note(&mut self, network: &QueueingNetwork, run: &Run, start_fs: u64, end_fs: u64) {
        let at = &network.streams[run.stream as usize];
        let (used, flow) = (&mut self.uses[at.slot as usize], &mut self.flows[at.flow as usize]);
        let is_sender = at.lane == SENDER;
        if run.marks.has(Marks::FIRST) {
            used.first_fs = used.first_fs.min(start_fs);
            if is_sender {
                flow.first_fs = start_fs;
            }
        }
        if run.marks.has(Marks::LAST) {
            used.last_fs = used.last_fs.max(end_fs);
            if is_sender {
                flow.sent_fs = end_fs;
            }
            if network.next_lane(run.stream) == SENDER {
                flow.received_fs = end_fs + network.hop.delay_fs;
            }
            self.done.push(Done { stream: run.stream, departure_fs: end_fs });
        }
    }

    /// Notes a flow that all its servers send at once, from `start_fs` to `end_fs`.
    pub(crate) fn note_flow(&mut self, network: &QueueingNetwork, flow: u32, start_fs: u64, end_fs: u64) {
        let sent = &network.flows[flow as usize];
        let delay_fs = network.hop.delay_fs;
        for (hop, number) in (0..).zip(sent.streams.clone()) {
            let used = &mut self.uses[network.streams[number].slot as usize];
            used.first_fs = if used.bytes == 0.0 { start_fs } else { used.first_fs.min(start_fs) };
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
