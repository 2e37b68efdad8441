//! The memory that all processes of a run share: what the controller tells, what ranks and the switch say, the rings.

use std::sync::atomic::Ordering;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::clock::{Bell, wake_all};
use crate::cutoffs::board::{LEAST_PACKETS, MOST_RING};
use crate::fault::{Fault, When, Who};
use crate::lateness::{FOOTPRINT, LatenessLog};
use crate::memory::file_in_memory;
use crate::report::{CircuitUse, RankTimes};
use crate::request::Request;
use crate::ring::{Ring, footprint, span};
use crate::system::Shared;

// The controller's words.
const GENERATION: usize = 0;
const PHASE: usize = 4;
const STEP: usize = 8;
const MEASURES: usize = 12;
const START: usize = 16;
const ARRIVED: usize = 64;
// Words for the commands to the switch, and its answers.
const COMMAND: usize = 128;
const CONFIGURATION: usize = 132;
const ASKED: usize = 136;
const DARK: usize = 144;
const ANSWER: usize = 192;
const ANSWERED: usize = 200;
// The first fault that a process finds.
const FAULT: usize = 256;
const FAULT_LEN: usize = 260;
const FAULT_TEXT: usize = 264;
const FAULT_MOST: usize = 512;
const PROCESSES: usize = 1024;
// Words of a process.
const RUNG: usize = 0;
const SLEEPS: usize = 4;
const GRANTED: usize = 8;
const DONE: usize = 12;
const CAME: usize = 16;
const WANTED: usize = 24;
const PROBE: usize = 64;
const RUNNING: usize = PROBE + FOOTPRINT;
const PROCESS: usize = (RUNNING + FOOTPRINT).next_multiple_of(64);

const TIMES: usize = 48;
const USE: usize = 24;
// Room for the packets that come while a switch or rank wakes late.
const SLACK_NS: f64 = 20e6;

/// The task that ranks are let go for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Sleep, and say how late that ends.
    Probe,
    /// Put the first data back.
    Reset,
    /// Carry a step out.
    Step,
    /// End.
    Quit,
}

const PHASES: [Phase; 4] = [Phase::Probe, Phase::Reset, Phase::Step, Phase::Quit];

/// The shared memory of a run.
#[derive(Debug)]
pub struct Board {
    memory: Shared,
    controller: OwnedFd,
    switch: OwnedFd,
    ranks: usize,
    ports: usize,
    steps: usize,
    ring_bytes: usize,
    times: usize,
    uses: usize,
    rings: usize,
}

impl Board {
    /// Memory for a run, all zero.
    pub fn new(request: &Request) -> Result<Self, Fault> {
        let (ranks, ports, steps) = (request.program.ranks as usize, request.all_ports(), request.steps.len());
        let ring_bytes = if request.namespaces.is_none() { ring_bytes(request) } else { 0 };
        let times = PROCESSES + (ranks + 1) * PROCESS;
        let uses = times + steps * ranks * TIMES;
        let rings = (uses + steps * ports * USE).next_multiple_of(4096);
        let len = rings + 2 * ports * footprint(ring_bytes);
        let file = file_in_memory("lightloom-run", len as u64)?;
        let memory = Shared::map(&file, len).map_err(|error| Fault::system("memory", error))?;
        let bell = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let [controller, switch] = [bell(), bell()].map(|made| made.map_err(|error| Fault::system("eventfd", error)));
        Ok(Self {
            memory,
            controller: controller?,
            switch: switch?,
            ranks,
            ports,
            steps,
            ring_bytes,
            times,
            uses,
            rings,
        })
    }

    /// The memory itself.
    pub fn memory(&self) -> &Shared {
        &self.memory
    }

