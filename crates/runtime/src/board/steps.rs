//! The steps of a run, as they are released, and what ranks and circuits did in them.

use std::sync::atomic::Ordering;

use super::{Board, LET_GO, PROCESS, PROCESSES, RELEASE, TIMES, USE};
use crate::report::{CircuitUse, RankTimes};

// Words of a process: the bytes that came to it, those that will, and in which step.
const CAME: usize = 16;
const WANTED: usize = 24;
const CAME_IN: usize = 32;

impl Board {
    /// No step of a run is released, and no rank has arrived in one.
    pub(super) fn begin_run(&self) {
        self.memory.word(LET_GO).store(0, Ordering::Relaxed);
        for step in 0..self.steps {
            self.memory.word(self.arrivals + 4 * step).store(0, Ordering::Relaxed);
            (0..self.ranks).for_each(|rank| self.set_times(step, rank, RankTimes::default()));
        }
    }

    /// Lets ranks go for a step. `start_ns`: of the clock, when startup begins.
    pub fn let_go(&self, step: usize, start_ns: u64, ranks: &[u32]) {
        let count = self.steps_let_go();
        let base = self.releases + count * RELEASE;
        self.memory.long(base).store(step as u64, Ordering::Relaxed);
        self.memory.long(base + 8).store(start_ns, Ordering::Relaxed);
        self.memory.word(LET_GO).store(count as u32 + 1, Ordering::Release);
        ranks.iter().for_each(|&rank| self.bell(rank as usize).ring());
    }

    /// The number of steps of the run that have been released.
    pub fn steps_let_go(&self) -> usize {
        self.memory.word(LET_GO).load(Ordering::Acquire) as usize
    }

    /// The step that was released after this many others, and when its startup begins.
    pub fn let_go_as(&self, place: usize) -> (usize, u64) {
        let base = self.releases + place * RELEASE;
        let [step, start_ns] = [0, 8].map(|at| self.memory.long(base + at).load(Ordering::Relaxed));
        (step as usize, start_ns)
    }

    /// A rank has done its part of a step; the last one of this many wakes the controller.
    pub fn arrive_in(&self, step: usize, party: usize) {
        if self.memory.word(self.arrivals + 4 * step).fetch_add(1, Ordering::AcqRel) + 1 == party as u32 {
            self.ring_controller();
        }
    }

    /// Ranks that have done their part of a step.
    pub fn arrived_in(&self, step: usize) -> usize {
        self.memory.word(self.arrivals + 4 * step).load(Ordering::Acquire) as usize
    }

    /// A rank says how many bytes have come to it in a step, of how many that will.
    pub fn set_came(&self, rank: usize, step: usize, came: u64, wanted: u64) {
        let base = PROCESSES + rank * PROCESS;
        self.memory.long(base + CAME_IN).store(step as u64, Ordering::Relaxed);
        self.memory.long(base + CAME).store(came, Ordering::Relaxed);
        self.memory.long(base + WANTED).store(wanted, Ordering::Relaxed);
    }

    /// The bytes that came to a rank in a step, and that will, if it said so last of that step.
    pub fn came(&self, rank: usize, step: usize) -> Option<(u64, u64)> {
        let base = PROCESSES + rank * PROCESS;
        let [of, came, wanted] = [CAME_IN, CAME, WANTED].map(|at| self.memory.long(base + at).load(Ordering::Relaxed));
        (of == step as u64).then_some((came, wanted))
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
}
