//! The verdict of `verify` on a plan, and the comparisons that the verifier leaves to others.
//!
//! The verifier shares no code with planners, fronts, bounds and simulation. So three numbers are not its own: the
//! largest bound of a class, the time of a step whose packets overlap hop delays with queueing, and the bound of a
//! training iteration, for which the verifier follows the longest chain and asks for the bound of each collective. They
//! are computed again here, with the code that states them in the first place, and compared as checks with names of
//! their own: `recomputed-bound` and `simulated-steps`. They find out a plan file that was changed; they say nothing of
//! the code that they share with planners. The proofs of `bounds` are judged by linear programs over all schedules of
//! few GPUs in `tests/planning/bounds_from_starts`, packets by a second simulation in
//! `crates/simulate/tests/all/reference`.

use bounds::KnownBounds;
use model::{Bound, Overlap, Plan, Result, Schedule, TrainingPlan, counted};
use verify::{Check, Report};

/// By how much a stated bound may be above the recomputed one, relative: both are sums and least values in some order.
const ROUNDING: f64 = 1e-9;

/// By how much a stated time of packets may differ from the simulated one, relative: two terms were added.
const SPLIT_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Beginning of the name of the class of all algorithms.
const ANY_ALGORITHM: &str = "any algorithm";

/// Judges a plan: the checks of `verify`, then those against bounds and simulated steps that are computed again.
pub fn verify_plan(plan: &Plan) -> Report {
    verify_plan_with(plan, &KnownBounds::default())
}

/// [`verify_plan`], where bounds that were computed already need not be computed again.
pub(crate) fn verify_plan_with(plan: &Plan, known: &KnownBounds) -> Report {
    let mut report = verify::plan(plan);
    report.checks.push(recomputed_bound(plan, known));
    report.checks.extend(simulated_steps(plan));
    report
}

/// Judges a planned training iteration: the checks of `verify`, then that no bound is above what is computed again, the
/// iteration's and those of its groups' plans.
pub fn verify_training(training: &TrainingPlan) -> Report {
    let mut report = verify::training(training);
    let bound = verify::training_bound(training, |collective, pieces, size_bytes, group, settings| {
        bounds::any_algorithm(collective, pieces, group, settings, size_bytes).seconds()
    });
    // Events that lack what their nodes need are judged no further.
    let Some(bound) = bound else { return report };
    report.checks.push(bound);
    report.checks.extend(groups(training));
    report
}

/// The comparisons of every plan of a group: for each check its first failure.
fn groups(training: &TrainingPlan) -> Vec<Check> {
    let known = KnownBounds::default();
    let mut bounds = Comparisons::new("recomputed-plan-bounds");
    let mut steps = Comparisons::new("simulated-steps");
    for (index, plan) in training.plans.iter().enumerate() {
        interruption::check();
        let whose = |check: &Check| format!("plan {index}: {}", check.detail);
        let bound = recomputed_bound(plan, &known);
        bounds.expect(bound.passed, || whose(&bound));
        if let Some(simulated) = simulated_steps(plan) {
            steps.expect(simulated.passed, || whose(&simulated));
        }
    }
    let mut checks = vec![bounds.into_check(|plans| format!("the bounds of {}", counted(plans, "plan")))];
    if steps.made > 0 {
        checks.push(steps.into_check(|plans| format!("the steps of {}", counted(plans, "plan"))));
    }
    checks
}

/// Checks that no stated bound is above what is computed again for its class; a bound of a class that is not known here
/// is said to be stated, not checked.
///
/// Costs what `bounds` does.
fn recomputed_bound(plan: &Plan, known: &KnownBounds) -> Check {
    let mut comparisons = Comparisons::new("recomputed-bound");
    let mut unknown = Vec::new();
    let known = RecomputedBounds::of(plan, known);
    // A bound of zero says nothing.
    for Bound { seconds, class } in
        std::iter::once(&plan.bound).chain(&plan.narrow_bound).filter(|it| it.seconds != 0.0)
    {
        match &known {
            Err(error) => comparisons.expect(false, || format!("the plan's steps do not form a schedule: {error}")),
            Ok(known) => match known.seconds_of(class) {
                None => unknown.push(class.as_str()),
                Some(known_s) => comparisons.expect(*seconds <= known_s * (1.0 + ROUNDING), || {
                    format!("the bound is stated as {seconds} s for {class}; computed again it is {known_s} s")
                }),
            },
        }
    }
    comparisons.into_check(|made| {
        let compared = format!("{} with bounds computed again", counted(made, "comparison"));
        match unknown.is_empty() {
            true => compared,
            false => format!("{compared}; the bound is stated, not checked, for {}", unknown.join("; nor for ")),
        }
    })
}

