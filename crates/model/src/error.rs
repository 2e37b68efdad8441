//! The one error type that reaches a user: which field, which value, what is accepted.

use thiserror::Error;

/// Result of every fallible call of the core.
pub type Result<T> = std::result::Result<T, Error>;

/// Wrong input. Each variant prints as one line that names the field, the value and what is accepted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// A value that its field does not take.
    #[error("{field}: {value} is not accepted; it takes {accepts}")]
    Value {
        /// Field as the user knows it, such as `gpus`.
        field: String,
        /// The value that was given.
        value: String,
        /// The values that the field takes.
        accepts: String,
    },
    /// A name that no registry has.
    #[error("{field}: unknown name `{value}`{hint}; one of {known}")]
    Unknown {
        /// Field as the user knows it.
        field: String,
        /// The name that was given.
        value: String,
        /// `, did you mean ...` or nothing.
        hint: String,
        /// All names that would have been accepted.
        known: String,
    },
    /// An algorithm, topology or planner that cannot serve this problem.
    #[error("{field}: {name} refuses this problem: {reason}")]
    Refused {
        /// Field as the user knows it.
        field: String,
        /// The algorithm, topology or planner.
        name: String,
        /// Why, and what it would take.
        reason: String,
    },
    /// Outside data that does not have the form it should have.
    #[error("{field}: {reason}")]
    Malformed {
        /// Place of the value that was read, such as `plan.steps[3].hops`.
        field: String,
        /// The fault of the value.
        reason: String,
    },
    /// Nothing satisfies the request.
    #[error("{field}: {reason}")]
    Infeasible {
        /// The request that nothing satisfies.
        field: String,
        /// Why nothing satisfies it.
        reason: String,
    },
    /// A plan or schedule that the verifier rejects: a fault of the planner or program that made it.
    #[error("{check}: {detail}")]
    Rejected {
        /// The check that failed.
        check: String,
        /// Where, and what was found.
        detail: String,
    },
}

impl Error {
    /// An [`Error::Value`]; `accepts` completes the sentence "it takes ...".
    pub fn value(field: &str, value: impl ToString, accepts: impl ToString) -> Self {
        Self::Value { field: field.into(), value: value.to_string(), accepts: accepts.to_string() }
    }

    /// An [`Error::Refused`].
    pub fn refused(field: &str, name: impl ToString, reason: impl ToString) -> Self {
        Self::Refused { field: field.into(), name: name.to_string(), reason: reason.to_string() }
    }

    /// An [`Error::Malformed`].
    pub fn malformed(field: impl ToString, reason: impl ToString) -> Self {
        Self::Malformed { field: field.to_string(), reason: reason.to_string() }
    }

    /// An [`Error::Infeasible`].
    pub fn infeasible(field: &str, reason: impl ToString) -> Self {
        Self::Infeasible { field: field.into(), reason: reason.to_string() }
    }

    /// This error with another field: the one under which the user gave the value.
    #[must_use]
    pub fn in_field(mut self, name: &str) -> Self {
        match &mut self {
            Self::Value { field, .. }
            | Self::Unknown { field, .. }
            | Self::Refused { field, .. }
            | Self::Malformed { field, .. }
            | Self::Infeasible { field, .. }
            | Self::Rejected { check: field, .. } => *field = name.into(),
        }
        self
    }

    /// The message without the names of the field and of what refuses: for a table that has them already.
    pub fn reason(&self) -> String {
        match self {
            Self::Refused { reason, .. } | Self::Malformed { reason, .. } | Self::Infeasible { reason, .. } => {
                reason.clone()
            }
            other => other.to_string(),
        }
    }

    /// The field that the message names first.
    pub fn field(&self) -> &str {
        match self {
            Self::Value { field, .. }
            | Self::Unknown { field, .. }
            | Self::Refused { field, .. }
            | Self::Malformed { field, .. }
            | Self::Infeasible { field, .. }
            | Self::Rejected { check: field, .. } => field,
        }
    }
}

/// An [`Error::Unknown`] that lists every known name and the nearest one.
pub fn unknown_name<'a>(field: &str, value: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let shown: String = value.chars().take(60).collect();
    let hint = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&shown, name), *name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 3)
        .min()
        .map(|(_, name)| format!(", did you mean `{name}`?"))
        .unwrap_or_default();
    Error::Unknown { field: field.into(), value: shown, hint, known: known.join(", ") }
}
