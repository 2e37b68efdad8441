//! Time in nanoseconds of the monotonic clock, which all processes share, and waiting until a moment of it.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOSECONDS: u64 = 1_000_000_000;

/// Nanoseconds of the monotonic clock.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NANOSECONDS + now.tv_nsec as u64
}

/// The moment, or a length of time, as the system takes it.
pub fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NANOSECONDS) as i64, tv_nsec: (ns % NANOSECONDS) as i64 }
}

/// Sleeps until a moment; returns by how many nanoseconds it woke too late.
pub fn sleep_until(moment_ns: u64) -> u64 {
    while now_ns() < moment_ns {
        // An interrupted sleep goes on.
        let _ = clock_nanosleep_absolute(SleepClock::Monotonic, &timespec(moment_ns));
    }
    now_ns().saturating_sub(moment_ns)
}

/// Waits until the word no longer has the value, somebody wakes its waiters, or a moment has come.
pub fn wait_while(word: &AtomicU32, value: u32, until_ns: Option<u64>) {
    let until = until_ns.map(timespec);
    // A process that is woken looks again, for any reason of waking.
    let woken = futex::wait_bitset(word, Flags::empty(), value, until.as_ref(), NonZeroU32::MAX);
    debug_assert!(matches!(woken, Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT)), "{woken:?}");
}

/// Wakes all that wait at a word, which the caller has changed.
pub fn wake_all(word: &AtomicU32) {
    let _ = futex::wake(word, Flags::empty(), i32::MAX as u32);
}

/// A word that processes sleep at and others ring.
#[derive(Debug, Clone, Copy)]
pub struct Bell<'a> {
    /// Counts rings.
    pub rung: &'a AtomicU32,
    /// Counts the processes that sleep, or are about to; one that was killed is counted for ever, which only costs time.
    pub sleeps: &'a AtomicU32,
}

impl Bell<'_> {
    /// The number of times that it was rung: to be read before looking for work, and given to `wait`.
    pub fn seen(&self) -> u32 {
        self.rung.load(Ordering::SeqCst)
    }

    /// Says that there is work. The count goes up in any case, so that a process that is about to sleep does not.
    pub fn ring(&self) {
        self.rung.fetch_add(1, Ordering::SeqCst);
        if self.sleeps.load(Ordering::SeqCst) != 0 {
            wake_all(self.rung);
        }
    }

    /// Sleeps unless it was rung since `seen`, until it is rung or a moment has come.
    pub fn wait(&self, seen: u32, until_ns: Option<u64>) {
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        wait_while(self.rung, seen, until_ns);
        self.sleeps.fetch_sub(1, Ordering::SeqCst);
    }
}
