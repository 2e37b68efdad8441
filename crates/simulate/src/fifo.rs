//! Packets through FIFO servers without limits on their queues.
//!
//! There is no list of events. A server may serve all that arrives before its *horizon*, the time up to which
//! nothing new can reach it: what another server has yet to send it leaves no earlier than that server is free,
//! and takes at least a wire time and a hop. A packet is served at once, however late its turn is, so that a
//! queue of any length is one piece of work. Streams are kept as runs, and are cut only where they meet.
//!
//! What a transfer hands to one server at once, for several flows, is one queue ([`crate::trunks`]). Where each packet is
//! dealt out by itself that is done in batches, so that no more runs than that are ahead of their time.
//!
//! The order in which servers are looked at does not change any time.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use model::Result;

use crate::clock::{LIMIT_FS, too_long};
use crate::gates::Gates;
use crate::ledger::Ledger;
use crate::network::QueueingNetwork;
use crate::runs::{Run, append, serve};
use crate::trunks::Trunks;

/// Packets that a server deals out one by one before others get their turn.
const BATCH: u64 = 1 << 10;

/// The first packets of a stream that a server has: when they came and their order among equals, in one number,
/// and the stream; trunks are numbered from the last stream on.
type Head = Reverse<(u128, u32)>;

fn head(time_fs: u64, key: u64, stream: usize) -> Head {
    Reverse((u128::from(time_fs) << 64 | u128::from(key), stream as u32))
}

#[derive(Debug, Default)]
struct Server {
    heads: BinaryHeap<Head>,
    free_fs: u64,
    /// All that arrives before is served.
    horizon_fs: u64,
    /// Packets to serve, those included that have not yet come.
    left: u64,
    /// Flows that begin here and are not yet released.
    unreleased: u32,
}

impl Server {
    fn head_fs(&self) -> u64 {
        self.heads.peek().map_or(u64::MAX, |Reverse((order, _))| (order >> 64) as u64)
    }

    /// Nothing that waits is sent before.
    fn start_fs(&self) -> u64 {
        self.head_fs().max(self.free_fs)
    }
}

struct Fifo<'a> {
    network: &'a QueueingNetwork,
    servers: Vec<Server>,
    /// Packets of each stream that have come and are not yet served.
    queues: Vec<VecDeque<Run>>,
    trunks: Trunks,
    /// Packets yet to cross each edge.
    crossing: Vec<u64>,
    /// Least time from the start of sending to the arrival at the next server, fs.
    lookahead_fs: u64,
    ledger: Ledger,
}

/// Simulates `network` from the flows that are `released` at their times; `gates` release the others, no
/// sooner than `reaction_fs` after the start of the packet that opens them.
///
/// Costs O(log streams) per run, and one look at every server and its edges per round; in a round every server
/// advances by at least the lookahead.
///
/// # Errors
/// Times above the limit.
pub(crate) fn run(
    network: &QueueingNetwork,
    released: Vec<(u32, u64)>,
    mut gates: Gates,
    reaction_fs: u64,
) -> Result<(Ledger, Gates)> {
    let mut fifo = Fifo::new(network);
    let floor_fs = fifo.lookahead_fs.min(reaction_fs);
    let mut opened = released;
    let mut active: Vec<usize> = (0..network.servers).filter(|&server| fifo.servers[server].left > 0).collect();
    loop {
        for (flow, now_fs) in opened.drain(..) {
            fifo.release(flow, now_fs)?;
        }
        let first_fs = active.iter().map(|&server| fifo.servers[server].start_fs()).min().unwrap_or(u64::MAX);
        if first_fs == u64::MAX {
            return Ok((fifo.ledger, gates));
        }
        for &server in &active {
            fifo.advance(server, first_fs + floor_fs)?;
        }
        for done in std::mem::take(&mut fifo.ledger.done) {
            gates.stream_done(network, done, &mut opened);
        }
        active.retain(|&server| fifo.servers[server].left > 0);
    }
}

impl<'a> Fifo<'a> {
    fn new(network: &'a QueueingNetwork) -> Self {
        let mut servers: Vec<Server> = Vec::new();
        servers.resize_with(network.servers, Server::default);
        let mut crossing = vec![0; network.edges.len()];
        for stream in &network.streams {
            let packets = network.flows[stream.flow as usize].packets;
            servers[stream.server as usize].left += packets;
            match stream.edge {
                Some(edge) => crossing[edge as usize] += packets,
                None => servers[stream.server as usize].unreleased += 1,
            }
        }
        Self {
            network,
            servers,
            queues: vec![VecDeque::new(); network.streams.len()],
            trunks: Trunks::new(network),
            crossing,
            lookahead_fs: network.hop.lookahead(network.shortest_fs()),
            ledger: Ledger::new(network),
        }
    }

