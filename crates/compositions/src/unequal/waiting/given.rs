//! The candidate on topologies that are given: those of a plan for a matrix like this one.

use model::Topology;

use super::bases;
use super::candidate::Candidate;
use super::task::Task;
use crate::cutoffs::unequal_waiting::{MOST_EXCHANGED_STEPS, TRIALS_FROM_GIVEN};
use crate::unequal::wiring::Wiring;

/// Hops by which the paths of a single step may be longer than its diameter.
const HOPS_MORE: u32 = 1;

/// The candidate on these topologies, one a step; where they are few, after some exchanges of circuits that bring bytes
/// nearer. `None` where some pair has no path on them, or where they do not begin with the start.
pub(super) fn candidate(task: &Task<'_>, from: &[Topology]) -> Option<Candidate> {
    let given: Vec<Wiring> = from.iter().map(|topology| Wiring::of(topology, task.ports)).collect();
    let first = given.first()?;
    if task.start.is_some_and(|start| !start.has_circuits_of(first)) {
        return None;
    }
    let mut random = bases::seeded(0);
    let few = given.len() <= MOST_EXCHANGED_STEPS;
    let exchanged = few.then(|| task.nearer(&given, TRIALS_FROM_GIVEN, &mut random));
    let mut made = |wirings| Candidate::new(task, wirings, HOPS_MORE, &mut random);
    let mut candidate = exchanged.and_then(&mut made).or_else(|| made(given))?;
    candidate.improve_soon(task);
    Some(candidate)
}
