//! Policies and their outcomes.

use crate::context::Context;
use crate::orders::{Ordered, improved};
use crate::timeline::{Timeline, Use};

/// A policy.
pub struct Policy {
    /// Name in files, accepted by `--policy`.
    pub name: &'static str,
    /// Name in tables and pictures; accepted too, with `-` for spaces.
    pub title: &'static str,
    /// A description in a sentence.
    pub summary: &'static str,
    /// Whether the policy can be asked for; if not, it is shown next to the others.
    pub can_be_chosen: bool,
    pub(super) plan: fn(&mut Context<'_>, &[Outcome]) -> Option<Outcome>,
}

/// The outcome of a policy.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) policy: &'static str,
    pub(crate) uses: Vec<Option<Use>>,
    pub(crate) timeline: Timeline,
    /// A remark about it.
    pub(crate) note: String,
    /// Whether no other choice from the library is faster.
    pub(crate) is_shortest: bool,
    /// Lower bound on the time of any order of the nodes with these plans and ports, s.
    pub(crate) order_bound_s: f64,
    /// Whether this order is the fastest.
    pub(crate) order_is_best: bool,
}

impl Policy {
    /// Whether a text is the name or the title of the policy.
    pub(super) fn is_called(&self, text: &str) -> bool {
        text == self.name || text == self.title.to_lowercase().replace(' ', "-")
    }
}

impl Outcome {
    /// An outcome that is not known to be the best of anything.
    pub(super) fn new(policy: &Policy, uses: Vec<Option<Use>>, timeline: Timeline, note: String) -> Self {
        Self { policy: policy.name, uses, timeline, note, is_shortest: false, order_bound_s: 0.0, order_is_best: false }
    }

    /// This outcome with its plans and ports in the best order that can be found.
    pub(super) fn in_best_order(self, context: &Context<'_>) -> Self {
        let Ordered { timeline, bound_s, is_best } = improved(&context.problem(&self.uses), self.timeline);
        Self { timeline, order_bound_s: bound_s, order_is_best: is_best, ..self }
    }
}
