//! Properties of every family: ports, symmetry, names, connectivity, diameters, and wrong input.

use std::collections::{BTreeMap, VecDeque};

use lightloom_topologies::{REGISTRY, build};
use model::{MAX_GPUS, Shape, Topology};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use proptest::prelude::*;

fn graph(topology: &Topology) -> DiGraphMap<u32, ()> {
    topology.expanded().iter().map(|link| (link.src, link.dst)).collect()
}

fn is_strongly_connected(topology: &Topology) -> bool {
    let graph = graph(topology);
    graph.node_count() as u32 == topology.ranks() && kosaraju_scc(&graph).len() == 1
}

/// Hops of the longest shortest path.
fn diameter(topology: &Topology) -> u32 {
    let graph = graph(topology);
    let eccentricity = |start: u32| {
        let mut distance = BTreeMap::from([(start, 0)]);
        let mut open = VecDeque::from([start]);
        while let Some(rank) = open.pop_front() {
            for next in graph.neighbors(rank) {
                if !distance.contains_key(&next) {
                    distance.insert(next, distance[&rank] + 1);
                    open.push_back(next);
                }
            }
        }
        assert_eq!(distance.len() as u32, topology.ranks());
        distance.values().copied().max().unwrap()
    };
    (0..topology.ranks()).map(eccentricity).max().unwrap()
}

fn check(topology: &Topology, shape: &Shape, spec: &str) {
    let (mut out, mut into) = (vec![0; shape.gpus() as usize], vec![0; shape.gpus() as usize]);
    let mut links = BTreeMap::new();
    for link in topology.expanded() {
        assert_ne!(link.src, link.dst, "{spec}");
        out[link.src as usize] += link.count;
        into[link.dst as usize] += link.count;
        assert_eq!(links.insert((link.src, link.dst), link.count), None, "{spec}");
    }
    assert_eq!(out, into, "{spec}");
    assert!(out.iter().all(|&degree| degree <= shape.ports()), "{spec}");
    assert_eq!(topology.degree(), out.iter().copied().max().unwrap(), "{spec}");
    let group = topology.symmetry();
    for digit in group.digits() {
        for (&(src, dst), count) in &links {
            let moved = (group.apply(digit.stride, src), group.apply(digit.stride, dst));
            assert_eq!(links.get(&moved), Some(count), "{spec}");
        }
    }
}

/// Specs of every family, fit for `shape` or not.
fn specs(shape: &Shape, offset: i64, seed: u64) -> Vec<String> {
    let shifts: Vec<String> =
        shape.dims().iter().map(|&dim| (1 + offset.rem_euclid(i64::from(dim) - 1)).to_string()).collect();
    let shifts = shifts.join(",");
    let mut specs = vec![
        "ring".into(),
        "ring:one-way".into(),
        "ring:two-way".into(),
        format!("shifted-ring:{offset}"),
        format!("shifted-ring:{offset},one-way"),
        format!("block-ring:2,{offset}"),
        format!("block-ring:{offset}"),
        format!("circulant:{offset}"),
        format!("circulant:1,-1,{offset}"),
        "torus".into(),
        "torus:one-way".into(),
        format!("shifted-torus:{shifts}"),
        format!("shifted-torus:{shifts},two-way"),
        "grid".into(),
        "hypercube".into(),
        "kautz".into(),
        "de-bruijn".into(),
        "complete".into(),
    ];
    specs.push(format!("random-regular:{seed}"));
    specs
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let line = (2u32..80).prop_map(|gpus| vec![gpus]);
    let grid = prop::collection::vec(2u32..6, 2..4);
    let power = (1u32..7).prop_map(|bits| vec![1 << bits]);
    (prop_oneof![line, grid, power], 1u32..10)
        .prop_map(|(dims, ports)| Shape::new(dims.iter().product(), &dims, ports).unwrap())
}

