//! What a policy is, and what comes of one.

use crate::context::Context;
use crate::timeline::{Timeline, Use};

/// A policy.
pub struct Policy {
    /// As `--policy` takes it.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Whether it can be asked for; else it is shown beside the others.
    pub can_be_chosen: bool,
    pub(super) plan: fn(&mut Context<'_>, &[Outcome]) -> Option<Outcome>,
}

/// What came of a policy.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) policy: &'static str,
    pub(crate) uses: Vec<Option<Use>>,
    pub(crate) timeline: Timeline,
    /// What there is to say about it.
    pub(crate) note: String,
    /// Whether no other choice from the library is faster.
    pub(crate) is_shortest: bool,
}
