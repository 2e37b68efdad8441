//! Packets of senders under congestion control: one event at a time.
//!
//! Each GPU hands the packets of its flows over to their first circuit, in turn and no faster than the circuit sends;
//! a flow takes part when its rate and its window let it. On the way packets wait in one queue for each circuit, which
//! marks them as it sends them. What receivers tell comes back after a hop delay for each hop, and takes no room.
//!
//! Events of one time come in the order of [`What`], so that those at one circuit do not depend on the numbers of
//! circuits: the images of a circuit under a translation see the same.

mod sender;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use model::Result;

use crate::backlog::Backlog;
use crate::clock::{LIMIT_FS, too_long};
use crate::congestion::Marking;
use crate::gates::Gates;
use crate::ledger::Ledger;
use crate::network::{QueueingNetwork, SENDER};
use crate::packet::Packet;
use crate::runs::{Marks, Run, Series};
use crate::wiring::Wiring;
use sender::Sender;

/// A packet at a circuit: its order among those that come together, its stream, its place in its flow, whether it is
/// marked.
type Arrival = (u64, u32, u64, bool);

/// A kind of event. Events of one time happen in the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The last bit of a packet leaves a server.
    Leave(u32),
    /// A packet comes to the server that sends its stream.
    Arrive(Arrival),
    /// A flow is told of a packet of its own: of its bytes, and whether it was marked.
    Tell(u32, u64, bool),
    /// A timer of a flow runs out.
    Expire(u32),
    /// A flow begins: its number among those that arrive together, and the flow.
    Release(u64, u32),
    /// The GPU of a server may hand over a packet.
    Offer(u32),
    /// A server may send the first packet in line.
    Serve(u32),
}

/// A circuit, and the GPU before it.
#[derive(Debug, Default)]
struct Server {
    /// Packets in line, with the times at which they came.
    line: VecDeque<(Arrival, u64)>,
    line_bytes: u64,
    is_busy: bool,
    backlog: Backlog,
    /// Flows that begin here and have packets left.
    flows: Vec<u32>,
    /// The place of the flow whose turn it is.
    turn: usize,
    /// The time at which the GPU may hand over the next packet.
    open_fs: u64,
    /// The next time at which it is asked to.
    offer_fs: Option<u64>,
}

struct Controlled<'a> {
    network: &'a QueueingNetwork,
    marking: Marking,
    servers: Vec<Server>,
    senders: Vec<Sender>,
    events: BinaryHeap<Reverse<(u64, What)>>,
    ledger: Ledger,
}

/// Simulates what is wired from the flows that are `released` at their times; `gates` release the others.
///
/// Costs O(log events) per packet and hop, and O(flows of the GPU) per packet that it hands over. Memory is that of the
/// packets that wait at one time.
///
/// # Errors
/// Times above the limit.
pub(crate) fn run(wiring: &Wiring, released: Vec<(u32, u64)>, mut gates: Gates) -> Result<(Ledger, Gates)> {
    let mut controlled = Controlled::new(wiring);
    let mut opened = released;
    loop {
        for (flow, now_fs) in opened.drain(..) {
            controlled.push(now_fs, What::Release(controlled.network.flows[flow as usize].number, flow))?;
        }
        let Some(Reverse((now_fs, what))) = controlled.events.pop() else { break };
        interruption::check();
        controlled.happen(now_fs, what)?;
        for done in std::mem::take(&mut controlled.ledger.done) {
            gates.stream_done(controlled.network, done, &mut opened);
        }
    }
    let Controlled { servers, senders, mut ledger, .. } = controlled;
    ledger.queue_bytes = servers.iter().map(|server| server.backlog.most_bytes).collect();
    for sender in senders {
        ledger.congestion.notifications += sender.notifications;
        ledger.congestion.decreases += sender.decreases;
    }
    Ok((ledger, gates))
}

impl<'a> Controlled<'a> {
    fn new(wiring: &'a Wiring) -> Self {
        let (network, bandwidth_bps) = (&wiring.network, wiring.plan.fabric.bandwidth_bps);
        let control = &wiring.settings.congestion_control;
        let mut servers: Vec<Server> = Vec::new();
        servers.resize_with(network.servers, Server::default);
        let mut ledger = Ledger::new(network);
        ledger.note_amounts(network);
        let senders = (0..network.flows.len() as u32).map(|flow| Sender::new(network, flow, control, bandwidth_bps));
        Self {
            network,
            marking: control.marking(bandwidth_bps),
            servers,
            senders: senders.collect(),
            events: BinaryHeap::new(),
            ledger,
        }
    }

    fn push(&mut self, time_fs: u64, what: What) -> Result<()> {
        if time_fs >= LIMIT_FS {
            return Err(too_long());
        }
        self.events.push(Reverse((time_fs, what)));
        Ok(())
    }

    fn happen(&mut self, now_fs: u64, what: What) -> Result<()> {
        match what {
            What::Leave(server) => {
                self.servers[server as usize].is_busy = false;
                self.push(now_fs, What::Serve(server))
            }
            What::Arrive(arrival) => self.arrive(now_fs, arrival),
            What::Tell(flow, bytes, is_marked) => {
                self.senders[flow as usize].tell(now_fs, bytes, is_marked);
                self.after_change(now_fs, flow)
            }
            What::Expire(flow) => {
                if self.senders[flow as usize].expire(now_fs) {
                    self.after_change(now_fs, flow)?;
                }
                Ok(())
            }
            What::Release(_, flow) => {
                let server = self.network.first_server(flow);
                self.senders[flow as usize].release(now_fs);
                self.servers[server as usize].flows.push(flow);
                self.offer_at(now_fs, server)
            }
            What::Offer(server) => self.offer(now_fs, server),
            What::Serve(server) => self.serve(now_fs, server),
        }
    }

