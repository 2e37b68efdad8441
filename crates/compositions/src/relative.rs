//! Circuits, transfers and costs of a phase, relative to a rank: places ahead and behind along one coordinate.

use model::Op;

/// Circuits of every rank: `(places ahead, parallel circuits)`.
pub(crate) type Circuits = Vec<(i64, u32)>;

/// The transfers of one step of an AllGather: to the rank `ahead`, the data that the ranks `behind` had before the
/// phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Send {
    pub(crate) ahead: i64,
    pub(crate) behind: Vec<i64>,
}

/// A transfer between two ranks of a coordinate: of what they hold, the parts whose owners are at some places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) op: Op,
    /// The sender, and the receiver ahead of it.
    pub(crate) from: i64,
    pub(crate) ahead: i64,
    /// The owners are at these places along the coordinate, and all that are a multiple of `window` from them.
    pub(crate) window: u32,
    pub(crate) places: Vec<i64>,
}

impl Moved {
    /// All that a rank holds, added up ahead.
    pub(crate) fn whole(&ahead: &i64) -> Self {
        Self { op: Op::Reduce, from: 0, ahead, window: 1, places: vec![0] }
    }
}

/// The cost of a phase, independent of the fabric's numbers: sums over its steps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Sums {
    pub(crate) steps: u32,
    pub(crate) hops: f64,
    /// Load relative to the largest transfer of each step.
    pub(crate) load: f64,
    /// Load of the busiest link in units of what a rank has before the phase.
    pub(crate) amount: f64,
}

impl Sums {
    /// Steps, amount, hops and load: the order in which phases are listed.
    pub(crate) fn by_importance(&self) -> [f64; 4] {
        [f64::from(self.steps), self.amount, self.hops, self.load]
    }
}
