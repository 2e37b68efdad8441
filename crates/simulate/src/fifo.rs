//! Packets through FIFO servers, whose far ends hold any number of bytes that are to go on, or a limited one.
//!
//! There is no list of events. A server may serve all that arrives before its *horizon*, the time up to which nothing
//! new can reach it: what another server has yet to send it leaves no earlier than that server can send its next
//! packet, and takes at least a wire time and a hop. A packet is served at once, however late its turn is, so that a
//! queue of any length is one piece of work.
//!
//! Packets that go from one server to another are one lane: they arrive in the order in which they leave, whichever
//! flows they are of. So a server finds its next packet among the first ones of few lanes, and of its own GPU. In a
//! lane, packets of one stream at equal intervals are one run.
//!
//! The order in which servers are looked at does not change any time.

mod cycles;
mod serving;
mod stops;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::{Error, Rank, Result};

use crate::backlog::Backlog;
use crate::clock::{LIMIT_FS, too_long};
use crate::gates::Gates;
use crate::ledger::Ledger;
use crate::network::{QueueingNetwork, SENDER};
use crate::room::{Queue, Room};
use crate::runs::{Marks, Run, Series};
use crate::settings::Injection;
use crate::trunks::Trunks;
use crate::wiring::Wiring;
use stops::Cycles;

/// A server that has sent this many runs to a lane lets other servers go on first, so that they are not stored long
/// before their time.
const AHEAD: usize = 1 << 8;

/// The first packets of a line at a sender: when they came and their order among equals, in one number, and the line:
/// a flow, or a trunk, which are numbered from the last flow on.
type Head = Reverse<(u128, u32)>;

fn head(time_fs: u64, key: u64, line: usize) -> Head {
    Reverse((u128::from(time_fs) << 64 | u128::from(key), line as u32))
}

#[derive(Debug, Default)]
struct Server {
    /// The packets that its GPU has handed over.
    lines: BinaryHeap<Head>,
    free_fs: u64,
    /// The time before which the server sends nothing more.
    next_fs: u64,
    /// Packets to serve, those included that have not yet come.
    left: u64,
    /// Flows that begin here and are not yet released.
    unreleased: u32,
    backlog: Backlog,
    room: Room,
}

impl Server {
    /// The time at which the first packet that its GPU has handed over came.
    fn line_fs(&self) -> u64 {
        self.lines.peek().map_or(u64::MAX, |Reverse((order, _))| (order >> 64) as u64)
    }
}

struct Fifo<'a> {
    network: &'a QueueingNetwork,
    servers: Vec<Server>,
    /// Per lane.
    queues: Vec<Queue>,
    /// Per flow, what of the packets of one size its sender has handed over and not yet sent.
    lines: Vec<Run>,
    trunks: Trunks,
    /// Whether there is a limit to what waits at the far end of a server.
    is_limited: bool,
    /// Least time from the start of sending to the arrival at the next server, fs.
    lookahead_fs: u64,
    /// Least time from the start of sending to when the room is given back, fs.
    credit_fs: u64,
    /// The time at which the first packet of any server can be sent, fs.
    first_fs: u64,
    /// The time at which the first packets of the lanes and of the GPU came at the server that is looked at.
    heads: Vec<u64>,
    /// Whether the server that is looked at has sent more than the servers after it have taken.
    is_ahead: bool,
    /// Whether any packet was sent since this was last looked at.
    has_sent: bool,
    cycles: Cycles,
    ledger: Ledger,
}

