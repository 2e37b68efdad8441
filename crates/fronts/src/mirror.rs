//! Mirror images: GPU u stands for GPU n − 1 − u.
//!
//! Generalised Kautz graphs are their own mirror images: where u leads to −(d·u + k) for k = 1 … d, its image leads to
//! the image of that, with d + 1 − k for k. A shift of all ranks becomes the shift the other way, so that half of an
//! All-to-All's steps cost on such a graph what the other half does. Every translation becomes its inverse.

use model::{Link, Rank, RoutedEntry, RoutedPath, Routes, Traffic, TrafficEntry};

use crate::network::RoutingNetwork;

/// The mirror image of a pattern.
pub fn mirrored_traffic(traffic: &Traffic) -> Option<Traffic> {
    let image = |rank: Rank| traffic.ranks() - 1 - rank;
    let arc = |arc: &TrafficEntry| TrafficEntry { src: image(arc.src), dst: image(arc.dst), ..*arc };
    Traffic::new(traffic.symmetry().clone(), traffic.arcs().iter().map(arc)).ok()
}

/// The mirror image of routes, one of each orbit as before.
pub fn mirrored_routes(routes: Routes) -> Routes {
    let Routes { symmetry, arcs } = routes;
    let image = |rank: Rank| symmetry.ranks() - 1 - rank;
    let moved = |arc: RoutedEntry| {
        let (_, element) = symmetry.canonical(image(arc.src));
        let place = |rank: Rank| symmetry.apply(symmetry.inverse(element), image(rank));
        let path = |path: RoutedPath| RoutedPath { nodes: path.nodes.into_iter().map(place).collect(), ..path };
        RoutedEntry { src: place(arc.src), dst: place(arc.dst), paths: arc.paths.into_iter().map(path).collect() }
    };
    let mut arcs: Vec<RoutedEntry> = arcs.into_iter().map(moved).collect();
    arcs.sort_by_key(|arc| (arc.src, arc.dst));
    Routes { symmetry, arcs }
}

impl RoutingNetwork {
    /// Whether the topology is its own mirror image. O(links · log) once.
    pub fn is_its_mirror_image(&self) -> bool {
        *self.mirrors.get_or_init(|| {
            let (topology, symmetry) = (self.topology(), self.topology().symmetry());
            let image = |rank: Rank| topology.ranks() - 1 - rank;
            let is_there = |link: &Link| {
                let (src, element) = symmetry.canonical(image(link.src));
                let dst = symmetry.apply(symmetry.inverse(element), image(link.dst));
                let found = topology.links().binary_search_by_key(&(src, dst), |other| (other.src, other.dst));
                found.is_ok_and(|at| topology.capacity(&topology.links()[at]) == topology.capacity(link))
            };
            topology.links().iter().all(is_there)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Routing, Topology, Translations};
    use proptest::prelude::*;

    /// i → −(d·i + k) mod n, k = 1 … d, without loops.
    fn kautz(ranks: u32, degree: u32) -> Topology {
        let link = |src: u32, k: u32| Link { src, dst: (ranks - (degree * src + k) % ranks) % ranks, count: 1 };
        let links = (0..ranks).flat_map(|src| (1..=degree).map(move |k| link(src, k)));
        Topology::new("kautz", Translations::trivial(ranks), links.filter(|link| link.src != link.dst)).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

        #[test]
        fn images_have_the_same_fronts_and_routes_of_them(ranks in 5u32..20, degree in 2u32..5, offset in 1u32..20) {
            prop_assume!(degree < ranks);
            let network = RoutingNetwork::new(&kautz(ranks, degree));
            prop_assert!(network.is_its_mirror_image());
            let offset = 1 + offset % (ranks - 1);
            let shift = |dst| Traffic::new(Translations::cyclic(ranks), [TrafficEntry { src: 0, dst, weight: 1.0 }]).unwrap();
            let image = mirrored_traffic(&shift(offset)).unwrap();
            prop_assert_eq!(&image, &shift(ranks - offset));
            let of = |traffic: &Traffic| network.front(traffic, Routing::ConcurrentFlow).unwrap();
            let (own, other) = (of(&shift(offset)), of(&image));
            for (point, same) in own.points().iter().zip(other.points()) {
                prop_assert!(point.hops == same.hops && (point.load - same.load).abs() <= 1e-9 * point.load);
            }
            let routes = |traffic: &Traffic| network.routes(traffic, Routing::ConcurrentFlow, u32::MAX).unwrap();
            let ((routes, point), (expected, _)) = (routes(&shift(offset)), routes(&image));
            let mirrored = mirrored_routes(routes);
            let ends = |routes: &Routes| routes.arcs.iter().map(|arc| (arc.src, arc.dst)).collect::<Vec<_>>();
            prop_assert_eq!(ends(&mirrored), ends(&expected));
            let mut carried = std::collections::BTreeMap::new();
            for arc in mirrored.expanded() {
                for path in &arc.paths {
                    prop_assert_eq!((path.nodes[0], path.nodes[path.nodes.len() - 1]), (arc.src, arc.dst));
                    for pair in path.nodes.windows(2) {
                        *carried.entry((pair[0], pair[1])).or_insert(0.0) += path.share;
                    }
                }
            }
            let links = network.topology().links();
            let count = |link: (u32, u32)| links.iter().find(|other| (other.src, other.dst) == link).unwrap().count;
            let load = carried.iter().map(|(&link, carried)| carried / f64::from(count(link))).fold(0.0, f64::max);
            prop_assert!((load - point.load).abs() <= 1e-9 * load);
        }

        #[test]
        fn routes_of_symmetric_pairs_move_to_representatives(
            (a, b) in (2u32..5, 2u32..5), steps in prop::collection::vec(1u32..25, 1..5), to in 1u32..25,
        ) {
            let group = Translations::grid(&[a, b], &[1, 1]);
            let ranks = a * b;
            let links = steps.iter().map(|step| Link { src: 0, dst: step % ranks, count: 1 }).filter(|link| link.dst != 0);
            let network = RoutingNetwork::new(&Topology::new("grid", group.clone(), links).unwrap());
            let dst = 1 + to % (ranks - 1);
            let traffic = Traffic::new(group, [TrafficEntry { src: 0, dst, weight: 1.0 }]).unwrap();
            let image = mirrored_traffic(&traffic).unwrap();
            if let Some((routes, _)) = network.routes(&traffic, Routing::EqualSplit, u32::MAX) {
                let mirrored = mirrored_routes(routes);
                prop_assert_eq!((mirrored.arcs[0].src, mirrored.arcs[0].dst), (image.arcs()[0].src, image.arcs()[0].dst));
                prop_assert!(mirrored.arcs[0].paths.iter().all(|path| path.nodes[0] == 0));
            }
        }
    }
}
