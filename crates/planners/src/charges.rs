//! The charges of changes of topology: their delays, less what the fabric hides of them.

use model::{ChargeKind, Fabric};

use crate::{Change, ProfileTable};

/// A change that is made while the step before it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BackgroundChange {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Seconds until the new circuits are up.
    pub(crate) delay_s: f64,
}

/// The part of the delays that the fabric hides, for one set of candidates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hidden {
    /// Computation before each step, s.
    pub(crate) windows_s: Vec<f64>,
    /// The changes made in the background, by `from`, then `to`. All others stop traffic.
    pub(crate) background: Vec<BackgroundChange>,
}

/// Seconds charged for every change before every step. The hidden part depends on the step before: with t its time, w
/// the window before the next, a change in the background is charged max(0, delay − w − t), any other one max(0, delay
/// − w).
#[derive(Debug, Clone, PartialEq)]
pub struct Charges {
    /// The delays themselves.
    pub(crate) change: Change,
    /// `None` where nothing is hidden.
    pub(crate) hidden: Option<Hidden>,
}

impl From<Change> for Charges {
    fn from(change: Change) -> Self {
        Self { change, hidden: None }
    }
}

impl Charges {
    /// The charges of a fabric for the candidates of a table, between which a change costs `change`. O(candidates²)
    /// comparisons of circuits, once for a table, where changes are made in the background.
    pub(crate) fn of(change: Change, fabric: &Fabric, table: &ProfileTable) -> Self {
        let policy = &fabric.reconfiguration;
        let hidden = (policy.charge_kind() == ChargeKind::Overlapping).then(|| Hidden {
            windows_s: (0..table.steps()).map(|step| policy.window_s(step)).collect(),
            background: if policy.runs_in_background() { background(fabric, table) } else { Vec::new() },
        });
        Self { change, hidden }
    }

    /// Seconds charged before a step on one of `candidates`, after a step of `before_s` seconds on another.
    pub fn between(&self, candidates: usize, step: usize, (from, before_s): (usize, f64), to: usize) -> f64 {
        let delay_s = self.change.between(candidates, from, to);
        let Some(hidden) = self.hidden.as_ref().filter(|_| from != to) else { return delay_s };
        let found = hidden.background.binary_search_by_key(&(from, to), |change| (change.from, change.to));
        let left_s = found.map_or(delay_s, |at| hidden.background[at].delay_s - before_s);
        (left_s - hidden.windows_s[step]).max(0.0)
    }
}

fn background(fabric: &Fabric, table: &ProfileTable) -> Vec<BackgroundChange> {
    let policy = &fabric.reconfiguration;
    let changes = table.background_changes(policy, fabric.shape.ports()).iter();
    let one = |&(from, to, difference)| BackgroundChange { from, to, delay_s: policy.delay().seconds(difference) };
    changes.map(one).collect()
}
