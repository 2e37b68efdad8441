//! The best plan whose circuits never change: the baseline of what changing them gains.
//!
//! From a free start the best topology is taken, from a given one only that one; a start without circuits is set up
//! once. A request for it runs all planners where no change pays, as with `weave`, and keeps the best plan
//! that changes nothing.

use model::{ChargeKind, Result};

use super::weave::Weave;
use crate::{Capabilities, Choice, OperatingPoint, Planner, Problem};

/// The planner `never-change`.
pub struct NeverChange;

impl Planner for NeverChange {
    fn name(&self) -> &'static str {
        "never-change"
    }

    fn summary(&self) -> &'static str {
        "the best plan over all algorithms whose circuits never change: on the best topology, or on the one at the start"
    }

    fn source(&self) -> &'static str {
        "Lightloom; what changing circuits is compared with"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            takes_candidates: false,
            charges: ChargeKind::ALL,
            closes_cycles: true,
            never_changes: true,
            chooses_algorithm: true,
            by_name_only: true,
            takes_budget: true,
            ..Capabilities::default()
        }
    }

    /// The best of what `weave` composes.
    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let at = OperatingPoint::of(&problem.fabric, problem.size_bytes).without_changes();
        let mut problem = problem.clone();
        // Plans that change circuits are not reported: this planner has none.
        problem.options.listener = None;
        let found = Weave.choose_within(&problem.at(&at), f64::INFINITY)?.filter(Choice::never_changes);
        let charged = found.map(|found| found.charged_as(&problem.fabric)).transpose()?;
        Ok(charged.filter(|found| found.total_s <= limit_s).map(|found| Choice { planner: self.name(), ..found }))
    }
}