/// Checks the time of every step's packets, where they overlap hop delays with queueing: propagation and transmission
/// together are what a simulation of the step takes. `None` where the two add up and the verifier computes them itself.
///
/// Costs what the simulation of the plan does.
fn simulated_steps(plan: &Plan) -> Option<Check> {
    if plan.settings.overlap != Overlap::Pipelined {
        return None;
    }
    let mut comparisons = Comparisons::new("simulated-steps");
    for (index, step) in plan.steps.iter().enumerate() {
        let stated_s = step.cost.propagation_s + step.cost.transmission_s;
        match simulate::step_s(plan, index) {
            Err(error) => {
                comparisons.expect(false, || format!("step {index}: its packets cannot be simulated: {error}"))
            }
            Ok(found_s) => comparisons.expect((stated_s - found_s).abs() <= SPLIT_ROUNDING * found_s, || {
                format!(
                    "step {index}: its packets are stated to take {stated_s} s; in the simulation they take {found_s} s"
                )
            }),
        }
    }
    Some(comparisons.into_check(|made| format!("{} with the times of the simulation", counted(made, "step"))))
}

/// Counts comparisons and keeps the first that fails.
struct Comparisons {
    name: &'static str,
    made: u64,
    violation: Option<String>,
}

impl Comparisons {
    fn new(name: &'static str) -> Self {
        Self { name, made: 0, violation: None }
    }

    fn expect(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        self.made += 1;
        if !holds && self.violation.is_none() {
            self.violation = Some(violation());
        }
    }

    fn into_check(self, passed: impl FnOnce(u64) -> String) -> Check {
        let holds = self.violation.is_none();
        Check { name: self.name, passed: holds, detail: self.violation.unwrap_or_else(|| passed(self.made)) }
    }
}

/// The bounds that plan and fabric have in the classes that are known.
struct RecomputedBounds {
    any: Bound,
    steps: Bound,
    /// Three names of the class of the plan's own steps, the last one from older plan files.
    classes: [String; 3],
}

impl RecomputedBounds {
    fn of(plan: &Plan, known: &KnownBounds) -> Result<Self> {
        let (fabric, settings, size_bytes) = (&plan.fabric, plan.settings, plan.size_bytes);
        let any = match plan.chunks.forwarding() {
            0 => known.any_algorithm(plan.collective(), plan.chunks.as_pieces(), fabric, settings, size_bytes).bound(),
            _ => bounds::forwarded(&plan.chunks, fabric, settings, size_bytes),
        };
        let steps = plan.steps.iter().map(|step| step.step.clone()).collect();
        let schedule = Schedule::new(plan.algorithm.clone(), plan.chunks.clone(), steps)?;
        let of_steps = |steps: &str| bounds::class_of_steps(steps, fabric);
        Ok(Self {
            any,
            classes: [
                of_steps(&bounds::steps_of_plan(&schedule)),
                of_steps(&bounds::steps_of_algorithm(&schedule)),
                format!(
                    "{} as given, any topology of degree at most {} in each step, any reconfigurations",
                    plan.algorithm,
                    fabric.shape.ports()
                ),
            ],
            steps: bounds::given_schedule(&schedule, fabric, settings, size_bytes).bound(),
        })
    }

    /// The bound of a class, s; `None` where the class is none of these. A class whose name begins like the class of
    /// all algorithms is held to that bound.
    fn seconds_of(&self, class: &str) -> Option<f64> {
        if class.starts_with(ANY_ALGORITHM) || class == self.any.class {
            return Some(self.any.seconds);
        }
        self.classes.iter().any(|known| known == class).then_some(self.steps.seconds)
    }
}
