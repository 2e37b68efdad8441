//! A rank of a group: how it joins, meets the others and leaves.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::control::Control;
use super::messages::Messages;
use super::peers::Peers;
use super::segment::Segment;
use crate::request::MOST_RANKS;

/// One rank of a group of processes.
#[derive(Debug)]
pub struct Member {
    pub(super) rank: u32,
    pub(super) ranks: u32,
    pub(super) control: Control,
    pub(super) peers: Peers,
    /// What the calls of all ranks have in common, one call at a time.
    calls: Mutex<Calls>,
    pub(super) messages: Mutex<Messages>,
}

/// The state that a rank's calls share.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Collectives so far.
    pub made: u64,
    pub segment: Segment,
    pub scratch: Vec<u8>,
}

impl Member {
    /// The first rank of a group, which makes its memory; others join it by `Member::address`.
    ///
    /// # Errors
    /// In words: more ranks than one machine takes, or memory that the system does not give.
    pub fn create(ranks: u32, ports: u32) -> Result<Self, String> {
        check(0, ranks)?;
        Self::of(0, ranks, Control::create(ranks, ranks * ports)?)
    }

    /// Another rank of a group.
    ///
    /// # Errors
    /// In words: an address that no process of this machine has.
    pub fn join(rank: u32, ranks: u32, ports: u32, address: &str) -> Result<Self, String> {
        check(rank, ranks)?;
        Self::of(rank, ranks, Control::join(ranks, ranks * ports, address)?)
    }

    fn of(rank: u32, ranks: u32, control: Control) -> Result<Self, String> {
        control.enter(rank);
        let peers = Peers::new(ranks);
        let messages = Messages::new(rank, ranks);
        Ok(Self { rank, ranks, control, peers, calls: Mutex::default(), messages: Mutex::new(messages) })
    }

    /// Where others find the memory of the group, while this process is there.
    pub fn address(&self) -> String {
        self.control.address()
    }

    /// Collectives that this rank has taken part in.
    pub fn calls(&self) -> u64 {
        self.lock().made
    }

    /// Waits until all ranks have come. `call` says what for, the same at all ranks.
    ///
    /// # Errors
    /// The fault of the group, in words: the same at every rank.
    pub fn meet(&self, call: &str, timeout_ns: u64) -> Result<(), String> {
        let mut calls = self.lock();
        self.agree(&mut calls, call, timeout_ns, || Ok(()))
    }

    /// Looks whether the group can go on, while something else is waited for.
    ///
    /// # Errors
    /// As those of `meet`.
    pub fn watch(&self, what: &str) -> Result<(), String> {
        let all: Vec<u32> = (0..self.ranks).collect();
        self.check(what, &all)
    }

    /// The numbers of all ranks, by rank, at most one for each rank of the group.
    ///
    /// # Errors
    /// As those of `meet`.
    pub fn share(&self, call: &str, numbers: &[u64], timeout_ns: u64) -> Result<Vec<Vec<u64>>, String> {
        let mut calls = self.lock();
        self.control.tell(self.rank, numbers);
        self.agree(&mut calls, call, timeout_ns, || Ok(()))?;
        let told = (0..self.ranks).map(|rank| self.control.told(rank)).collect();
        // Nobody says anything new before all have read.
        self.gather(call, timeout_ns, || Ok(()))?;
        Ok(told)
    }

    /// Ends the group: every rank that waits, or comes later, gets these words.
    pub fn abort(&self, why: &str) {
        self.control.fail(why);
    }

    /// What ended the group, if something did.
    pub fn failure(&self) -> Option<String> {
        self.control.failure()
    }

    /// Says that this rank takes part in nothing more, so that its end is no fault.
    pub fn leave(&self) {
        // A process that was forked from the rank is not the rank.
        if self.control.process(self.rank) == std::process::id() {
            self.control.leave(self.rank);
            self.control.bell(self.rank).ring();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Meets for the next collective, which all ranks call the same.
    pub(super) fn agree(
        &self,
        calls: &mut Calls,
        call: &str,
        timeout_ns: u64,
        last: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        calls.made += 1;
        self.compare(&format!("{call}, its collective {}", calls.made), timeout_ns, last)
    }

    /// Meets for something that all ranks call the same.
    pub(super) fn compare(
        &self,
        call: &str,
        timeout_ns: u64,
        last: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        self.control.call(self.rank, call);
        self.gather(call, timeout_ns, || {
            self.control.compare_calls()?;
            last()
        })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave();
    }
}

fn check(rank: u32, ranks: u32) -> Result<(), String> {
    if !(1..=MOST_RANKS).contains(&ranks) || rank >= ranks {
        return Err(format!("rank {rank} of {ranks}: a group has 1 to {MOST_RANKS} ranks, counted from 0"));
    }
    Ok(())
}
