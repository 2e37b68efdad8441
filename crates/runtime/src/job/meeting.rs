//! All ranks of a group wait for each other, and hear of one that does not come.

use std::sync::atomic::Ordering;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::member::Member;
use crate::clock::{now_ns, wait_while};
use crate::cutoffs::job::LOOK_NS;

impl Member {
    /// Waits until all ranks have come; the last one does `last` before the others go on.
    pub(super) fn gather(
        &self,
        what: &str,
        timeout_ns: u64,
        last: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        if let Some(fault) = self.control.failure() {
            return Err(fault);
        }
        let word = self.control.generation();
        let generation = word.load(Ordering::Acquire);
        if self.control.arrive(self.rank, generation) {
            last().map_err(|why| self.control.fail(&why))?;
            self.control.release(generation);
            return Ok(());
        }
        let mut spins = self.peers.spins;
        while spins > 0 && word.load(Ordering::Acquire) == generation {
            spins -= 1;
            std::hint::spin_loop();
        }
        let end_ns = now_ns().saturating_add(timeout_ns);
        while word.load(Ordering::Acquire) == generation {
            wait_while(word, generation, Some(end_ns.min(now_ns() + LOOK_NS)));
            if word.load(Ordering::Acquire) != generation {
                break;
            }
            let missing = self.control.missing(generation);
            let ended: Vec<u32> = missing.iter().copied().filter(|&rank| self.has_ended(rank)).collect();
            // A rank may have come, as the last one, and ended since it was missing.
            if word.load(Ordering::Acquire) != generation {
                break;
            }
            self.check(what, &ended)?;
            if now_ns() >= end_ns {
                let who: Vec<String> = missing.iter().map(u32::to_string).collect();
                let (ranks, seconds) = (who.join(", "), timeout_ns as f64 / 1e9);
                let named = if missing.len() == 1 { "rank" } else { "ranks" };
                let late = format!("{named} {ranks} did not come within the timeout of {seconds} s to {what}");
                return Err(self.control.fail(&late));
            }
        }
        Ok(())
    }

    /// Looks whether the group can go on: no fault, and none of these ranks has ended.
    ///
    /// # Errors
    /// The fault of the group.
    pub(super) fn check(&self, what: &str, ranks: &[u32]) -> Result<(), String> {
        if let Some(fault) = self.control.failure() {
            return Err(fault);
        }
        if self.control.has_left(self.rank) {
            return Err(format!("rank {} has left the group", self.rank));
        }
        match ranks.iter().find(|&&rank| rank != self.rank && self.has_ended(rank)) {
            None => Ok(()),
            Some(&rank) if self.control.has_left(rank) => {
                Err(self.control.fail(&format!("rank {rank} has left the group and does not come to {what}")))
            }
            Some(&rank) => {
                let process = self.control.process(rank);
                Err(self.control.fail(&format!("rank {rank} (process {process}) ended before {what} was done")))
            }
        }
    }

    fn has_ended(&self, rank: u32) -> bool {
        let Some(number) = Pid::from_raw(self.control.process(rank).cast_signed()) else { return false };
        let mut descriptors = self.peers.descriptors.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let place = &mut descriptors[rank as usize];
        if place.is_none() {
            match pidfd_open(number, PidfdFlags::empty()) {
                Ok(descriptor) => *place = Some(descriptor),
                // The process is gone, or cannot be watched: only then it is not known whether it is there.
                Err(error) => return error == rustix::io::Errno::SRCH,
            }
        }
        let Some(descriptor) = place.as_ref() else { return false };
        let mut polled = [PollFd::new(descriptor, PollFlags::IN)];
        matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(ready) if ready > 0)
    }
}
