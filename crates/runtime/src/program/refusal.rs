//! Refusals of plans that no program is made of.

use model::Error;

/// An error that names the plan.
pub(super) fn refuse(reason: impl ToString) -> Error {
    Error::infeasible("plan", reason)
}
