//! The switch process: the fabric of the shared-memory transport.

use std::collections::VecDeque;

use crate::board::{Board, Command, Phase};
use crate::clock::now_ns;
use crate::fabric::{Fabric, Passage};
use crate::fault::{Fault, When, Who};
use crate::request::Request;
use crate::ring::span;
use crate::system::end;
use crate::wire::Header;

/// A packet that is held back.
struct Held {
    header: Header,
    position: u64,
    passage: Passage,
}

/// The packets that one transmitter has sent and the switch has not yet passed on.
#[derive(Default)]
struct Port {
    /// The place where the first packet begins that was not looked at.
    position: u64,
    held: VecDeque<Held>,
}

/// A configuration that is being made.
struct Making {
    command: u32,
    ready_ns: u64,
}

struct Switch<'a, P> {
    request: &'a Request,
    board: &'a Board,
    fabric: Fabric<P>,
    ports: Vec<Port>,
    command: u32,
    making: Vec<Making>,
    payload: Vec<u8>,
}

/// Passes packets on until ranks are told to end. Does not return.
pub fn serve(request: &Request, board: &Board) -> ! {
    let mut switch = Switch {
        request,
        board,
        fabric: Fabric::new(request.all_ports(), |from, to| request.pace(from, to)),
        ports: (0..request.all_ports()).map(|_| Port::default()).collect(),
        command: 0,
        making: Vec::new(),
        payload: vec![0; request.packet_bytes as usize],
    };
    let bell = board.switch_bell();
    loop {
        let seen = bell.seen();
        if board.phase() == Phase::Quit {
            end(0);
        }
        switch.obey();
        if let Err(fault) = switch.take_packets() {
            board.fail(&fault);
            end(1);
        }
        match switch.pass_on() {
            Some(due_ns) if due_ns <= now_ns() => {}
            due_ns => bell.wait(seen, due_ns),
        }
    }
}

impl<P: Fn(usize, u32) -> (f64, u64)> Switch<'_, P> {
    /// Makes the configurations that it was told to, and says so when their dark times are over.
    fn obey(&mut self) {
        while let Some(command) = self.board.commanded(self.command) {
            let Command { number, from, configuration, asked_ns, dark_ns } = command;
            self.command = number;
            let changed = self.request.changed(from, configuration, self.fabric.circuits());
            let ready_ns = self.fabric.change(&changed, asked_ns, dark_ns);
            self.making.push(Making { command: number, ready_ns });
        }
        let now_ns = now_ns();
        for making in self.making.extract_if(.., |making| making.ready_ns <= now_ns) {
            self.board.acknowledge(making.command, now_ns);
        }
    }

    /// Looks at what ranks have sent.
    fn take_packets(&mut self) -> Result<(), Fault> {
        for (number, port) in self.ports.iter_mut().enumerate() {
            let ring = self.board.outbound(number);
            while let Some(header) = ring.header(port.position) {
                let passage = self.fabric.take(number, header.sent_ns, header.size).map_err(|refusal| {
                    let (rank, port) = (number as u32 / self.request.ports, number as u32 % self.request.ports);
                    Fault::Refused { rank, port, when: When::Step(header.step as usize), why: refusal.words() }
                })?;
                if header.size > self.request.packet_bytes {
                    return Err(self.board.failed(Who::Switch, "a packet is longer than packets are".into()));
                }
                port.held.push_back(Held { header, position: port.position, passage });
                port.position += span(header.size as usize);
            }
        }
        Ok(())
    }

    /// Passes on what is due; returns when something will be next.
    fn pass_on(&mut self) -> Option<u64> {
        let mut next_ns = self.making.iter().map(|making| making.ready_ns).min();
        let (board, ports) = (self.board, self.request.ports);
        let bell_of = |port: u32| board.bell((port / ports) as usize);
        let measures = self.board.measures();
        let lateness = self.board.running(self.request.program.ranks as usize);
        for (number, port) in self.ports.iter_mut().enumerate() {
            let ring = self.board.outbound(number);
            let mut freed = None;
            let mut to: Option<u32> = None;
            while let Some(Held { header, position, passage }) = port.held.front() {
                let now_ns = now_ns();
                if passage.due_ns > now_ns {
                    next_ns = Some(next_ns.map_or(passage.due_ns, |next: u64| next.min(passage.due_ns)));
                    break;
                }
                let payload = &mut self.payload[..header.size as usize];
                ring.payload(*position, payload);
                let out = self.board.inbound(passage.to as usize);
                if !out.push(header, payload) {
                    out.starve();
                    if !out.push(header, payload) {
                        break;
                    }
                }
                if measures {
                    lateness.count(now_ns - passage.due_ns);
                }
                self.board.count_use(
                    header.step as usize,
                    number,
                    u64::from(header.size),
                    passage.first_ns,
                    passage.due_ns,
                );
                freed = Some(position + span(header.size as usize));
                to = Some(passage.to);
                port.held.pop_front();
            }
            if let Some(to) = to {
                bell_of(to).ring();
            }
            if let Some(position) = freed {
                ring.free(position);
                if ring.relieve() {
                    bell_of(number as u32).ring();
                }
            }
        }
        next_ns
    }
}
