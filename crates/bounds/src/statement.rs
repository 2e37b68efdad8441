//! A lower bound and its terms.

use model::{Bound, sum_seconds};

/// Steps on one topology in the schedule that attains a bound's relaxation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundSegment {
    /// Least number of steps.
    pub steps: u32,
    /// Least hops, summed over the steps.
    pub hops: u32,
    /// The factor by which the ranks that hold a block increase.
    pub growth: f64,
}

/// A lower bound, term by term.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Name of the bound.
    pub name: &'static str,
    /// The class of schedules that it bounds.
    pub class: String,
    /// Why it holds, in a sentence.
    pub why: &'static str,
    /// Least time of startups and barriers, s.
    pub startup_s: f64,
    /// Time of hop delays, s.
    pub propagation_s: f64,
    /// Time of bytes, s.
    pub transmission_s: f64,
    /// Time of changes of topology, s.
    pub reconfiguration_s: f64,
    /// Number of topologies that it counts with.
    pub topologies: u32,
    /// Steps that it counts with.
    pub steps: u32,
    /// Segments of the bound, where they have a shape of their own; else empty.
    pub segments: Vec<BoundSegment>,
}

/// Factor on every bound. It is below one by more than all rounding errors of a bound together, so that no plan that
/// attains a bound is below it.
const ROUNDING: f64 = 1.0 - 4e-13;

impl Statement {
    /// The bound, s: the sum of the terms, less what rounding may have added.
    pub fn seconds(&self) -> f64 {
        let terms = [self.startup_s, self.propagation_s, self.transmission_s, self.reconfiguration_s];
        sum_seconds(terms) * ROUNDING
    }

    /// The bound that a plan carries.
    pub fn bound(&self) -> Bound {
        Bound { seconds: self.seconds(), class: self.class.clone() }
    }
}

/// The largest of some bounds, the first of equals.
pub fn largest(statements: impl IntoIterator<Item = Statement>) -> Option<Statement> {
    statements.into_iter().reduce(|best, next| if next.seconds() > best.seconds() { next } else { best })
}
