//! One shortest path per arc (PCCL algorithm 2).
//!
//! Among the shortest paths it is the one that takes, at each GPU, the first link that leads nearer. Links
//! of GPUs of one orbit are listed in the same order, so the choice is invariant under the topology's
//! translations, and so is what it loads.

use model::{Rank, RoutedEntry, RoutedPath, Routes, TrafficEntry};

use crate::front::Point;
use crate::quotient::{Distance, Quotient};

/// The one point of the front. `hops`: the largest shortest distance of the arcs, all of which have a path.
/// O(Σ distances · links per GPU).
pub(crate) fn point(distance: impl Distance, quotient: &Quotient, hops: u32) -> Point {
    let mut carried = vec![0.0; quotient.adjacency.capacities.len()];
    for arc in interruption::checked(&quotient.arcs) {
        walk(distance, quotient, arc, |_, orbit| carried[orbit as usize] += arc.weight);
    }
    let load = quotient.largest_load(&carried);
    Point { hops, load, lower: load }
}

/// The paths of [`point`].
pub(crate) fn routes(distance: impl Distance, quotient: &Quotient) -> Routes {
    let routed = |arc: &TrafficEntry| {
        let mut nodes = vec![arc.src];
        walk(distance, quotient, arc, |node, _| nodes.push(node));
        RoutedEntry { src: arc.src, dst: arc.dst, paths: vec![RoutedPath { share: 1.0, nodes }] }
    };
    Routes { symmetry: quotient.symmetry.clone(), arcs: interruption::checked(&quotient.arcs).map(routed).collect() }
}

/// Calls `visit(next node, link orbit)` along the path of `arc`.
fn walk(distance: impl Distance, quotient: &Quotient, arc: &TrafficEntry, mut visit: impl FnMut(Rank, u32)) {
    let (mut node, mut left) = (arc.src, distance(arc.src, arc.dst).unwrap_or(0));
    while left > 0 {
        let nearer = |next: Rank| distance(next, arc.dst).is_some_and(|distance| distance < left);
        let Some(head) = quotient.adjacency.out(node).iter().find(|head| nearer(head.dst)) else { return };
        visit(head.dst, head.orbit);
        node = head.dst;
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoutingNetwork;
    use model::{Link, Routing, Topology, Traffic, Translations};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_path_moves_with_its_ends_and_is_shortest(
            (a, b) in (2u32..6, 2u32..6), steps in prop::collection::vec(1u32..36, 1..5), to in 1u32..36, by in 0u32..36,
        ) {
            let group = Translations::grid(&[a, b], &[1, 1]);
            let links = steps.iter().map(|s| Link { src: 0, dst: s % (a * b), count: 1 }).filter(|l| l.dst != 0);
            let network = RoutingNetwork::new(&Topology::new("grid", group.clone(), links).unwrap());
            // The traffic knows of no symmetry, so nothing but the tie-break makes the paths alike.
            let path = |src: u32, dst: u32| {
                let traffic = Traffic::new(Translations::trivial(a * b), [TrafficEntry { src, dst, weight: 1.0 }]).ok()?;
                let (routes, point) = network.routes(&traffic, Routing::SinglePath, u32::MAX)?;
                Some((routes.arcs[0].paths[0].nodes.clone(), point))
            };
            let (to, by) = (to % (a * b), by % (a * b));
            if let Some((nodes, point)) = path(0, to) {
                let moved: Vec<u32> = nodes.iter().map(|&node| group.apply(by, node)).collect();
                prop_assert_eq!(Some((moved, point)), path(by, group.apply(by, to)));
                prop_assert_eq!(Some(nodes.len() as u32 - 1), network.distance(0, to));
            }
        }
    }
}
