//! The switch process where the kernel carries packets: it makes the filters that are the circuits, and hears of
//! packets that no filter takes.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::board::{Board, Command, Phase};
use crate::clock::{now_ns, timespec};
use crate::datagrams::Datagrams;
use crate::envelope::{ENVELOPE_BYTES, Envelope};
use crate::fabric::Refusal;
use crate::fault::{Fault, When, Who};
use crate::namespaces::{Namespaces, enter};
use crate::netlink::Filters;
use crate::request::Request;
use crate::system::end;

/// Bytes of packets that no circuit takes, which are reported one after the other.
const REFUSED_BYTES: usize = 1 << 20;

/// A configuration that is being made: its circuits that are not there yet.
struct Making {
    command: u32,
    ready_ns: u64,
    circuits: Vec<(u32, u32)>,
}

struct KernelSwitch<'a> {
    request: &'a Request,
    board: &'a Board,
    filters: Filters,
    /// Datagrams that no filter takes come to the switch's own namespace.
    refused: Datagrams,
    first_index: u32,
    /// By transmitter, the port that its circuit leads to.
    to: Vec<Option<u32>>,
    /// By transmitter, until when it was dark.
    dark_until_ns: Vec<u64>,
    command: u32,
    making: Vec<Making>,
}

/// Makes configurations until ranks are told to end. Does not return.
pub fn serve(request: &Request, namespaces: &Namespaces, board: &Board) -> ! {
    let opened = enter(&namespaces.switch)
        .and_then(|()| Ok((Filters::open()?, Datagrams::open(None, REFUSED_BYTES, REFUSED_BYTES)?)));
    let served = opened.map_err(|why| board.failed(Who::Switch, why)).and_then(|(filters, refused)| {
        let switch = KernelSwitch {
            request,
            board,
            filters,
            refused,
            first_index: namespaces.first_index,
            to: vec![None; request.all_ports()],
            dark_until_ns: vec![0; request.all_ports()],
            command: 0,
            making: Vec::new(),
        };
        switch.serve()
    });
    match served {
        Ok(()) => end(0),
        Err(fault) => {
            board.fail(&fault);
            end(1)
        }
    }
}

impl KernelSwitch<'_> {
    fn serve(mut self) -> Result<(), Fault> {
        while self.board.phase() != Phase::Quit {
            self.obey().map_err(|why| self.board.failed(Who::Switch, why))?;
            self.look_for_refused()?;
            let due_ns = self.making.iter().map(|making| making.ready_ns).min();
            let left = due_ns.map(|due_ns| timespec(due_ns.saturating_sub(now_ns())));
            let bell = self.board.switch_descriptor();
            let watched =
                [PollFd::from_borrowed_fd(bell, PollFlags::IN), PollFd::new(self.refused.socket(), PollFlags::IN)];
            match poll(&mut { watched }, left.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(self.board.failed(Who::Switch, error.to_string())),
            }
            let _ = rustix::io::read(bell, &mut [0; 8]);
        }
        Ok(())
    }

    /// Removes the circuits of ports that change, and makes theirs when the dark time is over.
    fn obey(&mut self) -> Result<(), String> {
        while let Some(command) = self.board.commanded(self.command) {
            let Command { number, from, configuration, asked_ns, dark_ns } = command;
            self.command = number;
            let changed = self.request.changed(from, configuration, &self.to);
            let index = |port: usize| self.first_index + port as u32;
            let gone: Vec<u32> =
                changed.iter().filter(|one| self.to[one.0].is_some()).map(|one| index(one.0)).collect();
            self.filters.remove(&gone)?;
            let made = |&(port, end): &(usize, Option<u32>)| end.map(|end| (index(port), index(end as usize)));
            let circuits = changed.iter().filter_map(made).collect();
            let ready_ns = asked_ns + dark_ns;
            for (port, end) in changed {
                self.to[port] = end;
                self.dark_until_ns[port] = ready_ns;
            }
            self.making.push(Making { command: number, ready_ns, circuits });
        }
        let due: Vec<Making> = self.making.extract_if(.., |making| making.ready_ns <= now_ns()).collect();
        for making in due {
            let late_ns = now_ns() - making.ready_ns;
            if self.board.measures() {
                self.board.running(self.request.program.ranks as usize).count(late_ns);
            }
            self.filters.add(&making.circuits)?;
            for &(from, to) in &making.circuits {
                let found = self.filters.read(from)?;
                if found != Some(to) {
                    return Err(format!("interface {from} was to lead to {to}, and the kernel says {found:?}"));
                }
            }
            self.board.acknowledge(making.command, now_ns());
        }
        Ok(())
    }

    /// Packets that came to a port without a circuit.
    fn look_for_refused(&self) -> Result<(), Fault> {
        let mut datagram = vec![0; ENVELOPE_BYTES + self.request.packet_bytes as usize];
        let failed = |why| self.board.failed(Who::Switch, why);
        while let Some(size) = self.refused.receive(&mut datagram).map_err(failed)? {
            let Some(Envelope { transmitter, header, .. }) = Envelope::decode(&datagram[..size]) else { continue };
            let number = transmitter as usize;
            let dark_until_ns = self.dark_until_ns.get(number).copied().unwrap_or(0);
            let why = if header.sent_ns < dark_until_ns { Refusal::Dark } else { Refusal::Missing };
            let (rank, port) = (transmitter / self.request.ports, transmitter % self.request.ports);
            return Err(Fault::Refused { rank, port, when: When::Step(header.step as usize), why: why.words() });
        }
        Ok(())
    }
}