/// Simulates what is wired from the flows that are `released` at their times, with room for `buffer_bytes` at the far
/// end of every server where there is a limit; `gates` release the other flows, no sooner than `reaction_fs` after the
/// start of the packet that opens them.
///
/// Costs O(lanes into the server) per run, and one look at every server and its lanes per round; in a round every
/// server advances by at least the lookahead. Memory is that of the network and of the runs that wait at one time.
///
/// # Errors
/// Times above the limit, or full buffers that wait for each other.
pub(crate) fn run(
    wiring: &Wiring,
    released: Vec<(u32, u64)>,
    mut gates: Gates,
    reaction_fs: u64,
    buffer_bytes: Option<u64>,
) -> Result<(Ledger, Gates)> {
    let network = &wiring.network;
    let mut fifo = Fifo::new(network, buffer_bytes);
    let floor_fs = fifo.lookahead_fs.min(reaction_fs);
    let mut opened = released;
    let mut active: Vec<usize> = (0..network.servers).filter(|&server| fifo.servers[server].left > 0).collect();
    while !active.is_empty() {
        let is_new = !opened.is_empty();
        for (flow, now_fs) in opened.drain(..) {
            fifo.release(flow, now_fs)?;
        }
        fifo.first_fs = active.iter().map(|&server| fifo.start_fs(server)).min().unwrap_or(u64::MAX);
        if fifo.first_fs == u64::MAX {
            let blocked = active.iter().filter(|&&server| fifo.head_fs(server) < u64::MAX);
            return Err(stuck(blocked.map(|&server| wiring.ends[server]).collect()));
        }
        if is_new && wiring.settings.injection == Injection::Paced {
            fifo.watch(&active, fifo.first_fs);
        }
        fifo.has_sent = false;
        for &server in &active {
            fifo.advance(server, fifo.first_fs + floor_fs)?;
        }
        if !fifo.has_sent && fifo.stopped(&active) {
            return Err(too_long());
        }
        if gates.are_none() {
            fifo.ledger.done.clear();
        }
        for done in std::mem::take(&mut fifo.ledger.done) {
            gates.stream_done(network, done, &mut opened);
        }
        active.retain(|&server| fifo.servers[server].left > 0);
    }
    fifo.ledger.queue_bytes = fifo.servers.iter().map(|server| server.backlog.most_bytes).collect();
    Ok((fifo.ledger, gates))
}

fn stuck(circuits: Vec<(Rank, Rank)>) -> Error {
    let shown: Vec<String> = circuits.iter().take(8).map(|(src, dst)| format!("{src} → {dst}")).collect();
    let more = if circuits.len() > 8 { format!(" and {} more", circuits.len() - 8) } else { String::new() };
    Error::infeasible(
        "buffer",
        format!(
            "packets in full buffers wait for each other, at the receivers of circuits {}{more} and of those like \
             them; use a larger buffer, paced injection or other routes",
            shown.join(", ")
        ),
    )
}

impl<'a> Fifo<'a> {
    fn new(network: &'a QueueingNetwork, buffer_bytes: Option<u64>) -> Self {
        let mut servers: Vec<Server> = Vec::new();
        servers.resize_with(network.servers, Server::default);
        let mut queues: Vec<Queue> = network.lanes.iter().map(|&ends| Queue::new(ends)).collect();
        if let Some(bytes) = buffer_bytes {
            servers.iter_mut().for_each(|server| server.room.bytes = bytes);
            (0..).zip(&network.lanes).for_each(|(lane, ends)| servers[ends.from as usize].room.lanes.push(lane));
        }
        for stream in &network.streams {
            let packets = network.flows[stream.flow as usize].packets;
            servers[stream.server as usize].left += packets;
            match stream.lane {
                SENDER => servers[stream.server as usize].unreleased += 1,
                lane => queues[lane as usize].left += packets,
            }
        }
        let nothing = Run { times: Series { count: 0, ..Series::once(0) }, stream: 0, marks: Marks::default() };
        let shortest_fs = network.shortest_fs();
        let mut ledger = Ledger::new(network);
        ledger.note_amounts(network);
        Self {
            network,
            servers,
            queues,
            lines: vec![nothing; network.flows.len()],
            trunks: Trunks::new(network),
            is_limited: buffer_bytes.is_some(),
            lookahead_fs: network.hop.lookahead(shortest_fs),
            credit_fs: shortest_fs + network.hop.delay_fs,
            first_fs: 0,
            heads: Vec::new(),
            is_ahead: false,
            has_sent: false,
            cycles: Cycles::default(),
            ledger,
        }
    }

    /// Hands the packets of flow `number` to its first server.
    fn release(&mut self, number: u32, now_fs: u64) -> Result<()> {
        if now_fs >= LIMIT_FS {
            return Err(too_long());
        }
        let flow = &self.network.flows[number as usize];
        let first = flow.streams.start as u32;
        let server = &mut self.servers[self.network.streams[first as usize].server as usize];
        server.unreleased -= 1;
        if let Some(transfer) = flow.transfer {
            if let Some(trunk) = self.trunks.join(self.network, number, transfer, now_fs) {
                server.lines.push(head(now_fs, self.network.key(first), self.lines.len() + trunk));
            }
            return Ok(());
        }
        let run = flow.injected(now_fs);
        if run.times.last_fs() >= LIMIT_FS {
            return Err(too_long());
        }
        server.lines.push(head(run.times.first_fs, self.network.key(first), number as usize));
        self.lines[number as usize] = run;
        Ok(())
    }

