//! The memory that all processes of a run share: what the controller tells, what ranks and the switch say, the rings.

mod commands;
mod steps;

use std::sync::atomic::Ordering;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::clock::{Bell, wake_all};
use crate::cutoffs::board::{LEAST_PACKETS, MOST_RING};
use crate::fault::{Fault, When, Who};
use crate::lateness::{FOOTPRINT, LatenessLog};
use crate::memory::file_in_memory;
use crate::request::Request;
use crate::ring::{Ring, footprint, span};
use crate::system::Shared;

// The controller's words.
const GENERATION: usize = 0;
const PHASE: usize = 4;
const LET_GO: usize = 8;
const MEASURES: usize = 12;
const ARRIVED: usize = 64;
// The number of commands that the switch has been given.
const COMMANDS: usize = 128;
// The first fault that a process finds.
const FAULT: usize = 256;
const FAULT_LEN: usize = 260;
const FAULT_TEXT: usize = 264;
const FAULT_MOST: usize = 512;
const PROCESSES: usize = 1024;
// Bytes of a command to the switch, of a rank's times of a step, of a circuit's use in one, and of the release of one.
const COMMAND: usize = 40;
const TIMES: usize = 48;
const USE: usize = 24;
const RELEASE: usize = 16;
// Words of a process; those from 16 on are of the steps.
const RUNG: usize = 0;
const SLEEPS: usize = 4;
const GRANTED: usize = 8;
const DONE: usize = 12;
const PROBE: usize = 64;
const RUNNING: usize = PROBE + FOOTPRINT;
const PROCESS: usize = (RUNNING + FOOTPRINT).next_multiple_of(64);

// Room for the packets that come while a switch or rank wakes late.
const SLACK_NS: f64 = 20e6;

/// The task that ranks are released for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Sleep, and say how late that ends.
    Probe,
    /// Put the first data back.
    Reset,
    /// Carry out the steps of a run, as they are released.
    Run,
    /// End.
    Quit,
}

const PHASES: [Phase; 4] = [Phase::Probe, Phase::Reset, Phase::Run, Phase::Quit];

/// A command to the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Number of the command, from 1.
    pub number: u32,
    /// Index of the configuration before it; `None` where it begins with the circuits that there are.
    pub from: Option<u32>,
    /// Index of the configuration that it makes.
    pub configuration: u32,
    /// The time at which it was asked for.
    pub asked_ns: u64,
    /// Nanoseconds for which ports that change are dark.
    pub dark_ns: u64,
}

/// The shared memory of a run.
#[derive(Debug)]
pub struct Board {
    memory: Shared,
    controller: OwnedFd,
    switch: OwnedFd,
    ranks: usize,
    ports: usize,
    steps: usize,
    commands: usize,
    ring_bytes: usize,
    times: usize,
    uses: usize,
    releases: usize,
    arrivals: usize,
    orders: usize,
    rings: usize,
}

impl Board {
    /// Memory for a run, all zero.
    pub fn new(request: &Request) -> Result<Self, Fault> {
        let (ranks, ports, steps) = (request.program.ranks as usize, request.all_ports(), request.steps.len());
        let ring_bytes = if request.namespaces.is_none() { ring_bytes(request) } else { 0 };
        let times = PROCESSES + (ranks + 1) * PROCESS;
        let uses = times + steps * ranks * TIMES;
        let releases = uses + steps * ports * USE;
        let arrivals = releases + steps * RELEASE;
        let orders = (arrivals + 4 * steps).next_multiple_of(8);
        // The configuration that is there at first is a command, too.
        let commands = request.changes.len() + 1;
        let rings = (orders + commands * COMMAND).next_multiple_of(4096);
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
            commands,
            ring_bytes,
            times,
            uses,
            releases,
            arrivals,
            orders,
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

    /// The place where a rank sleeps for packets; the switch is the process after the last rank.
    pub fn bell(&self, process: usize) -> Bell<'_> {
        let base = PROCESSES + process * PROCESS;
        Bell { rung: self.memory.word(base + RUNG), sleeps: self.memory.word(base + SLEEPS) }
    }

    /// The descriptor at which a switch waits that cannot sleep at a word, since it hears of more than commands.
    pub fn switch_descriptor(&self) -> BorrowedFd<'_> {
        self.switch.as_fd()
    }

    /// The place where the switch sleeps.
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

    /// Lets all ranks go.
    pub fn release(&self, phase: Phase) {
        if phase == Phase::Run {
            self.begin_run();
        }
        self.memory.word(ARRIVED).store(0, Ordering::Relaxed);
        self.memory.word(PHASE).store(phase as u32, Ordering::Relaxed);
        self.memory.word(GENERATION).fetch_add(1, Ordering::Release);
        wake_all(self.memory.word(GENERATION));
        if phase == Phase::Quit {
            self.ring_switch();
        }
    }

    /// Waits until ranks are released again; `seen` is the value that the last call returned, at first 0.
    pub fn wait_for_release(&self, seen: u32) -> (u32, Phase) {
        let word = self.memory.word(GENERATION);
        loop {
            let generation = word.load(Ordering::Acquire);
            if generation != seen {
                return (generation, self.phase());
            }
            crate::clock::wait_while(word, seen, None);
        }
    }

    /// The task that ranks were released for last.
    pub fn phase(&self) -> Phase {
        PHASES[self.memory.word(PHASE).load(Ordering::Relaxed) as usize]
    }

    /// The place in the run: the step that was released last.
    pub fn when(&self) -> When {
        match (self.phase(), self.steps_let_go().checked_sub(1)) {
            (Phase::Run, Some(last)) => When::Step(self.let_go_as(last).0),
            (Phase::Quit, _) => When::After,
            _ => When::Before,
        }
    }

    /// A rank has done what it was released for; the last one wakes the controller.
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

    fn ring_switch(&self) {
        self.switch_bell().ring();
        let _ = rustix::io::write(&self.switch, &1u64.to_ne_bytes());
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
        Fault::Failed { who, when: self.when(), why }
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
