//! A rank: sends, passes on and receives the messages of a step, then copies and reduces what it received.

use std::collections::VecDeque;

use crate::board::{Board, Phase};
use crate::clock::{now_ns, sleep_until};
use crate::fault::Who;
use crate::report::RankTimes;
use crate::request::Request;
use crate::share::{Received, StepShare};
use crate::system::{Shared, end};
use crate::transport::Transport;
use crate::wire::Header;

/// Between two sleeps of the probe.
const PROBE_STEP_NS: u64 = 1_000_000;

/// A packet that waits at a port.
enum Waiting {
    /// A packet of the rank's own data, which is read when the packet goes.
    Own(Header),
    /// A packet of another's data.
    Forwarded(Header, Vec<u8>),
}

impl Waiting {
    fn bytes(&self) -> u64 {
        let (Self::Own(header) | Self::Forwarded(header, _)) = self;
        u64::from(header.size)
    }
}

/// A rank and what it has.
pub struct Rank<'a, T> {
    request: &'a Request,
    board: &'a Board,
    number: u32,
    shares: &'a [StepShare],
    /// Where every segment begins in its message.
    segment_begins: &'a [u64],
    workspaces: &'a Shared,
    transport: T,
    /// The contents of its workspace before a run.
    first: Vec<u8>,
    /// The data that came in a step, message after message.
    staged: Vec<u8>,
    waiting: Vec<VecDeque<Waiting>>,
    /// Buffers of packets that are not in use.
    spare: Vec<Vec<u8>>,
    /// For a packet, or what a segment is reduced with.
    scratch: Vec<u8>,
}

impl<'a, T: Transport> Rank<'a, T> {
    /// The rank of that number; what its workspace holds now is what every run begins with.
    pub fn new(
        request: &'a Request,
        board: &'a Board,
        number: u32,
        shares: &'a [StepShare],
        segment_begins: &'a [u64],
        workspaces: &'a Shared,
        transport: T,
    ) -> Self {
        let mut first = vec![0; request.program.workspace_bytes[number as usize] as usize];
        workspaces.read(request.workspace_offset[number as usize] as usize, &mut first);
        let staged = shares.iter().map(|share| share.staged_bytes).max().unwrap_or(0);
        let largest =
            request.program.size_bytes.iter().copied().max().unwrap_or(0).max(u64::from(request.packet_bytes));
        Self {
            request,
            board,
            number,
            shares,
            segment_begins,
            workspaces,
            transport,
            first,
            // Written now, so that no memory is asked for in a step.
            staged: vec![1; staged as usize],
            waiting: (0..request.ports).map(|_| VecDeque::new()).collect(),
            spare: Vec::new(),
            scratch: vec![1; largest as usize],
        }
    }

    /// Does what it is let go for until it is told to end. Does not return.
    pub fn serve(mut self) -> ! {
        let mut seen = 0;
        loop {
            let (generation, phase, step, start_ns) = self.board.wait_for_release(seen);
            seen = generation;
            match phase {
                Phase::Probe => self.probe(),
                Phase::Reset => self.workspaces.write(self.workspace(), &self.first),
                Phase::Step => {
                    if let Err(why) = self.step(step, start_ns) {
                        self.board.fail(&self.board.failed(Who::Rank(self.number), why));
                        end(1);
                    }
                }
                Phase::Quit => end(0),
            }
            self.board.arrive(self.number as usize, generation);
        }
    }

    fn probe(&self) {
        let log = self.board.probe(self.number as usize);
        let mut moment_ns = now_ns();
        let end_ns = moment_ns + self.request.probe_ns;
        while moment_ns < end_ns {
            moment_ns += PROBE_STEP_NS;
            log.count(sleep_until(moment_ns));
        }
    }

