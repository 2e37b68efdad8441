//! The longest chain of waits, and what its time is spent on.

use std::collections::BTreeMap;

use super::iteration::{Iteration, show_apart};
use crate::cutoffs::training_critical_path::MOST_FOLLOWED;
use crate::report::{Check, Tally};

/// The name of gaps in the chain.
const GAPS: &str = "reconfiguration";

/// Checks that from an event that ends last the waits lead back to 0, with gaps of two changes of circuits at most, and
/// that the stated times are those of the chain.
pub(super) fn check(iteration: &Iteration<'_>) -> Check {
    let mut tally = Tally::new("critical-path");
    let stated = &iteration.training.critical_path_s;
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (label, time_s) in stated {
        tally.expect(sums.insert(label, *time_s).is_none(), || format!("`{label}` is stated twice"));
    }
    let sum_s: f64 = stated.iter().map(|(_, time_s)| time_s).sum();
    tally.expect(iteration.is_at(sum_s, iteration.total_s), || {
        let [sum, total] = show_apart([sum_s, iteration.total_s]);
        format!("the times of the path add up to {sum}, and the iteration takes {total}")
    });
    let mut followed = 0;
    let mut first_fault = None;
    let last = iteration.order.iter().rev().copied();
    // Several events may end last. One whose chain agrees is enough; otherwise the fault of the first is reported.
    for event in last.filter(|&event| iteration.is_at(iteration.event(event).end_s, iteration.total_s)) {
        let fault = Chain::from(iteration, event, &mut followed).and_then(|chain| chain.compared(iteration, &sums));
        let Err(fault) = fault else {
            first_fault = None;
            break;
        };
        first_fault.get_or_insert(fault);
        if followed > MOST_FOLLOWED {
            break;
        }
    }
    tally.expect(first_fault.is_none(), || first_fault.unwrap_or_default());
    tally.into_check("statement", "of the chain of waits")
}

/// Times along a chain of waits.
struct Chain {
    last: usize,
    by_label: BTreeMap<String, f64>,
}

impl Chain {
    /// The chain that ends with `last`.
    ///
    /// # Errors
    /// Waits that lead back to where they came from, or a gap that no changes of circuits explain.
    fn from(iteration: &Iteration<'_>, last: usize, followed: &mut usize) -> Result<Self, String> {
        let mut by_label: BTreeMap<String, f64> = BTreeMap::new();
        let (mut next, mut links) = (Some(last), 0);
        while let Some(event) = next {
            (links, *followed) = (links + 1, *followed + 1);
            if links > iteration.order.len() {
                return Err(format!("{}: its waits lead back to itself", iteration.name(event)));
            }
            let planned = iteration.event(event);
            let before_s = planned.waits_for.map_or(0.0, |other| iteration.event(other).end_s);
            let gap_s = planned.start_s - before_s;
            if !(iteration.is_by(0.0, gap_s) && iteration.is_by(gap_s, 2.0 * iteration.change_s)) {
                let [start, before, most] = show_apart([planned.start_s, before_s, 2.0 * iteration.change_s]);
                return Err(format!(
                    "{}: starts at {start}, and what it waits for ends at {before}; changes of circuits take {most} \
                    at most",
                    iteration.name(event)
                ));
            }
            *by_label.entry(GAPS.into()).or_insert(0.0) += gap_s;
            let label = iteration.training.workload.label_of(event);
            *by_label.entry(label).or_insert(0.0) += planned.end_s - planned.start_s;
            next = planned.waits_for;
        }
        Ok(Self { last, by_label })
    }

    /// # Errors
    /// A label with another time than is stated for it.
    fn compared(self, iteration: &Iteration<'_>, stated: &BTreeMap<&str, f64>) -> Result<(), String> {
        let stated_s = |label: &str| stated.get(label).copied().unwrap_or(0.0);
        let labels = self.by_label.keys().map(String::as_str).chain(stated.keys().copied());
        let found_s = |label: &str| self.by_label.get(label).copied().unwrap_or(0.0);
        for label in labels {
            if !iteration.is_at(stated_s(label), found_s(label)) {
                let [stated, found] = show_apart([stated_s(label), found_s(label)]);
                let last = iteration.name(self.last);
                return Err(format!(
                    "`{label}` is stated as {stated}, and the chain that ends with {last} has {found} of it"
                ));
            }
        }
        Ok(())
    }
}