    /// The descriptor at which the controller waits in addition to its children.
    pub fn controller_bell(&self) -> BorrowedFd<'_> {
        self.controller.as_fd()
    }

    /// Where a rank sleeps for packets; the switch is the process after the last rank.
    pub fn bell(&self, process: usize) -> Bell<'_> {
        let base = PROCESSES + process * PROCESS;
        Bell { rung: self.memory.word(base + RUNG), sleeps: self.memory.word(base + SLEEPS) }
    }

    /// The descriptor at which a switch waits that cannot sleep at a word, since it hears of more than commands.
    pub fn switch_descriptor(&self) -> BorrowedFd<'_> {
        self.switch.as_fd()
    }

    /// Where the switch sleeps.
    pub fn switch_bell(&self) -> Bell<'_> {
        self.bell(self.ranks)
    }

    /// Packets from a rank's port to the switch.
    pub fn outbound(&self, port: usize) -> Ring<'_> {
        Ring::new(&self.memory, self.rings + 2 * port * footprint(self.ring_bytes), self.ring_bytes)
    }

    /// Packets from the switch to a rank's port.
    pub fn inbound(&self, port: usize) -> Ring<'_> {
        Ring::new(&self.memory, self.rings + (2 * port + 1) * footprint(self.ring_bytes), self.ring_bytes)
    }

    /// Lets all ranks go. `start_ns`: of the clock, when startup begins.
    pub fn release(&self, phase: Phase, step: usize, start_ns: u64) {
        self.memory.word(ARRIVED).store(0, Ordering::Relaxed);
        self.memory.word(PHASE).store(phase as u32, Ordering::Relaxed);
        self.memory.word(STEP).store(step as u32, Ordering::Relaxed);
        self.memory.long(START).store(start_ns, Ordering::Relaxed);
        self.memory.word(GENERATION).fetch_add(1, Ordering::Release);
        wake_all(self.memory.word(GENERATION));
        if phase == Phase::Quit {
            self.ring_switch();
        }
    }

    /// Waits until ranks are let go again; `seen` is what it returned the time before, at first 0.
    pub fn wait_for_release(&self, seen: u32) -> (u32, Phase, usize, u64) {
        let word = self.memory.word(GENERATION);
        loop {
            let generation = word.load(Ordering::Acquire);
            if generation != seen {
                let (phase, step) = (self.phase(), self.memory.word(STEP).load(Ordering::Relaxed) as usize);
                return (generation, phase, step, self.memory.long(START).load(Ordering::Relaxed));
            }
            crate::clock::wait_while(word, seen, None);
        }
    }

    /// The task that ranks were let go for last.
    pub fn phase(&self) -> Phase {
        PHASES[self.memory.word(PHASE).load(Ordering::Relaxed) as usize]
    }

    /// The step of that.
    fn step(&self) -> When {
        match self.phase() {
            Phase::Step => When::Step(self.memory.word(STEP).load(Ordering::Relaxed) as usize),
            Phase::Quit => When::After,
            Phase::Probe | Phase::Reset => When::Before,
        }
    }

    /// A rank has done what it was let go for; the last one wakes the controller.
    pub fn arrive(&self, rank: usize, generation: u32) {
        self.memory.word(PROCESSES + rank * PROCESS + DONE).store(generation, Ordering::Relaxed);
        if self.memory.word(ARRIVED).fetch_add(1, Ordering::AcqRel) + 1 == self.ranks as u32 {
            self.ring_controller();
        }
    }

    /// Ranks that have arrived.
    pub fn arrived(&self) -> usize {
        self.memory.word(ARRIVED).load(Ordering::Acquire) as usize
    }

    /// A rank says how many bytes have come to it, of how many that will in its step.
    pub fn set_came(&self, rank: usize, came: u64, wanted: u64) {
        let base = PROCESSES + rank * PROCESS;
        self.memory.long(base + CAME).store(came, Ordering::Relaxed);
        self.memory.long(base + WANTED).store(wanted, Ordering::Relaxed);
    }

    /// The bytes that came to a rank, and that will, as it said last.
    pub fn came(&self, rank: usize) -> (u64, u64) {
        let base = PROCESSES + rank * PROCESS;
        let [came, wanted] = [CAME, WANTED].map(|at| self.memory.long(base + at).load(Ordering::Relaxed));
        (came, wanted)
    }

    /// Ranks that have not arrived.
    pub fn missing(&self) -> Vec<u32> {
        let generation = self.memory.word(GENERATION).load(Ordering::Relaxed);
        let done = |rank| self.memory.word(PROCESSES + rank * PROCESS + DONE).load(Ordering::Relaxed);
        (0..self.ranks).filter(|&rank| done(rank) != generation).map(|rank| rank as u32).collect()
    }

    /// Wakes the controller.
    pub fn ring_controller(&self) {
        let _ = rustix::io::write(&self.controller, &1u64.to_ne_bytes());
    }

    /// Tells the switch to make a configuration.
    pub fn command(&self, configuration: usize, asked_ns: u64, dark_ns: u64) {
        self.memory.word(CONFIGURATION).store(configuration as u32, Ordering::Relaxed);
        self.memory.long(ASKED).store(asked_ns, Ordering::Relaxed);
        self.memory.long(DARK).store(dark_ns, Ordering::Relaxed);
        self.memory.word(COMMAND).fetch_add(1, Ordering::Release);
        self.ring_switch();
    }

    fn ring_switch(&self) {
        self.switch_bell().ring();
        let _ = rustix::io::write(&self.switch, &1u64.to_ne_bytes());
    }

    /// The command after those that were `seen`: its number, the configuration, when it was asked for, the dark time.
    pub fn commanded(&self, seen: u32) -> Option<(u32, usize, u64, u64)> {
        let number = self.memory.word(COMMAND).load(Ordering::Acquire);
        (number != seen).then(|| {
            let configuration = self.memory.word(CONFIGURATION).load(Ordering::Relaxed) as usize;
            let [asked_ns, dark_ns] = [ASKED, DARK].map(|at| self.memory.long(at).load(Ordering::Relaxed));
            (number, configuration, asked_ns, dark_ns)
        })
    }

    /// The switch has carried a command out, at a moment.
    pub fn acknowledge(&self, number: u32, at_ns: u64) {
        self.memory.long(ANSWERED).store(at_ns, Ordering::Relaxed);
        self.memory.word(ANSWER).store(number, Ordering::Release);
        self.ring_controller();
    }

    /// When the last command was carried out, if it was.
    pub fn acknowledged(&self) -> Option<u64> {
        let is_done =
            self.memory.word(ANSWER).load(Ordering::Acquire) == self.memory.word(COMMAND).load(Ordering::Relaxed);
        is_done.then(|| self.memory.long(ANSWERED).load(Ordering::Relaxed))
    }

    /// Whether lateness is counted from now on.
    pub fn measure(&self, measures: bool) {
        self.memory.word(MEASURES).store(u32::from(measures), Ordering::Relaxed);
    }

    /// Whether lateness is counted.
    pub fn measures(&self) -> bool {
        self.memory.word(MEASURES).load(Ordering::Relaxed) != 0
    }

    /// Lateness of a process's sleeps in the probe.
    pub fn probe(&self, process: usize) -> LatenessLog<'_> {
        LatenessLog::new(&self.memory, PROCESSES + process * PROCESS + PROBE)
    }

    /// Lateness of a process while runs are measured.
    pub fn running(&self, process: usize) -> LatenessLog<'_> {
        LatenessLog::new(&self.memory, PROCESSES + process * PROCESS + RUNNING)
    }

    /// A process says whether it got real-time priority.
    pub fn grant(&self, process: usize, real_time: bool) {
        self.memory.word(PROCESSES + process * PROCESS + GRANTED).store(u32::from(real_time), Ordering::Relaxed);
    }

    /// Whether all processes got real-time priority.
    pub fn all_granted(&self) -> bool {
        let granted = |process| self.memory.word(PROCESSES + process * PROCESS + GRANTED).load(Ordering::Relaxed) != 0;
        (0..=self.ranks).all(granted)
    }

    /// A rank says what it did in a step.
    pub fn set_times(&self, step: usize, rank: usize, times: RankTimes) {
        let RankTimes { released_ns, started_ns, sent_ns, received_ns, arrived_ns, forwarded_bytes } = times;
        let base = self.times + (step * self.ranks + rank) * TIMES;
        for (place, value) in
            [released_ns, started_ns, sent_ns, received_ns, arrived_ns, forwarded_bytes].into_iter().enumerate()
        {
            self.memory.long(base + 8 * place).store(value, Ordering::Relaxed);
        }
    }

    /// A rank's times of a step.
    pub fn times(&self, step: usize, rank: usize) -> RankTimes {
        let base = self.times + (step * self.ranks + rank) * TIMES;
        let [released_ns, started_ns, sent_ns, received_ns, arrived_ns, forwarded_bytes] =
            [0, 1, 2, 3, 4, 5].map(|place| self.memory.long(base + 8 * place).load(Ordering::Relaxed));
        RankTimes { released_ns, started_ns, sent_ns, received_ns, arrived_ns, forwarded_bytes }
    }

    /// The switch says that a packet crossed a circuit.
    pub fn count_use(&self, step: usize, port: usize, bytes: u64, first_ns: u64, last_ns: u64) {
        if step >= self.steps {
            return;
        }
        let base = self.uses + (step * self.ports + port) * USE;
        if self.memory.long(base).fetch_add(bytes, Ordering::Relaxed) == 0 {
            self.memory.long(base + 8).store(first_ns, Ordering::Relaxed);
        }
        self.memory.long(base + 16).store(last_ns, Ordering::Relaxed);
    }

    /// The traffic over the circuit of a transmitter in a step; counted from nothing again afterwards.
    pub fn take_use(&self, step: usize, port: usize) -> CircuitUse {
        let base = self.uses + (step * self.ports + port) * USE;
        let [bytes, first_ns, last_ns] = [0, 8, 16].map(|at| self.memory.long(base + at).swap(0, Ordering::Relaxed));
        CircuitUse { bytes, first_ns, last_ns }
    }

    /// A process says what ends the run, unless another did so before; the controller ends them all.
    pub fn fail(&self, fault: &Fault) {
        let word = self.memory.word(FAULT);
        if word.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        let text = fault.to_string();
        let text = &text.as_bytes()[..text.len().min(FAULT_MOST)];
        self.memory.write(FAULT_TEXT, text);
        self.memory.word(FAULT_LEN).store(text.len() as u32, Ordering::Relaxed);
        word.store(2, Ordering::Release);
        self.ring_controller();
    }

    /// The fault that a process reports of itself as `who`, where it stands now.
    pub fn failed(&self, who: Who, why: String) -> Fault {
        Fault::Failed { who, when: self.step(), why }
    }

    /// The reason that ends the run, if a process found a fault.
    pub fn failure(&self) -> Option<String> {
        if self.memory.word(FAULT).load(Ordering::Acquire) != 2 {
            return None;
        }
        let mut text = vec![0; (self.memory.word(FAULT_LEN).load(Ordering::Relaxed) as usize).min(FAULT_MOST)];
        self.memory.read(FAULT_TEXT, &mut text);
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// The step in which the run is.
    pub fn when(&self) -> When {
        self.step()
    }
}

/// Bytes of a ring: what is on its way and what waits for a process that wakes late, but no more than a step ever
/// sends.
fn ring_bytes(request: &Request) -> usize {
    let packet = span(request.packet_bytes as usize);
    let per_ns = if request.ns_per_byte > 0.0 { 1.0 / request.ns_per_byte } else { f64::INFINITY };
    let wanted = ((2.0 * request.hop_ns as f64 + SLACK_NS) * per_ns).min(MOST_RING as f64) as u64;
    let program = &request.program;
    let step_bytes = |step| program.of_step(step).map(|message| program.message_bytes(message)).sum::<u64>();
    let most_sent = (0..request.steps.len()).map(step_bytes).max().unwrap_or(0);
    let headers = most_sent.div_ceil(u64::from(request.packet_bytes)) * span(0);
    wanted.min(most_sent + headers).max(LEAST_PACKETS * packet) as usize
}
