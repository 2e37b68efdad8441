//! Packets through FIFO servers whose far ends hold a limited number of bytes that are to go on.
//!
//! A server may send a packet that goes on only while there is room for it; the room is given back when the last
//! bit has left the next server, one hop delay later (credits, as on InfiniBand links). Nothing is lost; the
//! first in line holds back all behind it.
//!
//! Whatever is sent from now on is felt elsewhere no sooner than a wire time and a hop later. So in each round
//! all servers do what they can begin within that time after the first that can begin anything.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use model::{Error, Rank, Result};

use crate::clock::{LIMIT_FS, too_long};
use crate::gates::Gates;
use crate::ledger::Ledger;
use crate::network::QueueingNetwork;
use crate::packet::Packet;
use crate::runs::{Run, append};
use crate::trunks::Trunks;
use crate::wiring::Wiring;

#[derive(Debug)]
struct Server {
    /// By stream: when its first packet came, its order among equals. Trunks are numbered from the last stream on.
    heads: BinaryHeap<Reverse<(u64, u64, u32)>>,
    free_fs: u64,
    /// Bytes that there is room for.
    room: u64,
    /// Room that is given back, by time.
    credits: VecDeque<(u64, u64)>,
    left: u64,
}

struct Credits<'a> {
    network: &'a QueueingNetwork,
    servers: Vec<Server>,
    queues: Vec<VecDeque<Run>>,
    trunks: Trunks,
    ledger: Ledger,
}

/// Simulates what is wired with room for `buffer_bytes` at the far end of every server. Otherwise as
/// [`crate::fifo::run`].
///
/// # Errors
/// Times above the limit, or full buffers that wait for each other.
pub(crate) fn run(
    wiring: &Wiring,
    released: Vec<(u32, u64)>,
    mut gates: Gates,
    reaction_fs: u64,
    buffer_bytes: u64,
) -> Result<(Ledger, Gates)> {
    let network = &wiring.network;
    let mut state = Credits::new(network, buffer_bytes);
    let floor_fs = network.hop.lookahead(network.shortest_fs()).min(reaction_fs);
    let mut opened = released;
    let mut active: Vec<usize> = (0..network.servers).filter(|&server| state.servers[server].left > 0).collect();
    while !active.is_empty() {
        for (flow, now_fs) in opened.drain(..) {
            state.release(flow, now_fs)?;
        }
        let first_fs = active.iter().filter_map(|&server| state.next_start_fs(server)).min();
        let Some(first_fs) = first_fs else {
            let blocked = active.iter().filter(|&&server| !state.servers[server].heads.is_empty());
            return Err(stuck(blocked.map(|&server| wiring.ends[server]).collect()));
        };
        for &server in &active {
            while let Some(start_fs) = state.next_start_fs(server).filter(|start| *start - first_fs < floor_fs) {
                state.send(server, start_fs)?;
            }
        }
        for done in std::mem::take(&mut state.ledger.done) {
            gates.stream_done(network, done, &mut opened);
        }
        active.retain(|&server| state.servers[server].left > 0);
    }
    Ok((state.ledger, gates))
}

fn stuck(circuits: Vec<(Rank, Rank)>) -> Error {
    let shown: Vec<String> = circuits.iter().take(8).map(|(src, dst)| format!("{src} → {dst}")).collect();
    let more = if circuits.len() > 8 { format!(" and {} more", circuits.len() - 8) } else { String::new() };
    Error::infeasible(
        "buffer",
        format!(
            "packets in full buffers wait for each other, at the receivers of circuits {}{more} and of those like \
             them; it takes a larger buffer, paced injection or other routes",
            shown.join(", ")
        ),
    )
}

impl<'a> Credits<'a> {
    fn new(network: &'a QueueingNetwork, buffer_bytes: u64) -> Self {
        let server =
            || Server { heads: BinaryHeap::new(), free_fs: 0, room: buffer_bytes, credits: VecDeque::new(), left: 0 };
        let mut servers: Vec<Server> = Vec::new();
        servers.resize_with(network.servers, server);
        for stream in &network.streams {
            servers[stream.server as usize].left += network.flows[stream.flow as usize].packets;
        }
        let queues = vec![VecDeque::new(); network.streams.len()];
        Self { network, servers, queues, trunks: Trunks::new(network), ledger: Ledger::new(network) }
    }

