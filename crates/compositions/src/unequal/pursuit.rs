//! The limits of a search for compositions: its end, the topologies that it begins with, the listener to better ones.

use std::time::Instant;

use model::{Rank, Result, Topology};

use crate::composition::Composition;

/// A composition that is faster than those before it.
pub struct Better {
    /// Time by the search's count, s: that of its plan but for rounding.
    pub seconds: f64,
    /// Makes it.
    pub composition: Box<dyn Fn() -> Result<Composition> + Send + Sync>,
}

/// Topologies that a search begins with, and how bytes travel through them.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// One a step.
    pub topologies: Vec<Topology>,
    /// Paths of pairs; a pair without any gets some.
    pub paths: Vec<GivenPath>,
}

/// A path of bytes from a rank to another.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenPath {
    /// Sender.
    pub src: Rank,
    /// Receiver.
    pub dst: Rank,
    /// Bytes on the path, in a unit that all paths share.
    pub share: f64,
    /// The circuits that it passes, in order: the step of each, and the rank to which it leads.
    pub hops: Vec<(u32, Rank)>,
}

/// The limits of a search that can be left at any time with what was found.
#[derive(Clone, Copy, Default)]
pub struct Pursuit<'a> {
    /// When it ends. Until then it goes on for something better; where there is none, it ends by itself.
    pub until: Option<Instant>,
    /// Topologies that it begins with, in place of those that are made for the matrix.
    pub from: Option<&'a Given>,
    /// Told of every composition that is faster than those before it.
    pub told: Option<&'a (dyn Fn(Better) + Sync)>,
}

impl Pursuit<'_> {
    /// Whether its time is over.
    pub(crate) fn is_over(&self) -> bool {
        is_past(self.until)
    }
}

/// Whether a moment has come; never where there is none.
pub(crate) fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}