proptest! {
    #[test]
    fn ports_symmetry_and_names(shape in any_shape(), offset in any::<i64>(), seed in any::<u64>()) {
        for spec in specs(&shape, offset, seed) {
            let Ok(topology) = build(&spec, &shape) else { continue };
            check(&topology, &shape, &spec);
            let again = build(topology.name(), &shape).unwrap();
            prop_assert_eq!(&again, &topology, "{} is not rebuilt by its name", spec);
        }
    }

    #[test]
    fn connected_families_are_strongly_connected(shape in any_shape(), seed in any::<u64>()) {
        let always = ["ring".to_string(), format!("random-regular:{seed}")];
        for spec in always {
            prop_assert!(is_strongly_connected(&build(&spec, &shape).unwrap()), "{}", spec);
        }
        for spec in ["ring:two-way", "torus", "torus:one-way", "grid", "hypercube", "kautz", "de-bruijn", "complete"] {
            if let Ok(topology) = build(spec, &shape) {
                prop_assert!(is_strongly_connected(&topology), "{}", spec);
            }
        }
    }

    #[test]
    fn any_text_gives_a_topology_or_one_line(
        name in prop::sample::select(REGISTRY.iter().map(|family| family.name()).collect::<Vec<_>>()),
        text in "(\\PC{0,20}|[-0-9,x:onetw]{0,24}|(-?[0-9]{1,20},){0,4}-?[0-9]{1,20})",
        shape in any_shape(),
    ) {
        for spec in [format!("{name}:{text}"), text] {
            match build(&spec, &shape) {
                Ok(topology) => prop_assert!(topology.degree() <= shape.ports()),
                Err(error) => {
                    prop_assert_eq!(error.field(), "topology");
                    prop_assert_eq!(error.to_string().lines().count(), 1);
                }
            }
        }
    }
}

#[test]
fn the_largest_fabrics_are_served_or_refused() {
    for gpus in [MAX_GPUS, MAX_GPUS - 1] {
        for ports in [1, 4, 1024] {
            let shape = Shape::new(gpus, &[], ports).unwrap();
            for spec in specs(&shape, i64::MIN + 1, u64::MAX) {
                if let Ok(topology) = build(&spec, &shape) {
                    assert!(topology.degree() <= ports, "{spec}");
                }
            }
        }
    }
}

#[test]
fn diameters_are_those_of_the_literature() {
    for n in [5u32, 12, 24, 31, 64, 100] {
        for d in 2..5u32 {
            let shape = Shape::new(n, &[], d).unwrap();
            let bound = (0..).find(|&k| d.pow(k) >= n).unwrap();
            assert!(diameter(&build("kautz", &shape).unwrap()) <= bound, "kautz {n} {d}");
            assert!(diameter(&build("de-bruijn", &shape).unwrap()) <= bound, "de-bruijn {n} {d}");
        }
        let ring = |ports| build("ring", &Shape::new(n, &[], ports).unwrap()).unwrap();
        assert_eq!((diameter(&ring(1)), diameter(&ring(2))), (n - 1, n / 2));
    }
    // Kautz graphs proper, K(d, k), reach d^k + d^(k−1) ranks in k hops; de Bruijn graphs d^k.
    for (d, k) in [(2u32, 3u32), (2, 5), (3, 3), (4, 2)] {
        let of = |name, n| diameter(&build(name, &Shape::new(n, &[], d).unwrap()).unwrap());
        assert_eq!(of("kautz", d.pow(k) + d.pow(k - 1)), k);
        assert_eq!(of("de-bruijn", d.pow(k)), k);
    }
    let shape = Shape::new(60, &[3, 4, 5], 6).unwrap();
    let of = |spec| diameter(&build(spec, &shape).unwrap());
    assert_eq!((of("torus"), of("torus:one-way"), of("grid")), (1 + 2 + 2, 2 + 3 + 4, 2 + 3 + 4));
    assert_eq!(diameter(&build("hypercube", &Shape::new(64, &[], 6).unwrap()).unwrap()), 6);
}

#[test]
fn a_random_graph_expands() {
    // A directed random graph of degree 4 reaches 1 + 4 + … quickly: twice log_4 n is generous.
    let shape = Shape::new(256, &[], 4).unwrap();
    for seed in 0..5 {
        assert!(diameter(&build(&format!("random-regular:{seed}"), &shape).unwrap()) <= 8);
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let shape = Shape::new(8, &[], 2).unwrap();
    let error = build("shiftd-ring:3", &shape).unwrap_err().to_string();
    assert!(error.contains("did you mean `shifted-ring`") && error.contains("hypercube"), "{error}");
    let error = build("circulant:1,2,3", &shape).unwrap_err().to_string();
    assert!(error.contains("needs 3 ports"), "{error}");
}
