//! Which paths the traffic of a step takes.

use crate::{Rank, Translations};

/// A share of an arc's traffic on one path.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedPath {
    /// Fraction of the arc's bytes; the shares of an arc add up to 1.
    pub share: f64,
    /// GPUs on the path, sender first, receiver last.
    pub nodes: Vec<Rank>,
}

/// The paths from `src` to `dst`.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedEntry {
    /// Sender.
    pub src: Rank,
    /// Receiver.
    pub dst: Rank,
    /// Its paths.
    pub paths: Vec<RoutedPath>,
}

/// Paths of every arc of a step, as one representative per orbit of `symmetry`, by (src, dst).
#[derive(Debug, Clone, PartialEq)]
pub struct Routes {
    /// Group under which the routing is invariant: inside both the topology's and the traffic's.
    pub symmetry: Translations,
    /// One per orbit of arcs.
    pub arcs: Vec<RoutedEntry>,
}