    fn step(&mut self, step: usize, start_ns: u64) -> Result<(), String> {
        let released_ns = now_ns();
        self.transport.begin_step();
        let most_bytes = self.queue_own(step);
        let head_start_ns = self.transport.head_start_ns(most_bytes);
        let late_ns = sleep_until(start_ns + self.request.startup_ns + head_start_ns);
        if self.board.measures() {
            self.board.running(self.number as usize).count(late_ns);
        }
        let started_ns = now_ns();
        let mut times = RankTimes { released_ns, started_ns, ..RankTimes::default() };
        self.exchange(step, &mut times)?;
        let shares = self.shares;
        for received in &shares[step].received {
            self.keep(*received);
        }
        times.arrived_ns = now_ns();
        self.board.set_times(step, self.number as usize, times);
        Ok(())
    }

    /// Queues the packets of all messages, one of each in turn, over the ports that lead to the next rank in turn;
    /// returns the most bytes that leave by one port.
    fn queue_own(&mut self, step: usize) -> u64 {
        let size = u64::from(self.request.packet_bytes);
        let sent = &self.shares[step].sent;
        let most = sent.iter().map(|sent| sent.bytes.div_ceil(size)).max().unwrap_or(0);
        for packet in 0..most {
            for one in sent.iter().filter(|one| packet * size < one.bytes) {
                let offset = packet * size;
                let header = Header {
                    message: one.message as u32,
                    hop: 0,
                    offset,
                    size: size.min(one.bytes - offset) as u32,
                    step: step as u32,
                    sent_ns: 0,
                };
                let port = one.ports[packet as usize % one.ports.len()];
                self.waiting[port as usize].push_back(Waiting::Own(header));
            }
        }
        let bytes_of = |waiting: &VecDeque<Waiting>| waiting.iter().map(Waiting::bytes).sum();
        self.waiting.iter().map(bytes_of).max().unwrap_or(0)
    }

    /// Sends all that waits and receives all that comes, until both are done.
    fn exchange(&mut self, step: usize, times: &mut RankTimes) -> Result<(), String> {
        let incoming = self.shares[step].incoming_bytes;
        let mut came = 0;
        loop {
            self.transport.look();
            came += self.receive(step, times)?;
            self.board.set_came(self.number as usize, came, incoming);
            let is_sent = self.send()?;
            self.transport.flush();
            if came > incoming {
                return Err(format!("{came} bytes arrived, and {incoming} were expected"));
            }
            if came == incoming && times.received_ns == 0 {
                times.received_ns = now_ns();
            }
            if is_sent && came == incoming {
                times.sent_ns = now_ns();
                return Ok(());
            }
            self.transport.wait();
        }
    }

    /// Hands over what waits and finds room; whether nothing waits any more.
    fn send(&mut self) -> Result<bool, String> {
        let mut is_sent = true;
        for port in 0..self.request.ports {
            while let Some(next) = self.waiting[port as usize].pop_front() {
                let has_room = match &next {
                    Waiting::Own(header) => {
                        self.gather(header);
                        let header = Header { sent_ns: now_ns(), ..*header };
                        self.transport.send(port, &header, &self.scratch[..header.size as usize])?
                    }
                    Waiting::Forwarded(header, payload) => {
                        let header = Header { sent_ns: now_ns(), ..*header };
                        self.transport.send(port, &header, payload)?
                    }
                };
                if !has_room {
                    self.waiting[port as usize].push_front(next);
                    is_sent = false;
                    break;
                }
                if let Waiting::Forwarded(_, payload) = next {
                    self.spare.push(payload);
                }
            }
        }
        Ok(is_sent)
    }

