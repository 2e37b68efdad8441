//! A plan, compared with that of every planner.

use interruption::Interruptible;
use model::{Plan, Result, StepCost};
use planners::{OperatingPoint, Planner, ties};
use rayon::prelude::*;

use crate::baseline_limits::BaselineLimits;
use crate::compare::for_all_planners;
use crate::race::Race;
use crate::row::{PlannerOutcome, Row, row_of, row_of_best};
use crate::{Prepared, Request, never_change, tiers};

/// Every planner that a request without a planner's name would allow, at its best algorithm, and the best plan of all
/// algorithms whose circuits never change, fastest first: for each planner the first of its lines in
/// [`crate::compare`]. A planner that serves nothing is left out; one that is known to be slower than the best, and
/// whose exact time takes long to find, is a line without a time that says so, after the others. So is the line of
/// circuits that never change, where they serve nothing. `known`: the plan of the request, which planners that keep the
/// best of all planners then need not make again.
///
/// # Errors
/// Wrong input.
pub fn baselines(request: &Request, known: Option<&Plan>) -> Result<Vec<Row>> {
    let given = known;
    // The best of all is what the plan is where nothing else was asked for.
    let known = known.filter(|_| request.leaves_planner_open());
    let (prepared, at) = for_all_planners(&Request { planner: None, ..request.clone() })?;
    let best = match known {
        Some(plan) => Best { seconds: Some(plan.total_s()), row: Box::new(|planner| row_of_best(planner, plan)) },
        None => {
            let choice = prepared.best_at(&at);
            let seconds = choice.as_ref().ok().map(|choice| choice.total_s);
            Best { seconds, row: Box::new(move |planner| row_of(planner, None, choice.clone())) }
        }
    };
    let mut rows = lines(&prepared, &at, &best, BaselineLimits::plan);
    let over_all = never_change::rows(request, &prepared, &at);
    // A planner's best row over all algorithms replaces its best row for the named algorithm.
    let is_replaced = |row: &Row| row.keeps_the_best && over_all.iter().any(|other| other.planner == row.planner);
    rows.retain(|(_, _, row)| !is_replaced(row));
    let over_all = over_all.into_iter().map(|row| if never_changes(&row) { on_both_tiers(request, row) } else { row });
    let said = over_all.filter(|row| row.outcome.is_ok() || never_changes(row)).map(|row| match given {
        Some(plan) => named_as_plan(row, plan),
        None => row,
    });
    rows.extend(said.map(|row| (row.time_s(), prepared.planners().len(), row)));
    Ok(in_order(rows))
}

fn never_changes(row: &Row) -> bool {
    planners::find(&row.planner).is_ok_and(|planner| planner.capabilities().never_changes)
}

/// The line of circuits that never change, which on islands use both tiers as the plan does; the line as it is where
/// nothing else serves.
fn on_both_tiers(request: &Request, row: Row) -> Row {
    let unchanging = Request { planner: Some(row.planner.clone()), ..request.clone() };
    let planner = unchanging.never_changes().filter(|_| tiers::serves(&unchanging));
    let Some((planner, plan)) = planner.and_then(|planner| Some((planner, tiers::best(&unchanging).ok()?))) else {
        return row;
    };
    row_of_best(planner, &plan)
}

/// The line, which names the topology of the plan where the plan keeps one topology, is by the same algorithm and as
/// fast, and the line's circuits never change: among equally fast topologies it is the one that the reader sees.
fn named_as_plan(row: Row, plan: &Plan) -> Row {
    let is_as_fast =
        |found: &PlannerOutcome| (found.total_s, found.reconfigurations) == (plan.total_s(), plan.reconfigurations());
    let first = plan.steps[0].topology;
    let keeps_one = plan.steps.iter().all(|step| step.topology == first);
    match &row.outcome {
        Ok(found) if never_changes(&row) && keeps_one && row.algorithm == plan.algorithm && is_as_fast(found) => {
            let cost = StepCost::sum(plan.steps.iter().map(|step| &step.cost));
            let outcome = Ok(PlannerOutcome { cost, ..*found });
            Row { topology: plan.topologies[first].name().to_string(), outcome, ..row }
        }
        _ => row,
    }
}

/// A line with its time or what it takes at least, s, and its place among those that are equally fast.
type Placed = (f64, usize, Row);

/// Fastest first, lines without a time last.
fn in_order(mut rows: Vec<Placed>) -> Vec<Row> {
    rows.sort_by(|a, b| a.2.outcome.is_err().cmp(&b.2.outcome.is_err()).then(ties::order((a.0, a.1), (b.0, b.1))));
    rows.into_iter().map(|(_, _, row)| row).collect()
}

