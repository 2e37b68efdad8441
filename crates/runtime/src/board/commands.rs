//! Commands to the switch, several of which may be under way, and its answers.

use std::sync::atomic::Ordering;

use super::{Board, COMMAND, COMMANDS, Command};

// Words of a command: the configurations before and after it, when it was asked for, and the dark time; its number and a
// moment once it is carried out.
const BEFORE: usize = 0;
const AFTER: usize = 4;
const ASKED: usize = 8;
const DARK: usize = 16;
const ANSWERED: usize = 24;
const ANSWER: usize = 32;
// Stands for the circuits that there are.
const WHATEVER: u32 = u32::MAX;
impl Board {
    /// Tells the switch to make a configuration, from another one or from what there is; returns the command's number.
    /// A run gives no more commands than it has changes, and one before.
    pub fn command(&self, from: Option<u32>, configuration: u32, asked_ns: u64, dark_ns: u64) -> u32 {
        let number = self.memory.word(COMMANDS).load(Ordering::Relaxed) + 1;
        let base = self.order(number);
        self.memory.word(base + BEFORE).store(from.unwrap_or(WHATEVER), Ordering::Relaxed);
        self.memory.word(base + AFTER).store(configuration, Ordering::Relaxed);
        self.memory.long(base + ASKED).store(asked_ns, Ordering::Relaxed);
        self.memory.long(base + DARK).store(dark_ns, Ordering::Relaxed);
        self.memory.word(COMMANDS).store(number, Ordering::Release);
        self.ring_switch();
        number
    }

    fn order(&self, number: u32) -> usize {
        self.orders + number as usize % self.commands * COMMAND
    }

    /// The command after the one with the number `seen`, 0 before the first.
    pub fn commanded(&self, seen: u32) -> Option<Command> {
        let given = self.memory.word(COMMANDS).load(Ordering::Acquire);
        (given != seen).then(|| {
            let base = self.order(seen + 1);
            let [from, configuration] = [BEFORE, AFTER].map(|at| self.memory.word(base + at).load(Ordering::Relaxed));
            let [asked_ns, dark_ns] = [ASKED, DARK].map(|at| self.memory.long(base + at).load(Ordering::Relaxed));
            let from = (from != WHATEVER).then_some(from);
            Command { number: seen + 1, from, configuration, asked_ns, dark_ns }
        })
    }

    /// The switch has carried a command out, at a moment.
    pub fn acknowledge(&self, number: u32, at_ns: u64) {
        let base = self.order(number);
        self.memory.long(base + ANSWERED).store(at_ns, Ordering::Relaxed);
        self.memory.word(base + ANSWER).store(number, Ordering::Release);
        self.ring_controller();
    }

    /// The time at which a command was carried out, if it was.
    pub fn acknowledged(&self, number: u32) -> Option<u64> {
        let base = self.order(number);
        let is_done = self.memory.word(base + ANSWER).load(Ordering::Acquire) == number;
        is_done.then(|| self.memory.long(base + ANSWERED).load(Ordering::Relaxed))
    }
}