    /// Takes all packets that came; returns their bytes.
    fn receive(&mut self, step: usize, times: &mut RankTimes) -> Result<u64, String> {
        let mut came = 0;
        for port in 0..self.request.ports {
            let mut payload = self.spare.pop().unwrap_or_default();
            while let Some(header) = self.transport.receive(port, &mut payload)? {
                came += u64::from(header.size);
                match self.next_rank(&header, step)? {
                    None => self.stage(&header, &payload, step)?,
                    Some(next) => {
                        times.forwarded_bytes += u64::from(header.size);
                        let out = self.port_to(next, &header, step)?;
                        let header = Header { hop: header.hop + 1, ..header };
                        let next = Waiting::Forwarded(header, std::mem::take(&mut payload));
                        self.waiting[out as usize].push_back(next);
                        payload = self.spare.pop().unwrap_or_default();
                    }
                }
            }
            self.spare.push(payload);
        }
        Ok(came)
    }

    /// The rank that a packet goes on to; `None` where it has come to its end.
    fn next_rank(&self, header: &Header, step: usize) -> Result<Option<u32>, String> {
        let program = &self.request.program;
        let message = header.message as usize;
        let place = header.hop as usize + 1;
        let is_of_step = program.step.get(message).is_some_and(|&one| one as usize == step);
        if !is_of_step || program.path(message).get(place) != Some(&self.number) {
            return Err(format!(
                "a packet of message {message} arrived that is not for this rank; circuits lead elsewhere than planned"
            ));
        }
        Ok(program.path(message).get(place + 1).copied())
    }

    fn port_to(&self, next: u32, header: &Header, step: usize) -> Result<u32, String> {
        let configuration = self.request.steps[step].configuration as usize;
        let count = self.request.ports_to(configuration, self.number, next).count();
        if count == 0 {
            return Err(format!("no circuit leads to rank {next}"));
        }
        let packet = (header.offset / u64::from(self.request.packet_bytes)) as usize;
        let port = self.request.ports_to(configuration, self.number, next).nth(packet % count);
        port.ok_or_else(|| format!("no circuit leads to rank {next}"))
    }

    /// Puts a packet of a message of this rank where the message is collected.
    fn stage(&mut self, header: &Header, payload: &[u8], step: usize) -> Result<(), String> {
        let share = &self.shares[step];
        let wanted = header.message as usize;
        let found = share.received.binary_search_by_key(&wanted, |received| received.message);
        let received =
            found.map(|place| share.received[place]).map_err(|_| format!("message {wanted} is not for this rank"))?;
        let begin = (received.staged_at + header.offset) as usize;
        let place = self.staged.get_mut(begin..begin + payload.len());
        place.ok_or_else(|| format!("message {wanted} is too long"))?.copy_from_slice(payload);
        Ok(())
    }

    /// Collects the bytes of a packet from the segments of its message.
    fn gather(&mut self, header: &Header) {
        let (program, base) = (&self.request.program, self.workspace());
        let segments = program.segments(header.message as usize);
        let begins = &self.segment_begins[segments.clone()];
        let mut segment = begins.partition_point(|&begin| begin <= header.offset) - 1;
        let mut done = 0;
        while done < header.size as usize {
            let within = header.offset + done as u64 - begins[segment];
            let index = segments.start + segment;
            let size = ((program.size_bytes[index] - within) as usize).min(header.size as usize - done);
            let at = base + (program.source_offset[index] + within) as usize;
            self.workspaces.read(at, &mut self.scratch[done..done + size]);
            done += size;
            segment += 1;
        }
    }

    /// Copies and reduces a message into the workspace.
    fn keep(&mut self, received: Received) {
        let (program, base) = (&self.request.program, self.workspace());
        for segment in program.segments(received.message) {
            let size = program.size_bytes[segment] as usize;
            let begin = (received.staged_at + self.segment_begins[segment]) as usize;
            let staged = &self.staged[begin..begin + size];
            let at = base + program.destination_offset[segment] as usize;
            if program.is_reduction[segment] {
                let held = &mut self.scratch[..size];
                self.workspaces.read(at, held);
                self.request.reduction.apply(self.request.element, held, staged);
                self.workspaces.write(at, held);
            } else {
                self.workspaces.write(at, staged);
            }
        }
    }

    fn workspace(&self) -> usize {
        self.request.workspace_offset[self.number as usize] as usize
    }
}
