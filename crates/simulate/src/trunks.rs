//! What a sender hands to one server at once for one transfer: one queue, in the order of the transfer's packets,
//! whichever way each then takes.
//!
//! To which flow a packet goes is dealt out when it is sent, by the rule that split the transfer: nothing is stored
//! per packet.

use std::collections::BTreeMap;

use crate::network::{QueueingNetwork, Transfer};
use crate::packet::Packet;
use crate::runs::Run;
use crate::split::Dealer;

/// Whose packet is next.
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
}

/// Queues of packets that senders have handed over.
#[derive(Debug)]
pub(crate) struct Trunks {
    trunks: Vec<Trunk>,
    /// Per flow, the trunk that its packets wait in.
    of_flow: Vec<Option<u32>>,
    /// By transfer, server and time of release.
    numbers: BTreeMap<(u32, u32, u64), u32>,
}

impl Trunks {
    /// None, for the flows of `network`.
    pub(crate) fn new(network: &QueueingNetwork) -> Self {
        let flows = if network.transfers.is_empty() { 0 } else { network.flows.len() };
        Self { trunks: Vec::new(), of_flow: vec![None; flows], numbers: BTreeMap::new() }
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
            self.trunks.push(Trunk { transfer, released_fs: now_fs, full: 0, tail: None, turns: turns.clone() });
        }
        let (trunk, flow) = (&mut self.trunks[number as usize], &network.flows[flow as usize]);
        trunk.full += flow.full();
        trunk.tail = trunk.tail.or(flow.tail);
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

    /// Takes the next packets of one size out of `trunk`, which leave back to back from `begin_fs` on: departures
    /// by flow, in the order of the first of each. All of them where flows take turns, else at most `most`.
    pub(crate) fn deal(
        &mut self,
        network: &QueueingNetwork,
        trunk: usize,
        begin_fs: u64,
        most: u64,
    ) -> Vec<(u32, Run)> {
        let mut dealt = Vec::new();
        let Some((_, packet)) = self.first(network, trunk) else { return dealt };
        let run = |place: u64, every: u64, count: u64| Run {
            first_fs: begin_fs + (place + 1) * packet.wire_fs,
            spacing_fs: every * packet.wire_fs,
            count,
            packet,
        };
        let Trunk { full, turns, tail, .. } = &mut self.trunks[trunk];
        if let (Turns::Cycle(flows, turn), 2..) = (turns, *full) {
            let every = flows.len() as u64;
            for place in 0..every.min(*full) {
                let flow = flows[(*turn + place as usize) % flows.len()];
                dealt.push((flow, run(place, every, (*full - place).div_ceil(every))));
            }
            *turn = ((*turn as u64 + *full) % every) as usize;
            *full = 0;
            return dealt;
        }
        let waiting = if *full > 0 { *full } else { u64::from(tail.is_some()) };
        for place in 0..waiting.min(most) {
            dealt.push((self.trunks[trunk].turns.flow(), run(place, 1, 1)));
            self.skip(network, trunk);
        }
        dealt
    }
}
