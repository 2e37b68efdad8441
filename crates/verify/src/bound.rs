//! The stated lower bounds.
//!
//! Two checks are the judge's own and share no code with what states a bound: none is above the plan's time, and none
//! that is for any algorithm is above the time of [schedules](own_schedules) that the judge makes. A bound that passes
//! both may still be too large. So what is stated is held to what the crate `bounds` makes of the fabric's numbers and
//! the plan's transfers, too. That tells a plan from a file that was changed; it says nothing of `bounds`, whose proofs
//! are judged by linear programs over all schedules of few GPUs in `tests/planning/bounds_from_starts`.

mod own_schedules;

use bounds::KnownBounds;
use model::{Bound, Plan, Result, Schedule};

use crate::report::{Check, Tally};

/// By how much a stated bound may be above the recomputed one, relative: both are sums and least values in some order.
const ROUNDING: f64 = 1e-9;

/// How the class of all algorithms begins.
const ANY_ALGORITHM: &str = "any algorithm";

/// Checks that every bound is a time, not above the plan's, not above that of the judge's own schedules, and not above
/// what is recomputed for its class; a bound of a class that is not known here is said to be stated, not checked.
///
/// Costs what `bounds` does.
pub(crate) fn check(plan: &Plan, known: &KnownBounds) -> Check {
    let mut tally = Tally::new("bound");
    let mut unknown = Vec::new();
    let known = RecomputedBounds::of(plan, known);
    let own_s = own_schedules::fastest_s(plan);
    for bound in std::iter::once(&plan.bound).chain(&plan.narrow_bound) {
        let Bound { seconds, class } = bound;
        tally.expect(seconds.is_finite() && *seconds >= 0.0, || format!("{seconds} s is not a time"));
        tally.expect(*seconds <= plan.total_s(), || {
            format!("the bound is {seconds} s for {class}, the plan takes {} s", plan.total_s())
        });
        if let Some(own_s) = own_s.filter(|_| class.starts_with(ANY_ALGORITHM)) {
            tally.expect(*seconds <= own_s * (1.0 + ROUNDING), || {
                format!("it is stated as {seconds} s for {class}, where a schedule without a change takes {own_s} s")
            });
        }
        // A bound of nothing says nothing.
        if *seconds == 0.0 {
            continue;
        }
        match &known {
            Err(error) => {
                tally.expect(false, || format!("the steps make no schedule: {error}"));
            }
            Ok(known) => match known.seconds_of(class) {
                None => unknown.push(class.as_str()),
                Some(known_s) => {
                    tally.expect(*seconds <= known_s * (1.0 + ROUNDING), || {
                        format!("it is stated as {seconds} s for {class}, which the fabric makes {known_s} s")
                    });
                }
            },
        }
    }
    if let Some(narrow) = &plan.narrow_bound {
        let first = plan.bound.seconds;
        tally.expect(narrow.seconds >= first, || {
            format!("{} s for a narrower class is below {first} s", narrow.seconds)
        });
    }
    match unknown.is_empty() {
        true => tally.into_check("comparison", "of the bounds, which were recomputed"),
        false => tally.into_check(
            "comparison",
            &format!("of the bounds; the bound is stated, not checked, for {}", unknown.join("; nor for ")),
        ),
    }
}

/// What plan and fabric make of the classes that are known.
struct RecomputedBounds {
    any: Bound,
    steps: Bound,
    /// The plan's steps, as its own, as those of its algorithm, and as earlier plan files say it.
    classes: [String; 3],
}

impl RecomputedBounds {
    fn of(plan: &Plan, known: &KnownBounds) -> Result<Self> {
        let (fabric, settings, size_bytes) = (&plan.fabric, plan.settings, plan.size_bytes);
        let any = known.any_algorithm(plan.collective(), plan.chunks.as_pieces(), fabric, settings, size_bytes);
        let steps = plan.steps.iter().map(|step| step.step.clone()).collect();
        let schedule = Schedule::new(plan.algorithm.clone(), plan.chunks.clone(), steps)?;
        let of_steps = |steps: &str| bounds::class_of_steps(steps, fabric);
        Ok(Self {
            any: any.bound(),
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

    /// The bound of a class, s; `None` where the class is none of these. Words that begin like the class of all
    /// algorithms are held to its bound, whatever follows.
    fn seconds_of(&self, class: &str) -> Option<f64> {
        if class.starts_with(ANY_ALGORITHM) {
            return Some(self.any.seconds);
        }
        self.classes.iter().any(|known| known == class).then_some(self.steps.seconds)
    }
}
