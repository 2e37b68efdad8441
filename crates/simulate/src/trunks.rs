//! The packets that a sender hands to one server at once for one transfer: one queue, in the order of the transfer's
//! packets, whichever way each then takes.
//!
//! To which flow a packet goes is dealt out when it is sent, by the rule that split the transfer: nothing is stored
//! per packet.

use std::collections::BTreeMap;

use crate::network::{QueueingNetwork, SENDER, Transfer};
use crate::packet::Packet;
use crate::runs::{Marks, Run, Series};
use crate::split::Dealer;

/// The flow whose packet is next.
#[derive(Debug, Clone)]
enum Turns {
    /// Flows that take turns, and the place of the next.
    Cycle(Vec<u32>, usize),
    /// The next flow, and who deals out those after it.
    Dealt(u32, Dealer),
}

impl Turns {
    /// From the first packet of `transfer` on those of the flows that are `in_line`, of which there is one.
    ///
    /// With equal shares, packet i is the (i div p)-th of path i mod p, so that flows take turns where all paths
    /// have as many of them.
    fn new(transfer: &Transfer, in_line: impl Fn(u32) -> bool) -> Self {
        let used = || transfer.paths.iter().filter(|flows| !flows.is_empty());
        let parallel = used().map(ExactSizeIterator::len).max().unwrap_or(0);
        if transfer.shares.are_equal() && used().all(|flows| flows.len() == parallel) {
            let flows = (0..parallel as u32).flat_map(|k| used().map(move |flows| flows.start + k));
            return Self::Cycle(flows.filter(|&flow| in_line(flow)).collect(), 0);
        }
        let mut turns = Self::Dealt(0, Dealer::new(transfer.shares.paths()));
        turns.advance(transfer, in_line);
        turns
    }

    /// The flow of the next packet.
    fn flow(&self) -> u32 {
        match self {
            Self::Cycle(flows, turn) => flows[*turn],
            Self::Dealt(flow, _) => *flow,
        }
    }

    /// Goes on to the next packet of flows that are `in_line`; there must be one.
    fn advance(&mut self, transfer: &Transfer, in_line: impl Fn(u32) -> bool) {
        match self {
            Self::Cycle(flows, turn) => *turn = (*turn + 1) % flows.len(),
            Self::Dealt(next, dealer) => loop {
                let (path, number) = dealer.deal(&transfer.shares);
                let flows = &transfer.paths[path];
                *next = flows.start + (number % flows.len() as u64) as u32;
                if in_line(*next) {
                    return;
                }
            },
        }
    }
}

#[derive(Debug, Clone)]
struct Trunk {
    transfer: u32,
    released_fs: u64,
    /// Packets of full size that wait.
    full: u64,
    /// The last packet, where it is shorter and waits.
    tail: Option<Packet>,
    turns: Turns,
    /// Whether flows that take turns go on by different lanes.
    are_apart: bool,
}

/// Queues of packets that senders have handed over.
#[derive(Debug)]
pub(crate) struct Trunks {
    trunks: Vec<Trunk>,
    /// Per flow, the trunk that its packets wait in.
    of_flow: Vec<Option<u32>>,
    /// By transfer, server and time of release.
    numbers: BTreeMap<(u32, u32, u64), u32>,
    /// Per flow, packets that are sent.
    sent: Vec<u64>,
}

impl Trunks {
    /// No trunks yet, for the flows of `network`.
    pub(crate) fn new(network: &QueueingNetwork) -> Self {
        let flows = if network.transfers.is_empty() { 0 } else { network.flows.len() };
        Self { trunks: Vec::new(), of_flow: vec![None; flows], numbers: BTreeMap::new(), sent: vec![0; flows] }
    }

    /// Hands over the packets of `flow`, which is part of `transfer` and released at `now_fs`. They join what is
    /// released with them, of which nothing is sent before all of it is handed over; returns the trunk where they
    /// begin one.
    pub(crate) fn join(&mut self, network: &QueueingNetwork, flow: u32, transfer: u32, now_fs: u64) -> Option<usize> {
        let next = self.trunks.len() as u32;
        let number = *self.numbers.entry((transfer, network.first_server(flow), now_fs)).or_insert(next);
        let is_new = number == next;
        self.of_flow[flow as usize] = Some(number);
        let transfer_of = &network.transfers[transfer as usize];
        let turns = Turns::new(transfer_of, |flow| self.of_flow[flow as usize] == Some(number));
        if is_new {
            let (turns, are_apart) = (turns.clone(), true);
            self.trunks.push(Trunk { transfer, released_fs: now_fs, full: 0, tail: None, turns, are_apart });
        }
        let (trunk, flow) = (&mut self.trunks[number as usize], &network.flows[flow as usize]);
        trunk.full += flow.full();
        trunk.tail = trunk.tail.or(flow.tail);
        if let Turns::Cycle(flows, _) = &turns {
            trunk.are_apart = are_apart(network, flows);
        }
        trunk.turns = turns;
        is_new.then_some(number as usize)
    }