    fn release(&mut self, number: u32, now_fs: u64) -> Result<()> {
        if now_fs >= LIMIT_FS {
            return Err(too_long());
        }
        let network = self.network;
        let flow = &network.flows[number as usize];
        let first = flow.streams.start;
        if let Some(transfer) = flow.transfer {
            if let Some(trunk) = self.trunks.join(network, number, transfer, now_fs) {
                let at = &network.streams[first];
                let line = (self.queues.len() + trunk) as u32;
                self.servers[at.server as usize].heads.push(Reverse((now_fs, at.key, line)));
            }
            return Ok(());
        }
        for run in flow.injected(network.packet, now_fs).into_iter().flatten() {
            self.arrive(first, run)?;
        }
        Ok(())
    }

    fn arrive(&mut self, stream: usize, run: Run) -> Result<()> {
        if run.last_fs() >= LIMIT_FS {
            return Err(too_long());
        }
        let at = &self.network.streams[stream];
        if self.queues[stream].is_empty() {
            self.servers[at.server as usize].heads.push(Reverse((run.first_fs, at.key, stream as u32)));
        }
        append(&mut self.queues[stream], run);
        Ok(())
    }

    /// The first packet in line at `server`, with its stream.
    fn first(&self, server: usize) -> Option<(u64, usize, Packet)> {
        let Reverse((arrival_fs, _, line)) = *self.servers[server].heads.peek()?;
        let line = line as usize;
        match line.checked_sub(self.queues.len()) {
            None => Some((arrival_fs, line, self.queues[line].front()?.packet)),
            Some(trunk) => {
                let (flow, packet) = self.trunks.first(self.network, trunk)?;
                Some((arrival_fs, self.network.flows[flow as usize].streams.start, packet))
            }
        }
    }

    /// Takes the first packet in line at `server` out.
    fn take_first(&mut self, server: usize) {
        let Some(Reverse((_, key, line))) = self.servers[server].heads.pop() else { return };
        let next_fs = match (line as usize).checked_sub(self.queues.len()) {
            None => {
                let queue = &mut self.queues[line as usize];
                if let Some(front) = queue.front_mut() {
                    front.take(1);
                    if front.count == 0 {
                        queue.pop_front();
                    }
                }
                queue.front().map(|next| next.first_fs)
            }
            Some(trunk) => self.trunks.skip(self.network, trunk),
        };
        if let Some(next_fs) = next_fs {
            self.servers[server].heads.push(Reverse((next_fs, key, line)));
        }
    }

    /// When `server` can begin to send the first packet in line, as far as is known; none where there is no
    /// packet, or no room for it.
    fn next_start_fs(&self, server: usize) -> Option<u64> {
        let (arrival_fs, stream, packet) = self.first(server)?;
        let state = &self.servers[server];
        let start_fs = arrival_fs.max(state.free_fs);
        if self.network.streams[stream].is_last || state.room >= packet.bytes {
            return Some(start_fs);
        }
        let mut room = state.room;
        for &(credit_fs, bytes) in &state.credits {
            room += bytes;
            if room >= packet.bytes {
                return Some(start_fs.max(credit_fs));
            }
        }
        None
    }

    /// Sends the first packet in line from `start_fs` on.
    fn send(&mut self, server: usize, start_fs: u64) -> Result<()> {
        let Some((arrival_fs, stream, packet)) = self.first(server) else { return Ok(()) };
        let at = &self.network.streams[stream];
        let state = &mut self.servers[server];
        if !at.is_last {
            while state.room < packet.bytes {
                let Some((_, bytes)) = state.credits.pop_front() else { break };
                state.room += bytes;
            }
            state.room -= packet.bytes;
        }
        let departure_fs = start_fs + packet.wire_fs;
        if departure_fs >= LIMIT_FS {
            return Err(too_long());
        }
        state.free_fs = departure_fs;
        state.left -= 1;
        self.take_first(server);
        let single = |first_fs| Run { first_fs, spacing_fs: 0, count: 1, packet };
        self.ledger.note(self.network, stream as u32, &single(arrival_fs), &single(departure_fs));
        if at.edge.is_some() {
            let feeder = self.network.streams[stream - 1].server as usize;
            let credit_fs = departure_fs + self.network.hop.delay_fs;
            let credits = &mut self.servers[feeder].credits;
            let is_latest = credits.back().is_none_or(|&(time, _)| time <= credit_fs);
            let place = if is_latest { credits.len() } else { credits.partition_point(|&(time, _)| time <= credit_fs) };
            credits.insert(place, (credit_fs, packet.bytes));
        }
        if at.is_last { Ok(()) } else { self.arrive(stream + 1, single(self.network.hop.onward(departure_fs, packet))) }
    }
}
