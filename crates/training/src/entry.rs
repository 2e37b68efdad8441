//! A way to carry out a communication, by the topologies that it begins and ends with.

/// A topology of a group, or the circuits of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TopologyId(pub(crate) u32);

/// A way to carry out a communication on some ports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    /// Index of the plan; `None` for messages.
    pub(crate) plan: Option<usize>,
    /// Time of the plan without the change to its first topology, s.
    pub(crate) duration_s: f64,
    pub(crate) first: TopologyId,
    pub(crate) last: TopologyId,
    /// Whether messages have circuits of their own.
    pub(crate) direct: bool,
    /// Whether the plan keeps one topology.
    pub(crate) keeps: bool,
    /// Whether messages pass through other ranks; they hold their ports at all ranks then, whose circuits they may use.
    pub(crate) through: bool,
}
