//! The accuracy of a pair's flow, and the method that reaches it.
//!
//! The simplex ends with an optimal basis, after pivots that pass over the square of its rows. The primal-dual method
//! passes over only the entries of the columns, thousands of times, and may be stopped anywhere. The faster one was
//! measured (`benches/front.rs`): the simplex where there are few arcs for each link orbit, the other where there are
//! many or where the simplex has not ended after a second.

pub(crate) use crate::cutoffs::effort::LEAST_COSTLY_ORBITS;
use crate::cutoffs::effort::{
    MANY_ARCS, MANY_ORBITS, MOST_ARCS, MOST_LINK_ORBITS, MOST_OF_MANY, MOST_RANKS_OF_MANY, MOST_RANKS_WHATEVER_LARGE,
    MOST_ROWS,
};
use crate::quotient::Quotient;

/// Part of the load that may be left between the two sides of an exact flow.
const GAP: f64 = 1e-10;
/// Rows times rows, and arcs, that pivots pass over before the primal-dual method goes on.
const PIVOT_WORK: usize = 1 << 30;
/// Cost of the selection of a pivot for each arc, in entries of the inverse.
const WORK_PER_ARC: usize = 8;
/// Entries of columns that the primal-dual method passes over for a point, about a second's, and after which no point
/// of more hops is looked for.
const WORK: usize = 1 << 27;
const WORK_OF_FRONT: usize = 1 << 28;

/// Where to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// The gap that may be left between load and bound, as a part of the load.
    pub(crate) gap: f64,
    /// Pivots of the simplex for all points; the primal-dual method goes on from there.
    pub(crate) pivots: usize,
    /// Entries of columns and arrivals of searches that the primal-dual method passes over for a point.
    pub(crate) work: usize,
    /// The entries and arrivals for all points together: beyond them, no point with more hops is looked for.
    pub(crate) work_of_front: usize,
    /// Hops by which the next point is looked for.
    pub(crate) hops_ahead: u32,
}

impl Effort {
    /// The effort for a front by itself.
    pub(crate) fn exact(quotient: &Quotient) -> Self {
        let (rows, arcs) = (quotient.adjacency.capacities.len(), quotient.arcs.len());
        let by_primal_dual = rows > MOST_ROWS || (rows >= MANY_ORBITS && arcs >= MANY_ARCS * rows);
        let pivots = if by_primal_dual { 0 } else { PIVOT_WORK / (rows * rows + WORK_PER_ARC * arcs) };
        Self { gap: GAP, pivots, work: WORK, work_of_front: WORK_OF_FRONT, hops_ahead: u32::MAX }
    }

    /// The effort for a front of many, on which about this many nanoseconds are spent: one point is left enough for
    /// another, since a hop more is often worth more than the last part of a gap.
    pub(crate) fn within(work: usize) -> Self {
        Self { gap: GAP_OF_MANY, pivots: 0, work: work / 3, work_of_front: work / 3 * 2, hops_ahead: 1 }
    }
}

/// The gap that may be left between load and bound where fronts are many.
const GAP_OF_MANY: f64 = 1e-3;

/// Pivots of a front for each orbit of links, as measured on pairs without symmetry.
const PIVOTS_PER_ROW: u64 = 3;

/// Upper estimate of the work of a front, in nanoseconds: about one for each number that it passes over.
pub(crate) fn front_work(orbits_of_links: u64) -> u64 {
    PIVOTS_PER_ROW.saturating_mul(orbits_of_links.saturating_pow(3)).min(WORK_OF_FRONT as u64)
}

/// Whether no flow is looked for but an equal split over shortest paths.
pub(crate) fn is_too_large(quotient: &Quotient) -> bool {
    let (links, arcs) = (quotient.adjacency.capacities.len(), quotient.arcs.len());
    let are_many = quotient.adjacency.ranks() > MOST_RANKS_WHATEVER_LARGE;
    let most = MOST_OF_MANY / quotient.adjacency.ranks().div_ceil(MOST_RANKS_OF_MANY).pow(2);
    let is_costly = links >= LEAST_COSTLY_ORBITS && links * arcs > most;
    links > MOST_LINK_ORBITS || arcs > MOST_ARCS || (are_many && is_costly)
}
