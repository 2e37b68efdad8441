//! A choice that was made for a simpler fabric, taken over to another.

use model::{Result, Schedule, Topology};

use crate::{Choice, ClassBound, Problem};

/// The candidates that a choice uses, each once, and which of them every step has.
pub(crate) fn used_by(choice: &Choice) -> (Vec<usize>, Vec<usize>) {
    let mut used = choice.candidates.clone();
    used.sort_unstable();
    used.dedup();
    let of_step = choice.candidates.iter().map(|candidate| used.partition_point(|other| other < candidate)).collect();
    (used, of_step)
}

/// The problem of a choice on the fabric of `problem`.
pub(crate) fn on_fabric(
    choice: &Choice,
    problem: &Problem,
    schedule: Schedule,
    topologies: Vec<Topology>,
) -> Result<Problem> {
    let problem = Problem { quick_flows: choice.problem.quick_flows, ..problem.clone() };
    problem.with(schedule, choice.problem.settings, topologies)
}

/// The planner's choice with topologies of its problem by step.
pub(crate) fn priced(choice: &Choice, own: Problem, of_step: Vec<usize>) -> Result<Choice> {
    let candidates = alike_as_one(&own, of_step);
    let class_bound = choice.class_bound.as_ref().map(|_| ClassBound::any_algorithm(&own));
    Ok(Choice { class_bound, ..Choice::priced(choice.planner, own, candidates)? })
}

/// Candidates by step, each the first one with its circuits: topologies of a choice that differed may be alike on
/// another fabric, where from one to the other nothing changes.
pub(crate) fn alike_as_one(own: &Problem, of_step: Vec<usize>) -> Vec<usize> {
    let table = &own.table;
    let first = |candidate| table.position(table.candidate(candidate)).unwrap_or(candidate);
    let firsts: Vec<usize> = (0..table.candidates()).map(first).collect();
    of_step.into_iter().map(|candidate| firsts[candidate]).collect()
}
