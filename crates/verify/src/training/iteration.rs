//! The input of all checks of an iteration.

use model::{Plan, TrainingEvent, TrainingPlan, Work, units};

/// Rounding error of a time, relative to the iteration's.
const ROUNDING: f64 = 1e-9;

/// A planned iteration whose events have what their nodes need.
pub(super) struct Iteration<'a> {
    pub(super) training: &'a TrainingPlan,
    /// α_r, s.
    pub(super) change_s: f64,
    /// The largest end, s: the period.
    pub(super) total_s: f64,
    /// By how much a time may be off, s.
    pub(super) rounding_s: f64,
    /// The events by their starts; of those that start together first those that end first, then in the workload's
    /// order.
    pub(super) order: Vec<usize>,
}

impl<'a> Iteration<'a> {
    pub(super) fn new(training: &'a TrainingPlan, change_s: f64) -> Self {
        let mut order = training.workload.order().to_vec();
        let times = |event: usize| (training.events[event].start_s, training.events[event].end_s);
        order.sort_by(|&a, &b| times(a).0.total_cmp(&times(b).0).then(times(a).1.total_cmp(&times(b).1)));
        let total_s = training.events.iter().map(|event| event.end_s).fold(0.0, f64::max);
        Self { training, change_s, total_s, rounding_s: ROUNDING * total_s, order }
    }

    pub(super) fn event(&self, event: usize) -> &'a TrainingEvent {
        &self.training.events[event]
    }

    pub(super) fn work(&self, event: usize) -> &'a Work {
        &self.training.workload.nodes[event].work
    }

    /// The plan of each group of a collective.
    pub(super) fn plan(&self, event: usize) -> Option<&'a Plan> {
        self.event(event).plan.map(|plan| &self.training.plans[plan])
    }

    /// The event as messages name it.
    pub(super) fn name(&self, event: usize) -> String {
        name(self.training, event)
    }

    /// Whether a time is not after another but for rounding.
    pub(super) fn is_by(&self, time_s: f64, limit_s: f64) -> bool {
        time_s <= limit_s + self.rounding_s
    }

    /// Whether two times are the same but for rounding.
    pub(super) fn is_at(&self, time_s: f64, other_s: f64) -> bool {
        (time_s - other_s).abs() <= self.rounding_s
    }
}

/// The event as messages name it, by its node.
pub(super) fn name(training: &TrainingPlan, event: usize) -> String {
    let id: String = training.workload.nodes[event].id.chars().take(60).collect();
    format!("node `{id}`")
}

/// A time as messages show it.
pub(super) fn show(time_s: f64) -> String {
    units::show_time(time_s)
}

/// Times as messages show them that say how they differ: to the last digit where they are alike in a few.
pub(super) fn show_apart<const N: usize>(times_s: [f64; N]) -> [String; N] {
    let shown = times_s.map(show);
    let is_alike = shown.iter().enumerate().any(|(index, text)| shown[..index].contains(text));
    if is_alike { times_s.map(|time_s| format!("{time_s} s")) } else { shown }
}
