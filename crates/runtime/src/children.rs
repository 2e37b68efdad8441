//! The processes of a run: made by forking, ended all together.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, pidfd_open, pidfd_send_signal,
    set_parent_process_death_signal, waitpid,
};

use crate::fault::{Fault, When, Who};
use crate::system::{Forked, end, fork};

/// Exit status of a child where the program itself is at fault.
const PANICKED: i32 = 101;

struct Child {
    who: Who,
    number: Pid,
    descriptor: OwnedFd,
    is_over: bool,
}

/// The processes; those that are left are killed and waited for when this is dropped.
#[derive(Default)]
pub struct Children(Vec<Child>);

impl Children {
    /// Makes a process that does `work`, which does not return; it dies with the process that made it.
    pub fn start(&mut self, who: Who, work: impl FnOnce() -> std::convert::Infallible) -> Result<(), Fault> {
        let refused = |error: &dyn std::fmt::Display| Fault::system(format!("{who} could not be started"), error);
        let parent = getpid();
        match fork().map_err(|error| refused(&error))? {
            Forked::Child => {
                let is_tied = set_parent_process_death_signal(Some(Signal::KILL)).is_ok();
                // The parent may have ended before the line above.
                if !is_tied || getppid() != Some(parent) {
                    end(PANICKED);
                }
                // Nothing may unwind into what the parent was doing.
                let _ = catch_unwind(AssertUnwindSafe(work));
                end(PANICKED)
            }
            Forked::Parent(number) => {
                // The child cannot be reaped by anybody else, so that its number is its own.
                match pidfd_open(number, PidfdFlags::empty()) {
                    Ok(descriptor) => self.0.push(Child { who, number, descriptor, is_over: false }),
                    Err(error) => {
                        let _ = rustix::process::kill_process(number, Signal::KILL);
                        let _ = waitpid(Some(number), WaitOptions::empty());
                        return Err(refused(&error));
                    }
                }
                Ok(())
            }
        }
    }

    /// Descriptors that can be read when their process has ended.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().map(|child| child.descriptor.as_fd())
    }

    /// The first process that has ended, and how.
    pub fn ended(&mut self, when: When) -> Option<Fault> {
        for child in self.0.iter_mut().filter(|child| !child.is_over) {
            if let Ok(Some((_, status))) = waitpid(Some(child.number), WaitOptions::NOHANG) {
                child.is_over = true;
                return Some(Fault::Ended { who: child.who, when, how: words(status) });
            }
        }
        None
    }

    /// The first process that something has stopped, as the system says.
    pub fn stopped(&self) -> Option<Who> {
        let is_stopped = |child: &&Child| {
            let told = std::fs::read_to_string(format!("/proc/{}/stat", child.number.as_raw_nonzero()));
            let state = told
                .ok()
                .and_then(|told| told.rsplit_once(')').map(|(_, rest)| rest.trim_start().starts_with(['T', 't'])));
            state == Some(true)
        };
        self.0.iter().find(is_stopped).map(|child| child.who)
    }

    /// Whether all processes have ended.
    pub fn are_over(&mut self) -> bool {
        for child in self.0.iter_mut().filter(|child| !child.is_over) {
            child.is_over = matches!(waitpid(Some(child.number), WaitOptions::NOHANG), Ok(Some(_)));
        }
        self.0.iter().all(|child| child.is_over)
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in self.0.iter().filter(|child| !child.is_over) {
            let _ = pidfd_send_signal(&child.descriptor, Signal::KILL);
        }
        for child in self.0.iter().filter(|child| !child.is_over) {
            let _ = waitpid(Some(child.number), WaitOptions::empty());
        }
    }
}

fn words(status: WaitStatus) -> String {
    match (status.terminating_signal(), status.exit_status()) {
        (Some(signal), _) => format!("killed by signal {signal}; all others were ended"),
        (None, Some(PANICKED)) => "a fault of the program; please report it".into(),
        (None, Some(status)) => format!("with exit status {status}; all others were ended"),
        (None, None) => "for a reason that the system does not say".into(),
    }
}
