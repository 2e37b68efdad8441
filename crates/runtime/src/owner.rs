//! The process that asked for a run, as the controller sees it.

use rustix::fd::BorrowedFd;

use crate::fault::Fault;

/// The process that asked for a run.
pub trait Owner {
    /// The descriptor that becomes readable when the process sends a message, or has ended.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Takes its messages, if there are some.
    ///
    /// # Errors
    /// `Fault::Abandoned` where it is gone.
    fn listen(&self) -> Result<(), Fault>;

    /// Told that `runs` runs have been measured.
    fn progress(&self, runs: u32);

    /// Asks it to have the outside switch make a configuration.
    fn ask_outside(&self, configuration: usize);

    /// The answer of the outside switch to the last question, once it has come: why it refused, where it did.
    fn outside_said(&self) -> Option<Result<(), String>>;
}
