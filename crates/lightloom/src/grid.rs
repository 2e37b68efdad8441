//! One request at many sizes and delays: the best of the papers' planners and baselines beside the best of all.
//!
//! Schedules, candidates and profiles do not depend on sizes and delays, so all points of a grid share them.

use model::{Bound, Result};
use planners::{Choice, OperatingPoint};

use crate::Request;
use crate::prepared::Prepared;
use crate::race::Race;

/// One request, prepared for many sizes and delays.
pub struct Grid {
    prepared: Prepared,
}

/// A plan's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Name of the planner.
    pub planner: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Completion time, s.
    pub total_s: f64,
    /// Number of charged changes of topology.
    pub reconfigurations: usize,
}

/// What a point of a grid shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The best of the planners that are given an algorithm, over all algorithms.
    pub given: Figures,
    /// The best of these and of the planners that choose the algorithm.
    pub best: Figures,
    /// No algorithm is faster, whatever is reconfigured when.
    pub bound: Bound,
}

impl Grid {
    /// Prepares the request for all planners that are not for asking by name; its size and reconfiguration delay are
    /// replaced at every point.
    ///
    /// # Errors
    /// Wrong input.
    pub fn new(request: &Request) -> Result<Self> {
        let prepared = Prepared::new(&Request { planner: None, ..request.clone() })?;
        prepared.make_problems()?;
        Ok(Self { prepared })
    }

    /// The verdict for a buffer of `size_bytes` and a fixed reconfiguration delay, s.
    ///
    /// # Errors
    /// A delay that is negative or not finite, or when no planner serves the problem.
    pub fn judge(&self, size_bytes: u64, reconfiguration_delay_s: f64) -> Result<Verdict> {
        let at = OperatingPoint { size_bytes, reconfiguration_delay_s, ..self.prepared.own_numbers()? };
        at.check()?;
        let mut race = Race::new(None);
        self.prepared.run(&mut race, |planner| !planner.capabilities().chooses_algorithm, &at);
        let given = figures(race.fastest().ok_or_else(|| self.prepared.refusal(&race))?.1);
        let best = figures(&self.prepared.best_at(&at)?);
        Ok(Verdict { given, best, bound: self.prepared.bound_at(&at, true) })
    }
}

fn figures(choice: &Choice) -> Figures {
    Figures {
        planner: choice.planner.into(),
        algorithm: choice.problem.schedule().algorithm().into(),
        total_s: choice.total_s,
        reconfigurations: choice.reconfigurations(),
    }
}
