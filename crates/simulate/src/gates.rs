//! Gates and their conditions: a gate opens a while after the last of its conditions is met.

use crate::ledger::Done;
use crate::network::{QueueingNetwork, SENDER};

/// Index of a gate.
pub(crate) type Gate = u32;

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Conditions that are not yet met.
    waiting: u32,
    /// The time at which the last condition was met.
    met_fs: u64,
    /// Time from then until the gate is open, fs.
    delay_fs: u64,
}

/// Gates, and which of them wait for which. The first gates are those of the flows, which are released when
/// theirs opens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gates {
    states: Vec<State>,
    followers: Vec<Vec<Gate>>,
    /// Per flow, the gates that wait until its last bit is out of the sender.
    pub(crate) sent: Vec<Vec<Gate>>,
    /// Per flow, the gates that wait until its last bit is at the receiver.
    pub(crate) received: Vec<Vec<Gate>>,
    /// Per server, the gates that wait until all its packets are at its far end.
    pub(crate) drained: Vec<Vec<Gate>>,
}

impl Gates {
    /// A gate for each flow, which opens `delay_fs` after what it waits for, in a network of this many servers.
    pub(crate) fn of_flows(flows: usize, servers: usize, delay_fs: u64) -> Self {
        Self {
            states: vec![State { delay_fs, ..State::default() }; flows],
            followers: vec![Vec::new(); flows],
            sent: vec![Vec::new(); flows],
            received: vec![Vec::new(); flows],
            drained: vec![Vec::new(); servers],
        }
    }

    /// Whether nothing waits for anything.
    pub(crate) fn are_none(&self) -> bool {
        self.states.is_empty()
    }

    /// A new gate.
    pub(crate) fn add(&mut self, delay_fs: u64) -> Gate {
        self.states.push(State { delay_fs, ..State::default() });
        self.followers.push(Vec::new());
        self.states.len() as Gate - 1
    }

    /// `gate` has one more condition to wait for.
    pub(crate) fn expect(&mut self, gate: Gate) {
        self.states[gate as usize].waiting += 1;
    }

    /// `gate` waits until `other` is open.
    pub(crate) fn after(&mut self, gate: Gate, other: Gate) {
        self.expect(gate);
        self.followers[other as usize].push(gate);
    }

    /// The time at which `gate` opens, if all its conditions are met.
    pub(crate) fn opened_fs(&self, gate: Gate) -> u64 {
        let state = &self.states[gate as usize];
        state.met_fs.saturating_add(state.delay_fs)
    }

    /// Opens the gates that wait for nothing at time 0; `opened` gets every gate below `flows` that opens.
    pub(crate) fn start(&mut self, flows: usize, opened: &mut Vec<(Gate, u64)>) {
        let free: Vec<Gate> =
            (0..self.states.len() as Gate).filter(|&g| self.states[g as usize].waiting == 0).collect();
        for gate in free {
            self.open(gate, flows, opened);
        }
    }

    /// Meets what waited for the stream that is through; `opened` gets the flows that are released by it.
    pub(crate) fn stream_done(&mut self, network: &QueueingNetwork, done: Done, opened: &mut Vec<(Gate, u64)>) {
        if self.are_none() {
            return;
        }
        let at = &network.streams[done.stream as usize];
        let arrival_fs = done.departure_fs + network.hop.delay_fs;
        let mut met: Vec<(Gate, u64)> = Vec::new();
        if at.lane == SENDER {
            met.extend(self.sent[at.flow as usize].iter().map(|&gate| (gate, done.departure_fs)));
        }
        if network.next_lane(done.stream) == SENDER {
            met.extend(self.received[at.flow as usize].iter().map(|&gate| (gate, arrival_fs)));
        }
        met.extend(self.drained[at.server as usize].iter().map(|&gate| (gate, arrival_fs)));
        for (gate, now_fs) in met {
            self.meet(gate, now_fs, network.flows.len(), opened);
        }
    }

    /// Notes that one of the conditions of `gate` is met at `now_fs`.
    fn meet(&mut self, gate: Gate, now_fs: u64, flows: usize, opened: &mut Vec<(Gate, u64)>) {
        let state = &mut self.states[gate as usize];
        state.met_fs = state.met_fs.max(now_fs);
        state.waiting -= 1;
        if state.waiting == 0 {
            self.open(gate, flows, opened);
        }
    }

    fn open(&mut self, gate: Gate, flows: usize, opened: &mut Vec<(Gate, u64)>) {
        let mut open = vec![gate];
        while let Some(gate) = open.pop() {
            let now_fs = self.opened_fs(gate);
            if (gate as usize) < flows {
                opened.push((gate, now_fs));
            }
            for &follower in &self.followers[gate as usize] {
                let state = &mut self.states[follower as usize];
                state.met_fs = state.met_fs.max(now_fs);
                state.waiting -= 1;
                if state.waiting == 0 {
                    open.push(follower);
                }
            }
        }
    }
}