/// The plan that the lines are compared with.
struct Best<'a> {
    /// Time of the plan; `None` where there is no plan.
    seconds: Option<f64>,
    /// Line of the comparison for a planner that keeps the best of all.
    row: Box<dyn Fn(&'static dyn Planner) -> Row + Sync + Send + 'a>,
}

/// Every planner's line, next to the best choice.
fn lines(prepared: &Prepared, at: &OperatingPoint, best: &Best<'_>, limits: fn(f64) -> BaselineLimits) -> Vec<Placed> {
    let limits = best.seconds.map(limits);
    let line = |(place, planner): (usize, &'static dyn Planner)| -> Option<Placed> {
        if planner.capabilities().chooses_algorithm {
            let row = (best.row)(planner);
            return row.outcome.is_ok().then(|| (row.time_s(), place, row));
        }
        let mut race = Race::within(limits);
        prepared.run(&mut race, |other| other.name() == planner.name(), at);
        let fastest = race.fastest().map(|(_, choice)| choice.clone());
        let fastest_s = fastest.as_ref().map_or(f64::INFINITY, |choice| choice.total_s);
        match (race.left_out, limits) {
            (Some(promise), Some(limits)) if ties::within(promise.least_s, fastest_s) => {
                Some((promise.least_s, place, Row::left_out(planner, None, "", limits, promise)))
            }
            _ => fastest.map(|choice| (fastest_s, place, row_of(planner, None, Ok(choice)))),
        }
    };
    let planners: Vec<(usize, &'static dyn Planner)> = prepared.planners().iter().copied().enumerate().collect();
    planners.into_par_iter().interruptible().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Size, Workload};
    use collectives::Options;
    use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};
    use planners::PlannerOptions;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(24)))]

        /// With no work allowed, planners that are slower than the best may be left out, and no others; the rest is as
        /// it is.
        #[test]
        fn what_is_left_out_is_slower_than_the_best(
            gpus in 5u32..12, ports in 2u32..4, log_size in 10u32..28, log_delay in -7.0f64..-4.0,
        ) {
            let fabric = Fabric {
                shape: Shape::new(gpus, &[], ports).unwrap(),
                bandwidth_bps: 8e11,
                startup_s: 500e-9,
                barrier_s: 0.0,
                hop_delay_s: 500e-9,
                reconfiguration: ReconfigurationPolicy::constant(10f64.powf(log_delay)),
                initial: Initial::Free,
                optics: None,
                electrical: None,
            };
            let (collective, algorithm) = (Collective::AllToAll, None);
            let request = Request {
                fabric,
                workload: Workload::Collective { collective, algorithm, options: Options::default() },
                size: Size::Buffer(1 << log_size),
                settings: CostSettings::default(),
                routing_is_given: false,
                planner: None,
                candidates: None,
                static_topologies: None,
                cache: std::sync::Arc::default(),
                options: PlannerOptions::default(),
                seed: 0,
            };
            let plan = crate::plan(&request).unwrap();
            // The best without a change of circuits is not one of the planners that run by themselves.
            let mut rows = baselines(&request, None).unwrap();
            rows.retain(|row| planners::find(&row.planner).is_ok_and(|of| !of.capabilities().never_changes));
            let (prepared, at) = for_all_planners(&request).unwrap();
            let choice = prepared.best_at(&at);
            let row = |planner| row_of(planner, None, choice.clone());
            let best = Best { seconds: Some(plan.total_s()), row: Box::new(row) };
            let exact = in_order(lines(&prepared, &at, &best, |best_s| {
                BaselineLimits { best_s, most_work: u64::MAX, most_patterns: u64::MAX }
            }));
            prop_assert_eq!(&rows, &exact);
            let without_flows = |best_s| BaselineLimits { best_s, most_work: 0, most_patterns: u64::MAX };
            let without_schedules = |best_s| BaselineLimits { best_s, most_work: 0, most_patterns: 0 };
            for (few, all_may_be) in [(without_flows as fn(f64) -> BaselineLimits, false), (without_schedules, true)] {
                for row in in_order(lines(&prepared, &at, &best, few)) {
                    let same = exact.iter().find(|other| other.planner == row.planner);
                    match row.outcome {
                        Ok(_) => prop_assert_eq!(Some(&row), same),
                        Err(_) => {
                            let slower = |same: &Row| same.time_s() >= plan.total_s() * (1.0 - 1e-9);
                            prop_assert!(same.map_or(all_may_be, slower), "{row:?}");
                        }
                    }
                }
            }
        }
    }
}
