//! Baselines that are known to be slower than the best plan, and whose exact time would take long to find.
//!
//! A planner that chooses from candidates says what it takes at least, by estimates, and about how long its flows take
//! ([`planners::Promise`]). A line next to a plan states the first where the second is long, and so where a schedule
//! has too many patterns to be looked at on every candidate; whoever names the planner gets the exact time.

use collectives::Extent;
use model::{Error, Schedule, units};
use planners::{Planner, Problem, Promise, ties};

/// The time that a line is compared with, and how much work it may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaselineLimits {
    /// Time of the best plan.
    pub(crate) best_s: f64,
    /// Work on flows, about in nanoseconds.
    pub(crate) most_work: u64,
    /// Patterns of a schedule times GPUs.
    pub(crate) most_patterns: u64,
}

impl BaselineLimits {
    /// Limits for the baselines printed below a plan: about a quarter of a second of flow computation each.
    pub(crate) fn plan(best_s: f64) -> Self {
        Self { best_s, most_work: 1 << 28, most_patterns: 1 << 19 }
    }

    /// Limits for the rows of a comparison: about a quarter of a minute of flow computation each.
    pub(crate) fn comparison(best_s: f64) -> Self {
        Self { best_s, most_work: 1 << 34, most_patterns: 1 << 21 }
    }

    /// Whether a schedule has too many patterns.
    pub(crate) fn has_too_many_patterns(&self, schedule: &Schedule) -> bool {
        Extent::of(schedule).patterns.saturating_mul(u64::from(schedule.ranks())) > self.most_patterns
    }

    /// The least time of a planner that took part in the choice of the best, where the bound `bound_s` is known as
    /// well.
    pub(crate) fn at_least(&self, bound_s: f64) -> Promise {
        Promise { least_s: bound_s.max(self.best_s), work: u64::MAX }
    }

    /// [`BaselineLimits::at_least`] of a planner for a problem: the least time of its steps, where it keeps them.
    pub(crate) fn at_least_of(&self, planner: &dyn Planner, problem: &Problem) -> Promise {
        let (schedule, fabric) = (problem.schedule(), &problem.fabric);
        let replaced =
            planner.capabilities().replaces_algorithm || planner.changes_steps(schedule, fabric.shape.ports());
        let bound_s = || planners::least_seconds(schedule, fabric, problem.settings, problem.size_bytes);
        self.at_least(if replaced { 0.0 } else { bound_s() })
    }

    /// The promise of the planner for a problem, where it is above the best time and its flows are too much work.
    pub(crate) fn left_out(&self, planner: &dyn Planner, problem: &Problem) -> Option<Promise> {
        let is_slower = |promise: &Promise| promise.least_s.is_finite() && !ties::within(promise.least_s, self.best_s);
        planner.promise(problem).filter(|promise| promise.work > self.most_work && is_slower(promise))
    }

    /// The reason that stands in place of the time of a planner that was left out.
    pub(crate) fn reason(&self, planner: &str, promise: Promise) -> Error {
        let ratio = promise.least_s / self.best_s;
        let reason = match ratio {
            1.005.. => {
                // Three digits, as other ratios are shown.
                let digits = if ratio < 9.995 { 2 } else { usize::from(ratio < 99.95) };
                let least = units::show_time(promise.least_s);
                format!(
                    "{least} at least, {ratio:.digits$}× as long as the best plan; skipped, as its exact time takes long to \
                     find: run `--planner {planner}`"
                )
            }
            _ => format!(
                "no faster than the best plan, and not planned to the end: run `--planner {planner}` for its time"
            ),
        };
        Error::refused("planner", planner, reason)
    }
}
