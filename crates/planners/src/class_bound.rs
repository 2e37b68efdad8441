//! The bound that a planner has on the class of schedules that it chooses from.

use model::Bound;

use crate::Problem;

/// A bound on the class of schedules that a planner chooses from.
#[derive(Debug, Clone)]
pub enum ClassBound {
    /// The bound for every algorithm of the collective, which is computed when it is asked for.
    AnyAlgorithm,
    /// A bound that the planner states.
    Stated(Bound),
}

impl ClassBound {
    /// The bound for every algorithm of a problem. Unequal blocks may be cut in a choice, so that theirs is stated.
    pub(crate) fn any_algorithm(problem: &Problem) -> Self {
        match problem.schedule().chunks().as_pieces() {
            Some(_) => Self::Stated(problem.any_algorithm_bound()),
            None => Self::AnyAlgorithm,
        }
    }
}
