//! Circuits between two GPUs, and pairs of GPUs up to symmetry.

use model::{Rank, Topology, Translations};

/// The pair moved by the element that takes its first rank to the orbit's representative.
pub(crate) fn canonical(group: &Translations, (src, dst): (Rank, Rank)) -> (Rank, Rank) {
    let (start, element) = group.canonical(src);
    (start, group.apply(group.inverse(element), dst))
}

/// Parallel circuits `src` → `dst`, 0 where there is no link.
pub(crate) fn circuits(topology: &Topology, src: Rank, dst: Rank) -> u32 {
    let pair = canonical(topology.symmetry(), (src, dst));
    let links = topology.links();
    links.binary_search_by_key(&pair, |link| (link.src, link.dst)).map_or(0, |at| links[at].count)
}
