//! A rank: sends, passes on and receives the messages of steps, each once it is released, then copies and reduces what
//! it received. Several steps may be under way, by ports of their own.

mod receiving;

use std::collections::{BTreeMap, VecDeque};

use crate::board::{Board, Phase};
use crate::clock::{now_ns, sleep_until};
use crate::fault::{Fault, When, Who};
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
    fn step(&self) -> usize {
        let (Self::Own(header) | Self::Forwarded(header, _)) = self;
        header.step as usize
    }
}

/// A step that a rank was released for.
struct UnderWay {
    step: usize,
    /// The time at which its startup is over.
    begins_ns: u64,
    has_begun: bool,
    /// The rank's own packets, with the ports that they leave by, and how many of them are handed over.
    packets: Vec<(u32, Header)>,
    handed_over: usize,
    /// Packets that have not left.
    waiting: usize,
    /// Bytes that came.
    came: u64,
    /// The data that came, message after message.
    staged: Vec<u8>,
    times: RankTimes,
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
    /// The steps that it was released for and has not ended.
    under_way: Vec<UnderWay>,
    /// By step, whether the rank has ended it in this run.
    has_ended: Vec<bool>,
    /// The number of the run's releases that it has seen.
    heard: usize,
    /// By step and next rank, the ports that packets take in turn which are passed on.
    turns: BTreeMap<(u32, u32), Vec<u32>>,
    /// By port, what leaves by it next.
    waiting: Vec<VecDeque<Waiting>>,
    /// Memory for the data of a step that is not in use.
    spare_stages: Vec<Vec<u8>>,
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
            under_way: Vec::new(),
            has_ended: Vec::new(),
            heard: 0,
            // Filled with ones, so that the system gives the memory now and not during a step.
            spare_stages: vec![vec![1; staged as usize]],
            turns: BTreeMap::new(),
            waiting: (0..request.ports).map(|_| VecDeque::new()).collect(),
            spare: Vec::new(),
            scratch: vec![1; largest as usize],
        }
    }

    /// Runs the steps that are released to it until it is told to end. Does not return.
    pub fn serve(mut self) -> ! {
        let mut seen = 0;
        loop {
            let (generation, phase) = self.board.wait_for_release(seen);
            seen = generation;
            match phase {
                Phase::Probe => self.probe(),
                Phase::Reset => self.workspaces.write(self.workspace(), &self.first),
                Phase::Run => {
                    if let Err((step, why)) = self.run() {
                        let when = step.map_or_else(|| self.board.when(), When::Step);
                        self.board.fail(&Fault::Failed { who: Who::Rank(self.number), when, why });
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

    /// Does the rank's part of all steps, each once it is released. A fault comes with its step, if that is known.
    fn run(&mut self) -> Result<(), (Option<usize>, String)> {
        let takes_part: Vec<bool> =
            self.request.parties.iter().map(|party| party.binary_search(&self.number).is_ok()).collect();
        let mut left = self.request.steps.iter().filter(|step| takes_part[step.party as usize]).count();
        self.heard = 0;
        self.has_ended = vec![false; self.request.steps.len()];
        while left > 0 {
            self.transport.look();
            let seen = self.board.bell(self.number as usize).seen();
            self.hear();
            self.begin();
            self.receive().map_err(|(step, why)| (Some(step), why))?;
            self.send().map_err(|why| (None, why))?;
            self.transport.flush();
            left -= self.finish().map_err(|(step, why)| (Some(step), why))?;
            let next_ns = self.under_way.iter().filter_map(|one| self.next_ns(one)).min();
            if left > 0 && self.under_way.is_empty() {
                self.board.bell(self.number as usize).wait(seen, None);
            } else if left > 0 {
                self.transport.wait(next_ns);
            }
        }
        Ok(())
    }

    /// Hears of the steps that were released since.
    fn hear(&mut self) {
        while self.heard < self.board.steps_let_go() {
            let (step, start_ns) = self.board.let_go_as(self.heard);
            self.heard += 1;
            if self.request.party(step).binary_search(&self.number).is_err() {
                continue;
            }
            let released_ns = now_ns();
            self.transport.begin_step();
            let packets = self.own_packets(step);
            let mut of_ports = vec![0; self.request.ports as usize];
            packets.iter().for_each(|(port, header)| of_ports[*port as usize] += u64::from(header.size));
            let head_start_ns = self.transport.head_start_ns(of_ports.into_iter().max().unwrap_or(0));
            let mut staged = self.spare_stages.pop().unwrap_or_default();
            staged.resize(staged.len().max(self.shares[step].staged_bytes as usize), 0);
            self.under_way.push(UnderWay {
                step,
                begins_ns: start_ns + self.request.steps[step].startup_ns + head_start_ns,
                has_begun: false,
                waiting: packets.len(),
                packets,
                handed_over: 0,
                came: 0,
                staged,
                times: RankTimes { released_ns, ..RankTimes::default() },
            });
        }
    }

    /// The packets of all messages, one of each in turn, with the ports that they leave by: those that lead to the next
    /// rank, in turn.
    fn own_packets(&self, step: usize) -> Vec<(u32, Header)> {
        let size = u64::from(self.request.packet_bytes);
        let sent = &self.shares[step].sent;
        let most = sent.iter().map(|sent| sent.bytes.div_ceil(size)).max().unwrap_or(0);
        let mut packets = Vec::new();
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
                packets.push((one.ports[packet as usize % one.ports.len()], header));
            }
        }
        packets
    }

    /// The next moment at which a step begins, or hands a packet over; `None` if it has handed over all.
    fn next_ns(&self, one: &UnderWay) -> Option<u64> {
        (!one.has_begun || one.handed_over < one.packets.len()).then(|| self.due_ns(one))
    }

    /// The moment at which a step's next packet is handed over.
    fn due_ns(&self, one: &UnderWay) -> u64 {
        let spread_ns = u128::from(self.request.steps[one.step].spread_ns);
        one.begins_ns + (spread_ns * one.handed_over as u128 / one.packets.len().max(1) as u128) as u64
    }

    /// Queues the packets of steps whose startup is over, each in its turn.
    fn begin(&mut self) {
        for place in 0..self.under_way.len() {
            while let Some(due_ns) = self.next_ns(&self.under_way[place]) {
                let now_ns = now_ns();
                if now_ns < due_ns {
                    break;
                }
                let one = &mut self.under_way[place];
                if !one.has_begun {
                    one.has_begun = true;
                    one.times.started_ns = now_ns;
                    if self.board.measures() {
                        self.board.running(self.number as usize).count(now_ns - one.begins_ns);
                    }
                }
                if let Some((port, header)) = one.packets.get(one.handed_over) {
                    self.waiting[*port as usize].push_back(Waiting::Own(*header));
                    one.handed_over += 1;
                }
            }
        }
    }

    /// Hands over what waits and finds room.
    fn send(&mut self) -> Result<(), String> {
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
                    break;
                }
                if let Some(one) = self.under_way.iter_mut().find(|one| one.step == next.step()) {
                    one.waiting -= 1;
                }
                if let Waiting::Forwarded(_, payload) = next {
                    self.spare.push(payload);
                }
            }
        }
        Ok(())
    }

    /// Ends the steps in which all has come and gone; returns how many. A fault is of a step.
    fn finish(&mut self) -> Result<usize, (usize, String)> {
        let (number, shares) = (self.number as usize, self.shares);
        let mut finished = 0;
        let mut place = 0;
        while let Some(one) = self.under_way.get_mut(place) {
            let (step, incoming) = (one.step, shares[one.step].incoming_bytes);
            if one.came > incoming {
                return Err((step, format!("{} bytes arrived, and {incoming} were expected", one.came)));
            }
            if one.came == incoming && one.has_begun && one.times.received_ns == 0 {
                one.times.received_ns = now_ns();
            }
            let is_read = !shares[step].received.is_empty()
                && self.request.steps[step].keeps_after.iter().any(|&one| !self.has_ended[one as usize]);
            if one.came < incoming || one.waiting > 0 || !one.has_begun || is_read {
                self.board.set_came(number, step, one.came, incoming);
                place += 1;
                continue;
            }
            let mut one = self.under_way.remove(place);
            one.times.sent_ns = now_ns();
            for received in &shares[step].received {
                self.keep(*received, &one.staged);
            }
            one.times.arrived_ns = now_ns();
            self.board.set_times(step, number, one.times);
            self.board.arrive_in(step, self.request.party(step).len());
            self.spare_stages.push(one.staged);
            self.has_ended[step] = true;
            finished += 1;
            // Another may have waited for it.
            place = 0;
        }
        Ok(finished)
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
    fn keep(&mut self, received: Received, staged: &[u8]) {
        let (program, base) = (&self.request.program, self.workspace());
        for segment in program.segments(received.message) {
            let size = program.size_bytes[segment] as usize;
            let begin = (received.staged_at + self.segment_begins[segment]) as usize;
            let staged = &staged[begin..begin + size];
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
