//! A plan that runs again and again: its topologies form a cycle, and the change from the last to the first is charged.
//!
//! Such a plan changes its topologies at least as often as one whose first topology is free, so that every bound for
//! that one holds. It also either stays on one topology, or changes twice at least: away from a topology and back.

use crate::cutoffs::repetition::MOST_DOUBLINGS;
use crate::rates::Rates;
use crate::statement::{Statement, largest};

/// The bound for repeated plans, made from one for a free start that holds for any delay of the rates.
pub(crate) fn repeated(rates: &Rates, bound: impl Fn(&Rates) -> Statement) -> Statement {
    let free = bound(rates);
    if rates.change_s == 0.0 {
        return free;
    }
    let without_delay = bound(&Rates { change_s: 0.0, ..*rates });
    let changing = Statement {
        reconfiguration_s: 2.0 * rates.change_s,
        topologies: without_delay.topologies.max(2),
        ..without_delay
    };
    let cheapest = match staying(rates, &free, bound) {
        Some(staying) if staying.seconds() < changing.seconds() => staying,
        Some(_) => changing,
        None => return free,
    };
    largest([free, cheapest]).expect("there are two")
}

/// The bound for plans that stay on one topology: the delay does not matter to them, so it may be so long that nothing
/// changes.
fn staying(rates: &Rates, free: &Statement, bound: impl Fn(&Rates) -> Statement) -> Option<Statement> {
    let mut change_s = rates.change_s.max(free.seconds());
    for _ in 0..MOST_DOUBLINGS {
        let statement = bound(&Rates { change_s, ..*rates });
        if statement.reconfiguration_s == 0.0 {
            return Some(statement);
        }
        change_s *= 2.0;
    }
    None
}
