//! How much is looked at where there are many GPUs, so that planning stays a matter of seconds.

use model::Topology;

/// GPUs up to which every default candidate, every algorithm and every start is looked at.
pub const MOST_FOR_ALL: u32 = 4096;

/// GPUs that may look different from each other to a pattern on a topology beyond that: flows are computed for one of
/// each kind.
pub const MOST_KINDS: u32 = 64;

/// Whether a start is left to planners that make their own topologies: so many GPUs look different on it that the flows
/// of every step would take minutes.
pub(crate) fn is_left_out(start: &Topology) -> bool {
    start.ranks() > MOST_FOR_ALL && start.symmetry().orbits() > MOST_KINDS
}
