//! Refusals of plans for which no program is made.

use model::Error;

/// An error that names the plan.
pub(super) fn refuse(reason: impl ToString) -> Error {
    Error::infeasible("plan", reason)
}