    /// Hands the packets of flow `number` to its first server.
    fn release(&mut self, number: u32, now_fs: u64) -> Result<()> {
        if now_fs >= LIMIT_FS {
            return Err(too_long());
        }
        let flow = &self.network.flows[number as usize];
        let first = flow.streams.start;
        let at = &self.network.streams[first];
        let server = &mut self.servers[at.server as usize];
        server.unreleased -= 1;
        if let Some(transfer) = flow.transfer {
            if let Some(trunk) = self.trunks.join(self.network, number, transfer, now_fs) {
                server.heads.push(head(now_fs, at.key, self.queues.len() + trunk));
            }
            return Ok(());
        }
        for run in flow.injected(self.network.packet, now_fs).into_iter().flatten() {
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
            self.servers[at.server as usize].heads.push(head(run.first_fs, at.key, stream));
        }
        append(&mut self.queues[stream], run);
        Ok(())
    }

    /// Serves at `server` all that arrives before what is certain to have come, at least before `floor_fs`.
    fn advance(&mut self, server: usize, floor_fs: u64) -> Result<()> {
        let mut horizon_fs = u64::MAX;
        if self.servers[server].unreleased > 0 {
            horizon_fs = floor_fs;
        }
        for &edge in &self.network.inward[server] {
            if self.crossing[edge as usize] > 0 {
                let from = &self.servers[self.network.edges[edge as usize] as usize];
                horizon_fs = horizon_fs.min(from.free_fs.max(from.horizon_fs) + self.lookahead_fs);
            }
        }
        let horizon_fs = horizon_fs.max(floor_fs);
        let mut dealt = 0;
        while let Some(&Reverse((order, stream))) = self.servers[server].heads.peek() {
            if (order >> 64) as u64 >= horizon_fs {
                break;
            }
            if let Some(trunk) = (stream as usize).checked_sub(self.queues.len()) {
                dealt += self.deal(server, trunk)?;
                if dealt >= BATCH {
                    break;
                }
                continue;
            }
            // The next stream in line is a child of the root.
            let next = match self.servers[server].heads.as_slice() {
                [_, Reverse((left, _)), Reverse((right, _)), ..] => *left.min(right),
                [_, Reverse((only, _))] => *only,
                _ => u128::MAX >> 1,
            };
            // At the time of the next, packets of the head go first where their key is the lower.
            let turn_fs = (next >> 64) as u64 + u64::from((order as u64) < next as u64);
            self.serve(server, stream as usize, turn_fs.min(horizon_fs))?;
        }
        let state = &mut self.servers[server];
        state.horizon_fs = state.horizon_fs.max(horizon_fs.min(LIMIT_FS).min(state.head_fs()));
        Ok(())
    }

    /// Serves the next packets of `trunk`, the head of `server`; returns how many.
    fn deal(&mut self, server: usize, trunk: usize) -> Result<u64> {
        let state = &mut self.servers[server];
        let begin_fs = state.start_fs();
        let dealt = self.trunks.deal(self.network, trunk, begin_fs, BATCH);
        let (count, end_fs) = dealt.iter().fold((0, begin_fs), |(count, end_fs), (_, departures)| {
            (count + departures.count, end_fs.max(departures.last_fs()))
        });
        if self.trunks.first(self.network, trunk).is_none() {
            state.heads.pop();
        }
        state.left -= count;
        state.free_fs = end_fs;
        if end_fs >= LIMIT_FS {
            return Err(too_long());
        }
        for (flow, departures) in dealt {
            // At the first hop nothing is told of arrivals.
            let came = Run { spacing_fs: 0, ..departures };
            self.pass(self.network.flows[flow as usize].streams.start, &came, departures)?;
        }
        Ok(count)
    }

    /// Serves the first packets of `stream`, the head of `server`, that arrive before `end_fs`.
    fn serve(&mut self, server: usize, stream: usize, end_fs: u64) -> Result<()> {
        let queue = &mut self.queues[stream];
        let Some(front) = queue.front_mut() else { return Ok(()) };
        let mut arrivals = front.take(front.before(end_fs));
        if front.count == 0 {
            queue.pop_front();
        }
        let next = queue.front().map(|run| run.first_fs);
        let at = &self.network.streams[stream];
        let state = &mut self.servers[server];
        match (next, state.heads.peek_mut()) {
            (Some(next_fs), Some(mut first)) => *first = head(next_fs, at.key, stream),
            (None, Some(first)) => drop(PeekMut::pop(first)),
            (_, None) => {}
        }
        let (first, rest) = serve(&arrivals, state.free_fs);
        state.left -= arrivals.count;
        state.free_fs = rest.as_ref().unwrap_or(&first).last_fs();
        if state.free_fs >= LIMIT_FS {
            return Err(too_long());
        }
        for departures in [Some(first), rest].into_iter().flatten() {
            let came = arrivals.take(departures.count);
            self.pass(stream, &came, departures)?;
        }
        Ok(())
    }

    /// Notes that packets of `stream` leave, and sends them on.
    #[inline]
    fn pass(&mut self, stream: usize, came: &Run, departures: Run) -> Result<()> {
        self.ledger.note(self.network, stream as u32, came, &departures);
        if self.network.streams[stream].is_last {
            return Ok(());
        }
        if let Some(edge) = self.network.streams[stream + 1].edge {
            self.crossing[edge as usize] -= departures.count;
        }
        let first_fs = self.network.hop.onward(departures.first_fs, departures.packet);
        self.arrive(stream + 1, Run { first_fs, ..departures })
    }
}
