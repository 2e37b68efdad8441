//! The waits of events: nothing starts later than it must, and where an event waits for a change of circuits, the file
//! says so.

use model::{TrainingPlan, Work};

use super::iteration::{Iteration, show_apart};
use crate::report::{Check, Tally};

/// The time at which the things end that an event waits for, s.
#[derive(Debug, Clone)]
pub(super) struct Waits {
    /// All but changes of circuits.
    pub(super) else_s: f64,
    /// Changes of circuits before it.
    pub(super) changed_s: f64,
    /// The event that it states to wait for; `None` where that is in an earlier iteration.
    named: Option<usize>,
    /// The time until which that event makes it wait, with the change of circuits after it; `None` if it does not.
    named_s: Option<f64>,
}

impl Waits {
    /// By event, before anything is known but that the iteration begins at 0.
    pub(super) fn none(training: &TrainingPlan) -> Vec<Self> {
        let of = |named: Option<usize>| Self {
            else_s: 0.0,
            changed_s: f64::NEG_INFINITY,
            named,
            named_s: named.is_none().then_some(0.0),
        };
        training.events.iter().map(|event| of(event.waits_for)).collect()
    }

    /// Notes that this event waits for the end of `event`.
    pub(super) fn end_of(&mut self, event: usize, end_s: f64) {
        self.of(Some(event), end_s);
    }

    /// Notes that this event waits until `event`, or one of the iteration before, is done with a port.
    pub(super) fn of(&mut self, event: Option<usize>, until_s: f64) {
        self.else_s = self.else_s.max(until_s);
        self.name(event, until_s);
    }

    /// Notes that this event waits until circuits have changed that `event` had before.
    pub(super) fn change_after(&mut self, event: Option<usize>, until_s: f64) {
        self.changed_s = self.changed_s.max(until_s);
        self.name(event, until_s);
    }

    fn name(&mut self, event: Option<usize>, until_s: f64) {
        if self.named == event {
            self.named_s = Some(self.named_s.map_or(until_s, |named_s| named_s.max(until_s)));
        }
    }
}

/// Checks that every event starts once it can, after the event that it names as the last that it waits for; then the
/// part of each change that is waited for, their sum, and what is hidden.
pub(super) fn check(iteration: &Iteration<'_>, waits: &[Waits]) -> [Check; 3] {
    let training = iteration.training;
    let [mut starts, mut exposed, mut sums] = ["waits", "exposed", "reconfigurations"].map(Tally::new);
    for (event, waits) in waits.iter().enumerate() {
        let (planned, name) = (iteration.event(event), || iteration.name(event));
        let start_s = planned.start_s;
        let can_s = waits.else_s.max(waits.changed_s);
        starts.expect(iteration.is_by(start_s, can_s), || {
            let [start, can] = show_apart([start_s, can_s]);
            format!("{}: starts at {start}, though all that it waits for is done at {can}", name())
        });
        starts.expect(waits.named_s.is_some_and(|named_s| iteration.is_at(start_s, named_s)), || {
            let whom = planned.waits_for.map_or("the iteration's begin".into(), |other| iteration.name(other));
            let [start, named] = show_apart([start_s, waits.named_s.unwrap_or(-1.0)]);
            let until =
                waits.named_s.map_or("for which it does not wait".into(), |_| format!("which is done at {named}"));
            format!("{}: starts at {start}, and is said to wait for {whom}, {until}", name())
        });
        if matches!(iteration.work(event), Work::Compute { .. }) && planned.reconfiguration_exposed_s == 0.0 {
            continue;
        }
        let (stated_s, exposed_s) = (planned.reconfiguration_exposed_s, (waits.changed_s - waits.else_s).max(0.0));
        exposed.expect(iteration.is_at(stated_s, exposed_s), || {
            let [exposed, stated] = show_apart([exposed_s, stated_s]);
            format!("{}: waits {exposed} for circuits, stated as {stated}", name())
        });
    }
    let changes = training.events.iter().filter(|event| event.reconfigured).count();
    sums.expect(training.reconfigurations == changes, || {
        format!("{} reconfigurations are stated, and {changes} events change circuits", training.reconfigurations)
    });
    let exposed_s: f64 = training.events.iter().map(|event| event.reconfiguration_exposed_s).sum();
    let delays_s = iteration.change_s * changes as f64;
    let (stated_s, hidden_s) = (training.reconfiguration_exposed_s, training.reconfiguration_hidden_s);
    // There may be more delays than fit the iteration one after another.
    let rounding_s = iteration.rounding_s.max(1e-9 * delays_s);
    sums.expect((stated_s - exposed_s).abs() <= rounding_s, || {
        let [stated, exposed] = show_apart([stated_s, exposed_s]);
        format!("{stated} of exposed reconfigurations are stated, and events wait {exposed}")
    });
    sums.expect(hidden_s >= 0.0 && (hidden_s + stated_s - delays_s).abs() <= rounding_s, || {
        let [hidden, stated, delays] = show_apart([hidden_s, stated_s, delays_s]);
        format!(
            "{hidden} of hidden and {stated} of exposed reconfigurations are stated, and all delays together are \
            {delays}"
        )
    });
    [
        starts.into_check("statement", "of starts, none later than it must be"),
        exposed.into_check("event", "with the time that they wait for circuits"),
        sums.into_check("sum", "of changes and their delays"),
    ]
}
