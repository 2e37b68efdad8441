//! Plans for a fabric whose times are uncertain: candidates of all planners, compared by samples of their times.

use interruption::Interruptible;
use model::{Error, Plan, Result, units};
use planners::{Choice, OperatingPoint};
use rayon::prelude::*;
use simulate::{Basis, Objective, Sampled, Uncertainty, regrets_s};

use crate::baseline_limits::BaselineLimits;
use crate::compare::for_all_planners;
use crate::cutoffs::uncertain::KEPT_WITH;
use crate::race::Race;
use crate::{Prepared, Request, planned};

/// A plan with samples of its completion time.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledPlan {
    /// The plan; its own times are those where nothing is uncertain.
    pub plan: Plan,
    /// Samples of its completion time.
    pub sampled: Sampled,
    /// How much longer it takes than the fastest of the plans, in the mean over all samples, s.
    pub regret_s: f64,
}

/// Plans of the request, each with `samples` samples of its time, the best by `objective` first, of equals that of the
/// least time where nothing is uncertain.
///
/// Candidates are the plan of the request, the best that never changes circuits, the best of every planner, and the
/// plans for fabrics whose numbers are those that the slowest parts keep with some probabilities: a delay that is
/// sometimes long is best met by a plan that changes circuits less often. All are priced on the request's fabric.
///
/// # Errors
/// Wrong input, or nothing that serves the request.
pub fn plans_by(
    request: &Request,
    uncertainty: &Uncertainty,
    objective: Objective,
    samples: u64,
    seed: u64,
) -> Result<Vec<SampledPlan>> {
    request.refuse_forwarding()?;
    if request.fabric.shape.positions().is_some() {
        let accepts = "fabrics without positions, whose fibres have no distribution";
        return Err(Error::value("positions", "positions of GPUs", accepts));
    }
    if request.fabric.electrical.is_some() {
        let reason = "plans among samples are chosen on circuits alone";
        return Err(Error::refused("electrical", "a fabric with electrical switches", reason));
    }
    if let Some((field, unlike)) = request.fabric.shape.unlike_rates() {
        let accepts = "one rate for all circuits, whose plans are chosen among samples";
        return Err(Error::value(field, unlike, accepts));
    }
    let (prepared, at) = for_all_planners(request)?;
    let choices = distinct(candidates(&prepared, &at, uncertainty)?);
    let keeps_steps = prepared.keeps_steps();
    let made = choices.into_par_iter().interruptible().map(|choice| {
        let plan = planned(choice, keeps_steps)?;
        let sampled = simulate::sample(&plan, uncertainty, Basis::Plan, samples, seed)?;
        Ok((plan, sampled))
    });
    let (plans, sampled): (Vec<Plan>, Vec<Sampled>) = made.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let regrets_s = regrets_s(&sampled);
    let each = plans.into_iter().zip(sampled).zip(regrets_s);
    let mut made: Vec<SampledPlan> =
        each.map(|((plan, sampled), regret_s)| SampledPlan { plan, sampled, regret_s }).collect();
    // Candidates stand in that order where nothing is uncertain.
    if objective != Objective::Nominal {
        made.sort_by(|one, other| objective.of(&one.sampled).total_cmp(&objective.of(&other.sampled)));
    }
    Ok(made)
}

/// The choices that are compared, the best where nothing is uncertain first, all priced on the request's own fabric.
fn candidates(prepared: &Prepared, at: &OperatingPoint, uncertainty: &Uncertainty) -> Result<Vec<Choice>> {
    let best = prepared.best_at(at)?;
    let limits = BaselineLimits::plan(best.total_s);
    let of_planner = |name: &'static str| {
        let mut race = Race::within(Some(limits));
        prepared.run(&mut race, |planner| planner.name() == name, at);
        race.fastest().map(|(_, choice)| choice.clone())
    };
    let given = prepared.planners().iter().filter(|planner| !planner.capabilities().chooses_algorithm);
    let mut others: Vec<Choice> =
        given.collect::<Vec<_>>().into_par_iter().interruptible().filter_map(|one| of_planner(one.name())).collect();
    others.extend(prepared.unchanging_at(at).ok());
    let elsewhere = KEPT_WITH.into_par_iter().interruptible().filter_map(|&probability| {
        let kept = uncertainty.kept_with(&prepared.request().fabric, probability);
        let numbers = OperatingPoint {
            startup_s: kept.startup_s,
            bandwidth_bps: units::rate_from_f64("bandwidth", kept.bandwidth_bps).ok()?,
            reconfiguration_delay_s: kept.reconfiguration_delay_s,
            ..*at
        };
        let choice = prepared.best_at(&numbers).ok()?;
        Choice::priced(choice.planner, choice.problem.at(at), choice.candidates).ok()
    });
    others.extend(elsewhere.collect::<Vec<_>>());
    others.sort_by(|one, other| one.total_s.total_cmp(&other.total_s));
    others.insert(0, best);
    Ok(others)
}

/// The choices, of those that are alike in algorithm, changes of topology and terms of their time the first.
fn distinct(choices: Vec<Choice>) -> Vec<Choice> {
    let mut seen = Vec::new();
    let mut is_new = |choice: &Choice| {
        let Ok(cost) = choice.cost() else { return false };
        let appearance = (choice.problem.schedule().algorithm().to_string(), choice.reconfigurations(), cost);
        let is_new = !seen.contains(&appearance);
        if is_new {
            seen.push(appearance);
        }
        is_new
    };
    choices.into_iter().filter(|choice| is_new(choice)).collect()
}
