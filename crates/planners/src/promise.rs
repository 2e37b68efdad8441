//! The estimate of a planner's answer before flows are solved.

/// An estimate of a planner's answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// Lower bound on the time of every plan that the planner finds, s.
    pub least_s: f64,
    /// A rough lower bound, in nanoseconds, on the time of the flows that it would look at first.
    pub work: u64,
}

impl Promise {
    /// The promise of the lesser time.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.least_s < self.least_s { other } else { self }
    }
}
