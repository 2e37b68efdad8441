//! Fronts against programs and closed forms that share no code with them.

use crate::support;

use lightloom_fronts::{Front, Point, RoutingNetwork};
use model::{Link, Routes, Routing, Topology, Traffic, TrafficEntry, Translations};
use proptest::prelude::*;

fn circulant(n: u32, generators: &[u32]) -> Topology {
    let links = generators.iter().map(|&g| Link { src: 0, dst: g % n, count: 1 });
    Topology::new("circulant", Translations::cyclic(n), links).unwrap()
}

fn shift(n: u32, offset: u32) -> Traffic {
    Traffic::new(Translations::cyclic(n), [TrafficEntry { src: 0, dst: offset, weight: 1.0 }]).unwrap()
}

fn flow_front(topology: &Topology, traffic: &Traffic) -> Option<Front> {
    RoutingNetwork::new(topology).front(traffic, Routing::ConcurrentFlow)
}

/// Load and hops of routes, counted on all links and arcs without symmetry.
fn measured(topology: &Topology, traffic: &Traffic, routes: &Routes) -> (u32, f64) {
    let mut carried = std::collections::BTreeMap::new();
    let mut hops = 0;
    let arcs = traffic.arcs_under(&routes.symmetry);
    assert_eq!(arcs.len(), routes.arcs.len());
    for (arc, routed) in arcs.iter().zip(&routes.arcs) {
        assert_eq!((arc.src, arc.dst), (routed.src, routed.dst));
        let sum: f64 = routed.paths.iter().map(|path| path.share).sum();
        assert!((sum - 1.0).abs() < 1e-12, "shares add up to {sum}");
        for path in &routed.paths {
            assert!(path.share > 0.0 && path.nodes[0] == arc.src && path.nodes[path.nodes.len() - 1] == arc.dst);
            hops = hops.max(path.nodes.len() as u32 - 1);
            for element in routes.symmetry.elements() {
                for pair in path.nodes.windows(2) {
                    let link = (routes.symmetry.apply(element, pair[0]), routes.symmetry.apply(element, pair[1]));
                    *carried.entry(link).or_insert(0.0) += arc.weight * path.share;
                }
            }
        }
    }
    let counts: std::collections::BTreeMap<(u32, u32), u32> =
        topology.expanded().into_iter().map(|link| ((link.src, link.dst), link.count)).collect();
    let load = carried.iter().map(|(link, traffic)| traffic / f64::from(counts[link])).fold(0.0, f64::max);
    (hops, load)
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

fn at(front: &Front, hops: u32) -> Option<Point> {
    front.points().iter().rev().find(|point| point.hops <= hops).copied()
}

proptest! {
    // The reference is slow.
    #![proptest_config(ProptestConfig::with_cases(draws::cases(100)))]

    #[test]
    fn concurrent_flow_equals_the_program_over_link_flows((topology, traffic) in support::pair()) {
        let front = flow_front(&topology, &traffic);
        for hops in 1..=topology.ranks().min(6) {
            let reference = support::load_by_link_flows(&topology, &traffic, hops as usize);
            let ours = front.as_ref().and_then(|front| at(front, hops));
            prop_assert_eq!(ours.is_some(), reference.is_some(), "at {} hops", hops);
            if let (Some(ours), Some(reference)) = (ours, reference) {
                prop_assert!(close(ours.load, reference, 1e-6), "at {hops} hops: {} and {reference}", ours.load);
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(512)))]

    #[test]
    fn loads_scale_with_weights((topology, traffic) in support::pair(), exponent in -12i32..13) {
        let by = 10f64.powi(exponent);
        let arcs = traffic.arcs().iter().map(|arc| TrafficEntry { weight: arc.weight * by, ..*arc });
        let scaled = Traffic::new(traffic.symmetry().clone(), arcs).unwrap();
        if let (Some(one), Some(other)) = (flow_front(&topology, &traffic), flow_front(&topology, &scaled)) {
            prop_assert_eq!(one.points().len(), other.points().len());
            for (a, b) in one.points().iter().zip(other.points()) {
                prop_assert!(a.hops == b.hops && close(a.load * by, b.load, 1e-9), "{} and {}", a.load * by, b.load);
            }
        }
    }

    #[test]
    fn forgetting_the_symmetry_changes_nothing((topology, traffic) in support::pair()) {
        let (plain, arcs) = support::without_symmetry(&topology, &traffic);
        match (flow_front(&topology, &traffic), flow_front(&plain, &arcs)) {
            (Some(quotient), Some(full)) => {
                prop_assert_eq!(quotient.points().len(), full.points().len());
                for (a, b) in quotient.points().iter().zip(full.points()) {
                    prop_assert_eq!(a.hops, b.hops);
                    prop_assert!(close(a.load, b.load, 1e-9), "{} and {}", a.load, b.load);
                }
            }
            (quotient, full) => prop_assert!(quotient.is_none() && full.is_none()),
        }
    }

    #[test]
    fn both_sides_meet_and_routes_attain_the_points((topology, traffic) in support::pair()) {
        let network = RoutingNetwork::new(&topology);
        for &routing in Routing::ALL {
            let Some(front) = network.front(&traffic, routing) else {
                prop_assert!(network.estimate(&traffic, routing).is_none());
                continue;
            };
            let estimate = network.estimate(&traffic, routing).unwrap();
            prop_assert_eq!(estimate.hops, front.points()[0].hops);
            for point in front.points() {
                prop_assert!(point.lower <= point.load && close(point.lower, point.load, 1e-9));
                prop_assert!(estimate.load <= point.load * (1.0 + 1e-12), "{} above {}", estimate.load, point.load);
                if estimate.exact {
                    prop_assert!(front.points().len() == 1 && close(estimate.load, point.load, 1e-12));
                }
                let (routes, again) = network.routes(&traffic, routing, point.hops).unwrap();
                prop_assert_eq!(again, *point);
                let (hops, load) = measured(&topology, &traffic, &routes);
                prop_assert_eq!(hops, point.hops);
                prop_assert!(close(load, point.load, 1e-12), "{load} and {}", point.load);
            }
            prop_assert!(network.routes(&traffic, routing, estimate.hops - 1).is_none());
        }
    }

    #[test]
    fn runs_are_reproducible((topology, traffic) in support::pair()) {
        prop_assert_eq!(flow_front(&topology, &traffic), flow_front(&topology, &traffic));
    }
}

#[test]
fn two_way_rings_have_the_closed_form() {
    // A share x goes the short way, k hops, the rest the long way, n − k: max(k·x, (n−k)(1−x)) is least at
    // x = (n−k)/n.
    for n in 3u32..40 {
        for k in 1..=n / 2 {
            let front = flow_front(&circulant(n, &[1, n - 1]), &shift(n, k)).unwrap();
            let (short, long) = (f64::from(k), f64::from(n - k));
            let balanced = short * long / f64::from(n);
            let expected = if 2 * k == n { vec![(k, balanced)] } else { vec![(k, short), (n - k, balanced)] };
            assert_eq!(front.points().len(), expected.len(), "n {n}, offset {k}");
            for (point, (hops, load)) in front.points().iter().zip(expected) {
                assert_eq!(point.hops, hops, "n {n}, offset {k}");
                assert!(close(point.load, load, 1e-12), "n {n}, offset {k}: {} and {load}", point.load);
            }
        }
    }
}

#[test]
fn one_way_rings_and_own_circuits_have_one_point() {
    for n in [5u32, 8, 64, 1024] {
        for k in [1, 2, n / 2, n - 1] {
            for &routing in Routing::ALL {
                let front = RoutingNetwork::new(&circulant(n, &[1])).front(&shift(n, k), routing).unwrap();
                assert_eq!(front.points(), [Point { hops: k, load: f64::from(k), lower: f64::from(k) }]);
            }
        }
    }
    for circuits in [1u32, 2, 4] {
        let traffic = shift(16, 5);
        let own = Topology::of_traffic("own", &traffic, circuits).unwrap();
        let load = 1.0 / f64::from(circuits);
        let network = RoutingNetwork::new(&own);
        assert_eq!(
            network.front(&traffic, Routing::ConcurrentFlow).unwrap().points(),
            [Point { hops: 1, load, lower: load }]
        );
        let estimate = network.estimate(&traffic, Routing::ConcurrentFlow).unwrap();
        assert_eq!((estimate.hops, estimate.load, estimate.exact), (1, load, true));
    }
}

#[test]
fn the_front_found_by_an_interior_point_program_is_reproduced() {
    // n = 256, generators ±1, ±16, offset 100, by a layered program in HiGHS.
    let front = flow_front(&circulant(256, &[1, 255, 16, 240]), &shift(256, 100)).unwrap();
    let expected = [(10, 6.0), (14, 4.0), (19, 3.784), (21, 3.636), (25, 3.606)];
    assert_eq!(front.points().len(), expected.len());
    for (point, (hops, load)) in front.points().iter().zip(expected) {
        assert_eq!(point.hops, hops);
        assert!((point.load - load).abs() < 5e-4, "{hops} hops: {}", point.load);
    }
}

#[test]
fn uniform_all_to_all_meets_the_distance_bound_on_edge_transitive_graphs() {
    // Sum of distances over links per rank is a lower bound, and all links are alike there.
    for bits in 1u32..7 {
        let n = 1 << bits;
        let group = Translations::xor(n);
        let links = (0..bits).map(|bit| Link { src: 0, dst: 1 << bit, count: 1 });
        let cube = Topology::new("hypercube", group.clone(), links).unwrap();
        let all = Traffic::new(group, (1..n).map(|dst| TrafficEntry { src: 0, dst, weight: 1.0 })).unwrap();
        for routing in [Routing::ConcurrentFlow, Routing::EqualSplit] {
            let front = RoutingNetwork::new(&cube).front(&all, routing).unwrap();
            assert_eq!(front.points().len(), 1);
            // Each of the bits differs for half of all destinations.
            assert_eq!(front.points()[0].hops, bits);
            assert!(close(front.points()[0].load, f64::from(n / 2), 1e-9));
        }
    }
}

#[test]
fn an_exchange_across_a_hypercube_splits_over_all_shortest_paths() {
    // u → u ⊕ 11…1 has b! shortest paths that use every dimension evenly: load 1.
    let group = Translations::xor(32);
    let links = (0..5).map(|bit| Link { src: 0, dst: 1 << bit, count: 1 });
    let network = RoutingNetwork::new(&Topology::new("hypercube", group.clone(), links).unwrap());
    let traffic = Traffic::new(group, [TrafficEntry { src: 0, dst: 31, weight: 1.0 }]).unwrap();
    for &routing in Routing::ALL {
        let (routes, point) = network.routes(&traffic, routing, 5).unwrap();
        assert_eq!(point.hops, 5);
        assert!(close(point.load, 1.0, 1e-12), "{routing:?}: {}", point.load);
        if routing == Routing::EqualSplit {
            assert_eq!(routes.arcs[0].paths.len(), 120);
        }
    }
}

#[test]
fn swing_on_a_two_way_ring_is_kept_under_the_period_2() {
    // Step i of Swing: even ranks reach ρ = (1 − (−2)^i)/3 up, odd ranks ρ down; both ends exchange.
    let n = 16u32;
    for reach in [1i64, -1, 3] {
        let to = |rank: i64, by: i64| (rank + by).rem_euclid(i64::from(n)) as u32;
        let arcs = [(0, reach), (1, -reach)].map(|(rank, by)| TrafficEntry {
            src: rank as u32,
            dst: to(rank, by),
            weight: 1.0,
        });
        let traffic = Traffic::new(Translations::periodic(n, 2), arcs).unwrap();
        let front = flow_front(&circulant(n, &[1, n - 1]), &traffic).unwrap();
        // Pairs (u, u + ρ) nest in each other: ρ hops one way, and (ρ + 1)/2 arcs over the busiest link.
        let hops = reach.unsigned_abs() as u32;
        assert_eq!(front.points()[0].hops, hops);
        assert!(close(front.points()[0].load, f64::from(hops.div_ceil(2)), 1e-12));
    }
}

#[test]
fn large_pairs_are_bounded_on_both_sides() {
    let (topology, traffic) = (circulant(192, &[1, 14, 169]), shift(192, 80));
    let (plain, arcs) = support::without_symmetry(&topology, &traffic);
    let exact = flow_front(&topology, &traffic).unwrap();
    let network = RoutingNetwork::new(&plain);
    let front = network.front(&arcs, Routing::ConcurrentFlow).unwrap();
    for point in front.points() {
        let best = at(&exact, point.hops).unwrap();
        assert!(
            point.lower <= best.load * (1.0 + 1e-9) && best.load <= point.load * (1.0 + 1e-9),
            "{point:?}, {best:?}"
        );
        assert!(close(point.lower, point.load, 1e-3), "{point:?}");
        let (routes, again) = network.routes_behind(&front, &arcs, Routing::ConcurrentFlow, point.hops).unwrap();
        let (hops, load) = measured(&plain, &arcs, &routes);
        assert!(again == *point && hops <= point.hops && close(load, point.load, 1e-12));
    }
}

#[test]
fn no_path_means_no_front() {
    let rings = circulant(8, &[2]);
    for &routing in Routing::ALL {
        let network = RoutingNetwork::new(&rings);
        assert!(network.front(&shift(8, 3), routing).is_none());
        assert!(network.estimate(&shift(8, 3), routing).is_none());
        assert!(network.routes(&shift(8, 3), routing, 8).is_none());
        assert!(network.front(&shift(9, 3), routing).is_none(), "other ranks");
        assert!(network.estimate(&shift(9, 3), routing).is_none(), "other ranks");
        // Rings of their own suffice where they join the pairs.
        assert_eq!(network.front(&shift(8, 4), routing).unwrap().points()[0].hops, 2);
    }
    let empty = Topology::new("dark", Translations::cyclic(4), []).unwrap();
    for &routing in Routing::ALL {
        assert!(RoutingNetwork::new(&empty).front(&shift(4, 1), routing).is_none());
        assert!(RoutingNetwork::new(&empty).estimate(&shift(4, 1), routing).is_none());
    }
}

#[test]
fn a_network_is_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&RoutingNetwork::new(&circulant(4, &[1])));
}
