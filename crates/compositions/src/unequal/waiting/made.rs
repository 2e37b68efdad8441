//! The topologies of a candidate, made for a matrix.

use rand_chacha::ChaCha8Rng;

use super::bases::{Base, Heats};
use super::circuits;
use super::task::Task;
use crate::unequal::demand::Demand;
use crate::unequal::wiring::Wiring;

/// The topologies of a candidate: the start where it is given, then some on a base.
pub(super) fn made(
    task: &Task<'_>,
    weights: &Demand,
    steps: usize,
    base: Base,
    heats: &Heats,
    random: &mut ChaCha8Rng,
) -> Vec<Wiring> {
    let mut wirings: Vec<Wiring> = task.start.into_iter().cloned().collect();
    if steps > wirings.len() {
        let base = base.wiring(task.demand, heats, random);
        wirings.extend(circuits::wirings(weights, (steps - wirings.len(), task.ports), &base, random));
    }
    wirings
}
