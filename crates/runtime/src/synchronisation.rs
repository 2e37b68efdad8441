//! The cost of all ranks waiting for each other: processes that do nothing else, round after round.

use std::sync::atomic::Ordering;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::barrier::{Kind, LINE};
use crate::barriers::REGISTRY;
use crate::children::Children;
use crate::clock::{now_ns, sleep_until, timespec};
use crate::fault::{Fault, When, Who};
use crate::memory::file_in_memory;
use crate::system::Shared;

/// Rounds that are not measured, after which all ranks are there and caches are warm.
const WARM_UP: u32 = 100;
/// Time after which rounds end as a fault, and the time more for each rank and round.
const DEADLINE_NS: u64 = 20_000_000_000;
const DEADLINE_PER_ROUND_NS: u64 = 200_000;
/// Time for which ranks that are done sleep, until the process that started them ends them.
const HOUR_NS: u64 = 3_600_000_000_000;

/// Name, summary and source of every barrier.
pub fn barriers() -> Vec<[&'static str; 3]> {
    REGISTRY.iter().map(|kind| [kind.name, kind.summary, kind.source]).collect()
}

/// Nanoseconds of every round of a barrier, as the first rank has them; `ranks` processes wait for each other.
///
/// The calling process has one thread. It ends with the process `owner` that started it.
///
/// # Errors
/// In words: an unknown name, a process that ended, or that did not end in time.
pub fn barrier_rounds(name: &str, ranks: u32, rounds: u32, owner: u32) -> Result<Vec<u32>, String> {
    let kind =
        REGISTRY.iter().find(|kind| kind.name == name).ok_or_else(|| format!("no barrier is called `{name}`"))?;
    let is_owned = || getppid().is_some_and(|parent| parent.as_raw_nonzero().get() as u32 == owner);
    // The owner may end before it is watched.
    if !is_owned() || set_parent_process_death_signal(Some(Signal::KILL)).is_err() || !is_owned() {
        return Err("the process that asked for the measurement ended".into());
    }
    measured(kind, ranks as usize, rounds).map_err(|fault| fault.to_string())
}

fn measured(kind: &Kind, ranks: usize, rounds: u32) -> Result<Vec<u32>, Fault> {
    let refused = |error: &dyn std::fmt::Display| Fault::system("memory", error);
    // The memory holds a word that counts the ranks that are done, then the times of the rounds.
    let times = LINE;
    let barrier = (times + 4 * rounds as usize).next_multiple_of(LINE);
    let own = Shared::map(file_in_memory("rounds", barrier as u64)?, barrier).map_err(|error| refused(&error))?;
    let bytes = (kind.footprint)(ranks).max(1);
    let memory = Shared::map(file_in_memory("barrier", bytes as u64)?, bytes).map_err(|error| refused(&error))?;
    let bell = eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| refused(&error))?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let mut children = Children::default();
    for rank in 0..ranks {
        children.start(Who::Rank(rank as u32), || {
            memory.touch();
            own.touch();
            let waiting = (kind.make)(&memory, ranks, ranks <= cores);
            let mut before_ns = now_ns();
            for round in 1..=WARM_UP + rounds {
                waiting.wait(rank, round);
                if rank == 0 {
                    let after_ns = now_ns();
                    let took_ns = u32::try_from(after_ns - before_ns).unwrap_or(u32::MAX);
                    if let Some(place) = round.checked_sub(WARM_UP + 1) {
                        own.word(times + 4 * place as usize).store(took_ns, Ordering::Relaxed);
                    }
                    before_ns = after_ns;
                }
            }
            if own.word(0).fetch_add(1, Ordering::AcqRel) + 1 == ranks as u32 {
                let _ = rustix::io::write(&bell, &1u64.to_ne_bytes());
            }
            loop {
                sleep_until(now_ns() + HOUR_NS);
            }
        })?;
    }
    let allowed_ns = DEADLINE_NS + DEADLINE_PER_ROUND_NS * u64::from(rounds) * ranks as u64;
    let end_ns = now_ns() + allowed_ns;
    while own.word(0).load(Ordering::Acquire) < ranks as u32 {
        let left_ns = end_ns.saturating_sub(now_ns());
        if left_ns == 0 {
            let who = Who::Ranks(ranks as u32, 0);
            let what = format!("end {rounds} rounds");
            return Err(Fault::Late { who, what, seconds: allowed_ns as f64 / 1e9, when: When::Before });
        }
        let mut polled: Vec<PollFd<'_>> = vec![PollFd::new(&bell, PollFlags::IN)];
        polled.extend(children.descriptors().map(|child| PollFd::from_borrowed_fd(child, PollFlags::IN)));
        match poll(&mut polled, Some(&timespec(left_ns))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Fault::system("waiting for processes", error)),
        }
        if let Some(fault) = children.ended(When::Before) {
            return Err(fault);
        }
    }
    Ok((0..rounds as usize).map(|place| own.word(times + 4 * place).load(Ordering::Relaxed)).collect())
}