    /// Flow and size of the first packet of `trunk`; none where nothing waits.
    pub(crate) fn first(&self, network: &QueueingNetwork, trunk: usize) -> Option<(u32, Packet)> {
        let trunk = &self.trunks[trunk];
        let packet = if trunk.full > 0 { Some(network.packet) } else { trunk.tail };
        packet.map(|packet| (trunk.turns.flow(), packet))
    }

    /// Takes the first packet of `trunk` out. Returns when the next one came, if there is one.
    pub(crate) fn skip(&mut self, network: &QueueingNetwork, number: usize) -> Option<u64> {
        let trunk = &mut self.trunks[number];
        match trunk.full {
            0 => trunk.tail = None,
            _ => trunk.full -= 1,
        }
        if trunk.full == 0 && trunk.tail.is_none() {
            return None;
        }
        let in_line = |flow: u32| self.of_flow[flow as usize] == Some(number as u32);
        trunk.turns.advance(&network.transfers[trunk.transfer as usize], in_line);
        Some(trunk.released_fs)
    }

    /// Takes the next packets of one size out of `trunk`, which leave back to back from `begin_fs` on, as runs of their
    /// flows' first streams. All of them, in the order of the first of each, where flows take turns and go on by
    /// different lanes; else at most `most`, in order.
    pub(crate) fn deal(&mut self, network: &QueueingNetwork, trunk: usize, begin_fs: u64, most: u64) -> Vec<Run> {
        let Some((_, packet)) = self.first(network, trunk) else { return Vec::new() };
        let mut dealt = Vec::new();
        let series = |place: u64, every: u64, count: u64| Series {
            first_fs: begin_fs + (place + 1) * packet.wire_fs,
            spacing_fs: every * packet.wire_fs,
            count,
        };
        let Trunk { full, turns, tail, are_apart, .. } = &mut self.trunks[trunk];
        if let (Turns::Cycle(flows, turn), 2.., true) = (turns, *full, *are_apart) {
            let every = flows.len() as u64;
            for place in 0..every.min(*full) {
                let flow = flows[(*turn + place as usize) % flows.len()];
                dealt.push((flow, series(place, every, (*full - place).div_ceil(every))));
            }
            *turn = ((*turn as u64 + *full) % every) as usize;
            *full = 0;
        } else {
            let waiting = if *full > 0 { *full } else { u64::from(tail.is_some()) };
            for place in 0..waiting.min(most) {
                dealt.push((self.trunks[trunk].turns.flow(), series(place, 1, 1)));
                self.skip(network, trunk);
            }
        }
        dealt.into_iter().map(|(flow, times)| self.run(network, flow, times)).collect()
    }

    /// The next packets of `flow`, of one size, as a run that leaves at `times`.
    pub(crate) fn run(&mut self, network: &QueueingNetwork, flow: u32, times: Series) -> Run {
        let (of, sent) = (&network.flows[flow as usize], &mut self.sent[flow as usize]);
        let first = Marks::FIRST.when(*sent == 0);
        *sent += times.count;
        let short = Marks::SHORT.when(*sent > of.full());
        let marks = first.and(Marks::LAST.when(*sent == of.packets)).and(short);
        Run { times, stream: of.streams.start as u32, marks }
    }
}

/// Whether `flows` all go on by lanes of their own, or are at their receiver.
fn are_apart(network: &QueueingNetwork, flows: &[u32]) -> bool {
    let next = |&flow: &u32| network.next_lane(network.flows[flow as usize].streams.start as u32);
    let mut lanes: Vec<u32> = flows.iter().map(next).filter(|&lane| lane != SENDER).collect();
    lanes.sort_unstable();
    lanes.windows(2).all(|pair| pair[0] != pair[1])
}
