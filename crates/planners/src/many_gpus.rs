//! Limits of the search where there are many GPUs, so that planning stays a matter of seconds.

pub use crate::cutoffs::many_gpus::{MOST_FOR_ALL, MOST_KINDS};
use model::Topology;

/// Whether a start is left to planners that make their own topologies: so many GPUs look different on it that the flows
/// of every step would take minutes.
pub(crate) fn is_left_out(start: &Topology) -> bool {
    start.ranks() > MOST_FOR_ALL && start.symmetry().orbits() > MOST_KINDS
}
