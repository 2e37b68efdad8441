//! Faults that end a run: who, and at which step.

use thiserror::Error;

/// Why a run ended before its end; prints as one line. Steps are counted from 1, as people see them.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Fault {
    /// The system did not give what a run needs.
    #[error("{what}: {why}")]
    System {
        /// The thing that was asked for.
        what: String,
        /// The system's answer.
        why: String,
    },
    /// A process ended that should not have.
    #[error("{who} ended {when}: {how}")]
    Ended {
        /// The process.
        who: Who,
        /// The place in the run.
        when: When,
        /// The signal, or the exit status.
        how: String,
    },
    /// Something that was waited for did not come.
    #[error("{who} did not {what} within {seconds:.3} s, {when}; all processes were ended")]
    Late {
        /// The process that it was expected of.
        who: Who,
        /// The event that was waited for, such as `arrive`.
        what: String,
        /// Seconds of waiting.
        seconds: f64,
        /// The place in the run.
        when: When,
    },
    /// Something stopped a process, so that nothing went on.
    #[error("{who} is stopped {when}; nothing happened for {seconds:.3} s, and all processes were ended")]
    Stopped {
        /// The process.
        who: Who,
        /// The place in the run.
        when: When,
        /// Seconds of waiting.
        seconds: f64,
    },
    /// The switch got what it cannot lead anywhere.
    #[error("rank {rank} sent on port {port}, {when}: {why}")]
    Refused {
        /// The rank that sent it.
        rank: u32,
        /// Port of the rank, from 0.
        port: u32,
        /// The place in the run.
        when: When,
        /// The fault of the circuit.
        why: &'static str,
    },
    /// A switch said no.
    #[error("configuration {configuration} was not made, {when}: {why}")]
    NotMade {
        /// Index of the configuration, from 0.
        configuration: usize,
        /// The place in the run.
        when: When,
        /// The switch's answer.
        why: String,
    },
    /// A process found what cannot be.
    #[error("{who} failed {when}: {why}")]
    Failed {
        /// The process.
        who: Who,
        /// The place in the run.
        when: When,
        /// The finding of the process.
        why: String,
    },
    /// A process said why it failed, in words.
    #[error("{0}; all processes were ended")]
    Found(String),
    /// The process that asked for the run has ended.
    #[error("the process that asked for the run ended")]
    Abandoned,
}

impl Fault {
    /// The refusal of the system.
    pub fn system(what: impl Into<String>, why: impl ToString) -> Self {
        Self::System { what: what.into(), why: why.to_string() }
    }

    /// This fault with the step, where the code that found it did not know the step.
    #[must_use]
    pub fn at(self, when: When) -> Self {
        match self {
            Self::NotMade { configuration, why, .. } => Self::NotMade { configuration, when, why },
            other => other,
        }
    }
}

/// A process of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// One of the ranks.
    Rank(u32),
    /// Several ranks: their number, and the first of them.
    Ranks(u32, u32),
    /// The switch between them.
    Switch,
    /// The switch outside.
    OutsideSwitch,
}

impl std::fmt::Display for Who {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rank(rank) => write!(to, "rank {rank}"),
            Self::Ranks(count, first) => write!(to, "{count} ranks, the first of them rank {first},"),
            Self::Switch => write!(to, "the switch process"),
            Self::OutsideSwitch => write!(to, "the outside switch"),
        }
    }
}

/// A place in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before the first step of a run.
    Before,
    /// In a step, from 0.
    Step(usize),
    /// After the last step of the last run.
    After,
}

impl std::fmt::Display for When {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Before => write!(to, "before the first step"),
            Self::Step(step) => write!(to, "at step {}", step + 1),
            Self::After => write!(to, "after the last step"),
        }
    }
}