    /// The sender of `flow` was told something, or a timer of it ran out.
    fn after_change(&mut self, now_fs: u64, flow: u32) -> Result<()> {
        let sender = &mut self.senders[flow as usize];
        if sender.left() == 0 {
            return Ok(());
        }
        if let Some(next_fs) = sender.new_timer_fs() {
            self.push(next_fs, What::Expire(flow))?;
        }
        self.offer_at(now_fs, self.network.first_server(flow))
    }

    /// Asks the GPU of `server` at `time_fs`, unless it is asked before.
    fn offer_at(&mut self, time_fs: u64, server: u32) -> Result<()> {
        let state = &mut self.servers[server as usize];
        let time_fs = time_fs.max(state.open_fs);
        if state.offer_fs.is_some_and(|before_fs| before_fs <= time_fs) {
            return Ok(());
        }
        state.offer_fs = Some(time_fs);
        self.push(time_fs, What::Offer(server))
    }

    /// The GPU of `server` hands over the next packet of the first flow in turn that may send one.
    fn offer(&mut self, now_fs: u64, server: u32) -> Result<()> {
        let network = self.network;
        let state = &mut self.servers[server as usize];
        if state.offer_fs != Some(now_fs) {
            return Ok(());
        }
        state.offer_fs = None;
        let (count, mut next_fs) = (state.flows.len(), u64::MAX);
        let mut chosen = None;
        for place in (0..count).map(|place| (state.turn + place) % count) {
            let ready_fs = self.senders[state.flows[place] as usize].ready_fs(network);
            if ready_fs <= now_fs {
                chosen = Some(place);
                break;
            }
            next_fs = next_fs.min(ready_fs);
        }
        let Some(place) = chosen else {
            return if next_fs < u64::MAX { self.offer_at(next_fs, server) } else { Ok(()) };
        };
        let flow = state.flows[place];
        let sender = &mut self.senders[flow as usize];
        let (number, packet) = (sender.sent, sender.next_packet(network));
        sender.hand_over(now_fs, packet);
        if sender.left() == 0 {
            state.flows.remove(place);
            state.turn = place;
        } else {
            state.turn = place + 1;
        }
        state.open_fs = now_fs + packet.wire_fs;
        let first = network.flows[flow as usize].streams.start as u32;
        // Raised by what was sent.
        if let Some(next_fs) = self.senders[flow as usize].new_timer_fs() {
            self.push(next_fs, What::Expire(flow))?;
        }
        self.arrive(now_fs, (network.key(first), first, number, false))?;
        self.offer_at(now_fs, server)
    }

    fn arrive(&mut self, now_fs: u64, arrival: Arrival) -> Result<()> {
        let server = self.network.streams[arrival.1 as usize].server;
        let bytes = self.packet(&arrival).bytes;
        let state = &mut self.servers[server as usize];
        state.line.push_back((arrival, now_fs));
        state.line_bytes += bytes;
        if state.is_busy || state.line.len() > 1 { Ok(()) } else { self.push(now_fs, What::Serve(server)) }
    }

    fn packet(&self, &(_, stream, number, _): &Arrival) -> Packet {
        self.network.size(&self.network.flows[self.network.streams[stream as usize].flow as usize], number)
    }

    /// Sends the first packet in line, and marks it where there is much behind it.
    fn serve(&mut self, now_fs: u64, server: u32) -> Result<()> {
        let network = self.network;
        let state = &mut self.servers[server as usize];
        if state.is_busy {
            return Ok(());
        }
        let Some((arrival, came_fs)) = state.line.pop_front() else { return Ok(()) };
        let (_, stream, number, was_marked) = arrival;
        let at = &network.streams[stream as usize];
        let flow = &network.flows[at.flow as usize];
        let packet = network.size(flow, number);
        state.line_bytes -= packet.bytes;
        state.is_busy = true;
        let hop = u64::from(stream) - flow.streams.start as u64;
        let released_fs = self.senders[at.flow as usize].released_fs;
        let drawn = [released_fs, flow.number << 24 | hop, number];
        let is_marked = was_marked || self.marking.marks(state.line_bytes, drawn);
        self.ledger.congestion.marked_packets += u64::from(is_marked && !was_marked);
        let departure_fs = now_fs + packet.wire_fs;
        let last = number + 1 == flow.packets;
        let marks = Marks::FIRST.when(number == 0).and(Marks::LAST.when(last));
        if at.lane != SENDER {
            state.backlog.pass(&Series::once(came_fs), Series::once(departure_fs), packet.bytes);
        }
        if !marks.are_none() {
            let run = Run { times: Series::once(came_fs), stream, marks };
            self.ledger.note(network, &run, now_fs, departure_fs);
        }
        self.push(departure_fs, What::Leave(server))?;
        if network.next_lane(stream) != SENDER {
            let next = (network.key(stream + 1), stream + 1, number, is_marked);
            return self.push(network.hop.onward(departure_fs, packet), What::Arrive(next));
        }
        let received_fs = departure_fs + network.hop.delay_fs;
        match self.senders[at.flow as usize].told_fs(received_fs, is_marked) {
            Some(told_fs) => self.push(told_fs, What::Tell(at.flow, packet.bytes, is_marked)),
            None => Ok(()),
        }
    }
}