    /// The time at which the first packet in line at `server` came.
    fn head_fs(&self, server: usize) -> u64 {
        let lanes = self.network.inward[server].iter().map(|&lane| self.queues[lane as usize].head_fs());
        lanes.fold(self.servers[server].line_fs(), u64::min)
    }

    /// The time before which nothing that waits at `server` is sent, fs.
    fn start_fs(&self, server: usize) -> u64 {
        let head_fs = self.head_fs(server);
        if head_fs == u64::MAX {
            return head_fs;
        }
        self.servers[server].room.earliest_fs(&self.queues).max(head_fs).max(self.servers[server].free_fs)
    }

    /// All that arrives at `server` before is there.
    fn horizon_fs(&self, server: usize, floor_fs: u64) -> u64 {
        let mut horizon_fs = if self.servers[server].unreleased > 0 { floor_fs } else { u64::MAX };
        for &lane in &self.network.inward[server] {
            let queue = &self.queues[lane as usize];
            if queue.left > 0 {
                horizon_fs = horizon_fs.min(self.servers[queue.from as usize].next_fs + self.lookahead_fs);
            }
        }
        horizon_fs.max(floor_fs).min(self.cycles.stop_fs.unwrap_or(u64::MAX))
    }

    /// Serves at `server` all that arrives before what is certain to have come, at least before `floor_fs`.
    fn advance(&mut self, server: usize, floor_fs: u64) -> Result<()> {
        let network = self.network;
        let horizon_fs = self.horizon_fs(server, floor_fs);
        let inward = &network.inward[server];
        let mut heads = std::mem::take(&mut self.heads);
        heads.clear();
        heads.extend(inward.iter().map(|&lane| self.queues[lane as usize].head_fs()));
        heads.push(self.servers[server].line_fs());
        let mut wait_fs = 0;
        self.is_ahead = false;
        loop {
            interruption::check();
            let (mut first, mut time_fs, mut other_fs) = (0, u64::MAX, u64::MAX);
            for (input, &head_fs) in heads.iter().enumerate() {
                if head_fs < time_fs {
                    (first, time_fs, other_fs) = (input, head_fs, time_fs);
                } else {
                    other_fs = other_fs.min(head_fs);
                }
            }
            if time_fs >= horizon_fs || self.is_ahead && time_fs >= floor_fs {
                break;
            }
            let mut end_fs = other_fs.min(horizon_fs);
            if time_fs == other_fs {
                first = self.first_of_equals(server, &heads, time_fs);
                end_fs = time_fs + 1;
            }
            if self.is_ahead {
                end_fs = end_fs.min(floor_fs);
            }
            let served = match inward.get(first) {
                Some(&lane) => self.serve_lane(server, lane as usize, end_fs, floor_fs)?,
                None => self.serve_line(server, end_fs)?,
            };
            heads[first] = match inward.get(first) {
                Some(&lane) => self.queues[lane as usize].head_fs(),
                None => self.servers[server].line_fs(),
            };
            if let Err(until_fs) = served {
                wait_fs = until_fs;
                break;
            }
        }
        let head_fs = heads.iter().copied().fold(horizon_fs, u64::min);
        self.heads = heads;
        let state = &mut self.servers[server];
        state.next_fs = state.next_fs.max(state.free_fs).max(head_fs.max(wait_fs).min(LIMIT_FS));
        Ok(())
    }

    /// The input of `server` that is first in line among those that have a packet of `time_fs`.
    fn first_of_equals(&self, server: usize, heads: &[u64], time_fs: u64) -> usize {
        let inward = &self.network.inward[server];
        let equals = heads.iter().enumerate().filter(|(_, head_fs)| **head_fs == time_fs);
        let key = |input: usize| match inward.get(input) {
            Some(&lane) => self.queues[lane as usize].runs.front().map(|run| self.network.key(run.stream)),
            None => self.servers[server].lines.peek().map(|Reverse((order, _))| *order as u64),
        };
        equals.min_by_key(|(input, _)| key(*input)).map_or(0, |(input, _)| input)
    }
}
