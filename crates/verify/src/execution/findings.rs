//! The findings of an execution.

use crate::report::Tally;

/// The four checks of an execution.
pub(super) struct Findings {
    pub(super) held: Tally,
    pub(super) counted_once: Tally,
    pub(super) one_writer: Tally,
    pub(super) postcondition: Tally,
}
