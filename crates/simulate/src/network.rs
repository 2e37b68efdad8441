//! The engines' view of a plan: servers, and flows of packets through them.
//!
//! A server is a circuit, or the representative of an orbit of circuits. A flow takes a sequence of servers; its
//! packets at one hop are a stream. Nothing here knows GPUs or symmetry.

use std::ops::Range;

use crate::packet::Packet;
use crate::runs::{Marks, Run, Series};
use crate::split::Shares;

/// Packets that take the same circuits in a row.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    /// Orbits of the sender and of the receiver.
    pub(crate) ends: (u32, u32),
    /// Packets, the short one included.
    pub(crate) packets: u64,
    /// The last packet, where it is shorter than the others.
    pub(crate) tail: Option<Packet>,
    /// The part of its transfer that it is by shares and circuits.
    pub(crate) part: f64,
    /// The flow's part of the transfer's bytes on the wire, at flow level, where they need not be whole packets.
    pub(crate) fluid_bytes: f64,
    /// Time from the release of the flow to its first packet, fs.
    pub(crate) phase_fs: u64,
    /// Time from packet to packet at the sender, fs: 0 in a burst.
    pub(crate) interval_fs: u64,
    /// Streams of the flow, the first hop's first.
    pub(crate) streams: Range<usize>,
    /// Number of the flow among those that arrive together.
    pub(crate) number: u64,
    /// The number that counts at the first hop: in a burst, that of the transfer's first flow.
    pub(crate) lead: u64,
    /// The transfer that it is a part of, where another part begins with the same server and goes out in turn with it.
    pub(crate) transfer: Option<u32>,
}

/// A transfer whose sender hands over the packets of several flows in turn.
#[derive(Debug, Clone)]
pub(crate) struct Transfer {
    /// Shares of its paths.
    pub(crate) shares: Shares,
    /// Flows of each path: packet k of a path is of flow k mod c of the c.
    pub(crate) paths: Vec<Range<u32>>,
}

impl Flow {
    /// Packets of full size.
    pub(crate) fn full(&self) -> u64 {
        self.packets - u64::from(self.tail.is_some())
    }

    /// The packets that the sender hands to the first server when the flow is released at `now_fs`: packets of full
    /// size, or the short one where there is no other.
    pub(crate) fn injected(&self, now_fs: u64) -> Run {
        let times =
            Series { first_fs: now_fs + self.phase_fs, spacing_fs: self.interval_fs, count: self.full().max(1) };
        let is_all = times.count == self.packets;
        let marks = Marks::FIRST.and(Marks::LAST.when(is_all)).and(Marks::SHORT.when(self.full() == 0));
        Run { times, stream: self.streams.start as u32, marks }
    }
}

/// The packets of a flow at one hop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) flow: u32,
    /// Server that sends it.
    pub(crate) server: u32,
    /// Index under which the use of the server is counted.
    pub(crate) slot: u32,
    /// The lane that it comes by; [`SENDER`] at the first hop.
    pub(crate) lane: u32,
}

/// The number that stands for a lane where a GPU hands over its own packets.
pub(crate) const SENDER: u32 = u32::MAX;

/// A connection from one server to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Delays that are the same at every hop, fs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop {
    /// Last bit out of a server to last bit at the far end.
    pub(crate) delay_fs: u64,
    /// With cut-through, time from the first bit out to when the packet may go on: header and delay. `None` where it is
    /// stored.
    pub(crate) cut_through_fs: Option<u64>,
}

impl Hop {
    /// The time at which a packet whose last bit leaves at `departure_fs` may be sent by the next server.
    pub(crate) fn onward(self, departure_fs: u64, packet: Packet) -> u64 {
        match self.cut_through_fs {
            None => departure_fs + self.delay_fs,
            Some(head_fs) => departure_fs - packet.wire_fs + head_fs,
        }
    }

    /// Least time from the start of sending a packet that takes at least `wire_fs` to its arrival at the next
    /// server.
    pub(crate) fn lookahead(self, wire_fs: u64) -> u64 {
        self.cut_through_fs.unwrap_or(wire_fs + self.delay_fs)
    }
}

