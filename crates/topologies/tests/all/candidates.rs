//! Lists of candidates: what is joined, what is dropped, and how they are named.

use lightloom_topologies::candidates::{ONE_PORT_DARK, REGISTRY, build, dedupe, defaults};
use model::{Shape, Traffic, TrafficEntry, Translations};
use proptest::prelude::*;

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_string()).collect()
}

fn shift(gpus: u32, by: u32) -> Traffic {
    Traffic::new(Translations::cyclic(gpus), [TrafficEntry { src: 0, dst: by, weight: 1.0 }]).unwrap()
}

fn names(items: &[&str], shape: &Shape, patterns: &[&Traffic]) -> Vec<String> {
    let topologies = build(&list(items), shape, patterns, 1).unwrap();
    topologies.iter().map(|topology| topology.name().into()).collect()
}

#[test]
fn the_first_name_wins() {
    let shape = Shape::new(8, &[], 1).unwrap();
    let (one, three) = (shift(8, 1), shift(8, 3));
    let xor = Traffic::new(Translations::xor(8), [TrafficEntry { src: 0, dst: 1, weight: 1.0 }]).unwrap();
    // Half way round, translation and XOR agree, under different symmetries.
    let half = Traffic::new(Translations::xor(8), [TrafficEntry { src: 0, dst: 4, weight: 1.0 }]).unwrap();
    let patterns = [&one, &three, &xor, &half];
    assert_eq!(
        names(&["step-matchings", "ring", "shifted-ring:3"], &shape, &patterns),
        ["matching-1", "matching-2", "matching-3", "matching-4"]
    );
    assert_eq!(
        names(&["ring", "step-matchings"], &shape, &patterns),
        ["ring", "matching-2", "matching-3", "matching-4"]
    );
    let all = names(&["shifted-rings", "step-matchings"], &shape, &patterns);
    assert_eq!(all.len(), 7 + 1);
    assert_eq!(all[7], "matching-3");
}

#[test]
fn a_named_topology_must_fit_and_a_family_need_not() {
    let shape = Shape::new(12, &[], 1).unwrap();
    assert!(names(&["expanders", "shifted-tori"], &shape, &[]).is_empty());
    for wrong in ["hypercube", "kautz", "ring:two-way", "torus:3x4", "shifted-rings:3", "shifted-ring:12", "", "rings"]
    {
        assert!(build(&list(&[wrong]), &shape, &[], 0).is_err(), "{wrong}");
    }
    let error = build(&list(&["shifted-tory"]), &shape, &[], 0).unwrap_err().to_string();
    assert!(error.starts_with("candidates: ") && error.contains("did you mean `shifted-tori`"), "{error}");
}

#[test]
fn the_larger_symmetry_is_kept_under_the_first_name() {
    let shape = Shape::new(8, &[], 1).unwrap();
    let arcs = (0..2).map(|src| TrafficEntry { src, dst: src + 3, weight: 1.0 });
    let coarse = Traffic::new(Translations::periodic(8, 2), arcs).unwrap();
    let kept = build(&list(&["step-matchings", "shifted-rings"]), &shape, &[&coarse], 0).unwrap();
    assert_eq!((kept[0].name(), kept[0].symmetry().order(), kept.len()), ("matching-1", 8, 7));
}

#[test]
fn the_seed_decides_the_expander() {
    let shape = Shape::new(32, &[], 3).unwrap();
    let of = |seed| build(&list(&["expanders"]), &shape, &[], seed).unwrap();
    assert_eq!(of(4), of(4));
    assert!(!of(4)[0].same_links(&of(5)[0]));
}

#[test]
fn patterns_of_other_ranks_are_refused() {
    let shape = Shape::new(8, &[], 1).unwrap();
    assert!(build(&list(&defaults()), &shape, &[&shift(9, 1)], 0).is_err());
}

#[test]
fn hundreds_of_gpus_with_every_family() {
    let shape = Shape::new(512, &[8, 8, 8], 6).unwrap();
    let patterns: Vec<Traffic> = (1..512).map(|by| shift(512, by)).collect();
    let patterns: Vec<&Traffic> = patterns.iter().collect();
    let topologies = build(&list(&defaults()), &shape, &patterns, 0).unwrap();
    // Rings 256 two-way and 511 one-way, less the half-way one; 4³ tori; two expanders; the grid; the one-way rings
    // again.
    assert_eq!(topologies.len(), 256 + 510 + 64 + 2 + 1);
}

proptest! {
    #[test]
    fn candidates_fit_the_ports_and_names_rebuild_them(
        dims in prop_oneof![prop::collection::vec(2u32..6, 1..4), (2u32..40).prop_map(|n| vec![n])],
        ports in 1u32..8,
        seed in 0u64..99,
    ) {
        let shape = Shape::new(dims.iter().product(), &dims, ports).unwrap();
        let pattern = shift(shape.gpus(), shape.gpus() / 2);
        let topologies = build(&list(&defaults()), &shape, &[&pattern], seed).unwrap();
        prop_assert_eq!(dedupe(topologies.clone()), topologies.clone());
        for topology in &topologies {
            prop_assert!(topology.degree() <= ports, "{}", topology.name());
            if !topology.name().starts_with("matching-") {
                prop_assert_eq!(&lightloom_topologies::build(topology.name(), &shape).unwrap(), topology);
            }
        }
        for family in REGISTRY {
            let alone = family.build(&shape, &[&pattern], seed).unwrap();
            prop_assert_eq!(alone.clone(), family.build(&shape, &[&pattern], seed).unwrap());
            for topology in alone {
                prop_assert!(topology.degree() <= ports, "{}", topology.name());
                if family.name() == ONE_PORT_DARK {
                    prop_assert!(topology.name().contains(" without ") || lightloom_topologies::build(topology.name(), &shape).is_ok_and(|named| named.same_links(&topology)));
                    continue;
                }
                prop_assert!(topologies.iter().any(|kept| kept.same_links(&topology)), "{}", topology.name());
            }
        }
    }
}
