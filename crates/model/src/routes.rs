//! The paths of the traffic of a step.

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
    /// Paths of the traffic entry.
    pub paths: Vec<RoutedPath>,
}

/// Paths of every arc of a step, as one representative per orbit of `symmetry`, by (src, dst).
#[derive(Debug, Clone, PartialEq)]
pub struct Routes {
    /// Group under which the routing is invariant: inside both the topology's and the traffic's.
    pub symmetry: Translations,
    /// One entry for each orbit of arcs.
    pub arcs: Vec<RoutedEntry>,
}

impl Routes {
    /// Every arc with its paths, by (src, dst). Costs O(total length of all paths).
    pub fn expanded(&self) -> Vec<RoutedEntry> {
        let mut all = Vec::new();
        for element in self.symmetry.elements() {
            interruption::check();
            let moved = |rank: Rank| self.symmetry.apply(element, rank);
            for arc in &self.arcs {
                let paths = arc.paths.iter().map(|path| RoutedPath {
                    share: path.share,
                    nodes: path.nodes.iter().map(|&node| moved(node)).collect(),
                });
                all.push(RoutedEntry { src: moved(arc.src), dst: moved(arc.dst), paths: paths.collect() });
            }
        }
        all.sort_by_key(|arc| (arc.src, arc.dst));
        all
    }
}
