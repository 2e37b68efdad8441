//! The candidate on topologies that are given: those of a plan for a matrix like this one.

use model::Topology;

use super::bases;
use super::candidate::Candidate;
use super::task::Task;
use crate::cutoffs::unequal_waiting::TRIALS_FROM_GIVEN;
use crate::unequal::wiring::Wiring;

/// Hops by which the paths of a single step may be longer than its diameter.
const HOPS_MORE: u32 = 1;

/// The candidate on these topologies, one a step, or on them after some exchanges of circuits where that is better;
/// `None` where some pair has no path on them, or where they do not begin with the start.
pub(super) fn candidate(task: &Task<'_>, from: &[Topology]) -> Option<Candidate> {
    let wirings: Vec<Wiring> = from.iter().map(|topology| Wiring::of(topology, task.ports)).collect();
    let first = wirings.first()?;
    if task.start.is_some_and(|start| !start.has_circuits_of(first)) {
        return None;
    }
    let mut random = bases::seeded(0);
    let given = Candidate::new(task, wirings, HOPS_MORE, &mut random)?;
    let wirings = task.nearer(&given.wirings, TRIALS_FROM_GIVEN, &mut random);
    let exchanged = Candidate::new(task, wirings, HOPS_MORE, &mut random);
    Some(exchanged.into_iter().fold(given, |best, other| if other.seconds < best.seconds { other } else { best }))
}
