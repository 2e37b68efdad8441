//! The interface of every planner.

use model::{ChargeKind, CostSettings, Error, Fabric, Initial, Overlap, Result, Schedule, Shape};

use crate::{Capabilities, Choice, PlannerOptions, Problem, Promise};

/// A way to choose topologies. Pure and deterministic.
pub trait Planner: Sync {
    /// Name for `--planner`.
    fn name(&self) -> &'static str;
    /// A description in a sentence.
    fn summary(&self) -> &'static str;
    /// Paper and section.
    fn source(&self) -> &'static str;
    /// The planner's capabilities, except those that depend on the schedule.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
    /// Whether the planner splits or joins steps of the schedule, so that bounds for these steps do not hold for its
    /// plans.
    fn changes_steps(&self, _schedule: &Schedule, _ports: u32) -> bool {
        false
    }
    /// The choices of its own kind that it does not look at on a fabric of this shape, for the effort, in words; `None`
    /// where it looks at all.
    fn left_out(&self, _shape: &Shape) -> Option<String> {
        None
    }
    /// The least time of its plan as known before flows are solved, and the work on these; `None` where it solves none,
    /// or knows nothing.
    fn promise(&self, _problem: &Problem) -> Option<Promise> {
        None
    }
    /// The topologies that it chooses and what they cost; `None` when they would cost more than `limit_s`,
    /// which may be known long before what they cost is.
    ///
    /// # Errors
    /// When no choice of its kind serves the problem.
    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>>;

    /// The topologies that it chooses and what they cost.
    ///
    /// # Errors
    /// When no choice of its kind serves the problem.
    fn choose(&self, problem: &Problem) -> Result<Choice> {
        let choice = self.choose_within(problem, f64::INFINITY)?;
        choice.ok_or_else(|| {
            Error::infeasible("planner", format!("{} finds no plan that takes a finite time", self.name()))
        })
    }
}

/// Whether what a planner takes for a schedule is a concave function of α, δ, β·m and α_r, so that an [`Envelope`]
/// serves many points.
pub fn is_concave(
    planner: &dyn Planner,
    schedule: &Schedule,
    fabric: &Fabric,
    settings: CostSettings,
    options: &PlannerOptions,
) -> bool {
    let knows = planner.capabilities();
    settings.overlap == Overlap::Additive
        && fabric.shape.faults().is_empty()
        && fabric.shape.circuits_are_alike()
        && (knows.closes_cycles || fabric.initial != Initial::Repeated)
        && fabric.reconfiguration.charge_kind() != ChargeKind::Overlapping
        && options.chunk_bytes.is_none()
        && knows.least_sum.holds_for(schedule)
}