/// Servers and flows.
#[derive(Debug, Clone)]
pub(crate) struct QueueingNetwork {
    /// A packet of full size.
    pub(crate) packet: Packet,
    pub(crate) hop: Hop,
    /// Number of servers.
    pub(crate) servers: usize,
    /// Number of uses of servers that are counted by themselves: one for each step that a circuit is up in.
    pub(crate) slots: usize,
    pub(crate) flows: Vec<Flow>,
    pub(crate) streams: Vec<Stream>,
    /// Transfers whose senders hand over the packets of several flows in turn.
    pub(crate) transfers: Vec<Transfer>,
    /// Pairs of servers that a flow crosses one after the other.
    pub(crate) lanes: Vec<Lane>,
    /// Lanes into each server.
    pub(crate) inward: Vec<Vec<u32>>,
}

impl QueueingNetwork {
    pub(crate) fn new(packet: Packet, hop: Hop) -> Self {
        Self {
            packet,
            hop,
            servers: 0,
            slots: 0,
            flows: Vec::new(),
            streams: Vec::new(),
            transfers: Vec::new(),
            lanes: Vec::new(),
            inward: Vec::new(),
        }
    }

    /// Adds a server and returns its index.
    pub(crate) fn add_server(&mut self) -> u32 {
        self.servers += 1;
        self.inward.push(Vec::new());
        self.servers as u32 - 1
    }

    /// The server of the first hop of a flow.
    pub(crate) fn first_server(&self, flow: u32) -> u32 {
        self.streams[self.flows[flow as usize].streams.start].server
    }

    /// Lets the flows of a transfer that begin with the same server go out in turn.
    pub(crate) fn add_transfer(&mut self, shares: &Shares, paths: Vec<Range<u32>>) {
        let flows: Vec<u32> = paths.iter().cloned().flatten().collect();
        let mut servers: Vec<u32> = flows.iter().map(|&flow| self.first_server(flow)).collect();
        servers.sort_unstable();
        let is_shared = |server: u32| {
            let begin = servers.partition_point(|&other| other < server);
            servers.get(begin + 1) == Some(&server)
        };
        let shared: Vec<u32> = flows.into_iter().filter(|&flow| is_shared(self.first_server(flow))).collect();
        if shared.is_empty() {
            return;
        }
        let number = self.transfers.len() as u32;
        self.transfers.push(Transfer { shares: shares.clone(), paths });
        shared.into_iter().for_each(|flow| self.flows[flow as usize].transfer = Some(number));
    }

    /// Index of the lane between two servers, which is added if it does not exist yet.
    pub(crate) fn lane(&mut self, from: u32, to: u32) -> u32 {
        let inward = &mut self.inward[to as usize];
        if let Some(&lane) = inward.iter().find(|&&lane| self.lanes[lane as usize].from == from) {
            return lane;
        }
        let lane = self.lanes.len() as u32;
        self.lanes.push(Lane { from, to });
        inward.push(lane);
        lane
    }

    /// The lane by which packets of `stream` go on; [`SENDER`] where they are at their receiver.
    #[inline]
    pub(crate) fn next_lane(&self, stream: u32) -> u32 {
        self.streams.get(stream as usize + 1).map_or(SENDER, |next| next.lane)
    }

    /// Order of the packets of `stream` among those that arrive together: the flow's number, then the hop. Translations
    /// keep it, and at one server no two streams have the same, but those that one transfer hands over in turn.
    pub(crate) fn key(&self, stream: u32) -> u64 {
        let flow = &self.flows[self.streams[stream as usize].flow as usize];
        match u64::from(stream) - flow.streams.start as u64 {
            0 => flow.lead << 24,
            hop => flow.number << 24 | hop,
        }
    }

    /// Size of packet `index` of a flow.
    pub(crate) fn size(&self, flow: &Flow, index: u64) -> Packet {
        match flow.tail {
            Some(tail) if index + 1 == flow.packets => tail,
            _ => self.packet,
        }
    }

    /// Time of a flow's bytes on one circuit at flow level, fs.
    pub(crate) fn fluid_fs(&self, flow: u32) -> f64 {
        self.flows[flow as usize].fluid_bytes * self.packet.wire_fs as f64 / self.packet.bytes as f64
    }

    /// Wire time of the smallest packet, fs.
    pub(crate) fn shortest_fs(&self) -> u64 {
        self.flows
            .iter()
            .map(
                |flow| {
                    if flow.packets == 1 {
                        self.size(flow, 0).wire_fs
                    } else {
                        flow.tail.unwrap_or(self.packet).wire_fs
                    }
                },
            )
            .min()
            .unwrap_or(self.packet.wire_fs)
    }
}
