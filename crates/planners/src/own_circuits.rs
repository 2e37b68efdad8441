//! A schedule whose steps each run on circuits of their own.

use model::{Error, Result, Schedule, Topology, counted};

use crate::{Choice, Problem, least_seconds, split_steps};

/// Every step of `schedule` on its own circuits, on the problem's fabric and for its size, unless that costs more than
/// `limit_s`.
pub(crate) fn choose(
    planner: &'static str,
    schedule: &Schedule,
    problem: &Problem,
    limit_s: f64,
) -> Result<Option<Choice>> {
    let ports = problem.fabric.shape.ports();
    let refuse = |error: Error| Error::refused("planner", planner, error.reason());
    // Splitting steps only adds to what they take.
    let is_slower =
        |steps: &Schedule| least_seconds(steps, &problem.fabric, problem.settings, problem.size_bytes) > limit_s;
    if is_slower(schedule) {
        return Ok(None);
    }
    let schedule = split_steps(schedule, ports).map_err(refuse)?;
    if is_slower(&schedule) {
        return Ok(None);
    }
    let mut matchings: Vec<Topology> = Vec::new();
    let mut candidates = Vec::new();
    for (index, step) in schedule.steps().iter().enumerate() {
        let name = format!("matching-{}", index + 1);
        let matching = Topology::of_traffic(name, step.traffic(), ports).ok_or_else(|| {
            Error::refused("planner", planner, format!("step {} needs more than {}", index + 1, counted(ports, "port")))
        })?;
        let known = matchings.iter().position(|other| other.same_links(&matching));
        candidates.push(known.unwrap_or(matchings.len()));
        if known.is_none() {
            matchings.push(matching);
        }
    }
    let own = problem.with(schedule, problem.settings, matchings)?;
    let choice = Choice::priced(planner, own, candidates)?;
    Ok((choice.total_s <= limit_s).then_some(choice))
}
