//! Explanations of topologies, compared with their links.

use std::collections::{BTreeMap, BTreeSet};

use lightloom_topologies::{Diameter, Explanation, build};
use model::{Link, Shape, Topology, Translations};
use proptest::prelude::*;

/// These links, of which nobody says what they have in common.
fn plain(gpus: u32, links: &[(u32, u32, u32)]) -> Topology {
    let links = links.iter().map(|&(src, dst, count)| Link { src, dst, count });
    Topology::new("given", Translations::trivial(gpus), links).unwrap()
}

fn check(topology: &Topology) -> Result<(), TestCaseError> {
    let explanation = Explanation::of(topology);
    let links = topology.expanded();
    match (&explanation, explanation.links()) {
        (_, Some(said)) => prop_assert_eq!(said, links, "{}: {}", topology.name(), explanation),
        (Explanation::Alike { first }, None) => {
            let from_first: Vec<(u32, u32)> =
                links.iter().filter(|link| link.src == 0).map(|link| (link.dst, link.count)).collect();
            prop_assert_eq!(first, &from_first);
            prop_assert_eq!(topology.clone().with_found_symmetry().symmetry().orbits(), 1);
        }
        (Explanation::Irregular { circuits, out, period, kinds, diameter }, None) => {
            prop_assert_eq!(*diameter, Some(longest(topology.ranks() as usize, &links)));
            let mut leaving = vec![0; topology.ranks() as usize];
            links.iter().for_each(|link| leaving[link.src as usize] += link.count);
            prop_assert_eq!(*circuits, leaving.iter().map(|&count| u64::from(count)).sum::<u64>());
            prop_assert_eq!(*out, (*leaving.iter().min().unwrap(), *leaving.iter().max().unwrap()));
            // Translations act freely: the GPUs that one of a kind is moved to are as many as there are translations.
            let alike = topology.ranks() / kinds.unwrap_or(topology.ranks());
            prop_assert_eq!(alike as usize, topology.symmetry().elements().len());
            if let Some(period) = period {
                let moved = |rank: u32| (rank + period) % topology.ranks();
                let all: BTreeSet<Link> = links.iter().copied().collect();
                let same = |link: &Link| all.contains(&Link { src: moved(link.src), dst: moved(link.dst), ..*link });
                prop_assert!(links.iter().all(same), "{}: {}", topology.name(), explanation);
            }
        }
        (other, None) => prop_assert!(false, "no links of {other:?}"),
    }
    check_counts_of_rings(topology, &explanation.to_string())
}

/// The diameter by Floyd and Warshall.
fn longest(ranks: usize, links: &[Link]) -> Diameter {
    let mut hops = vec![vec![None; ranks]; ranks];
    (0..ranks).for_each(|rank| hops[rank][rank] = Some(0));
    links.iter().for_each(|link| hops[link.src as usize][link.dst as usize] = Some(1));
    for by in 0..ranks {
        for src in 0..ranks {
            for dst in 0..ranks {
                let Some(through) = hops[src][by].zip(hops[by][dst]).map(|(to, from)| to + from) else { continue };
                hops[src][dst] = Some(hops[src][dst].map_or(through, |known: u32| known.min(through)));
            }
        }
    }
    let all: Option<Vec<u32>> = hops.into_iter().flatten().collect();
    all.map_or(Diameter::Unreachable, |all| Diameter::Hops(all.into_iter().max().unwrap_or_default()))
}

/// `6 rings of 4 GPUs` and the like, counted by walking along the links.
fn check_counts_of_rings(topology: &Topology, sentence: &str) -> Result<(), TestCaseError> {
    let counts: BTreeSet<u32> = topology.links().iter().map(|link| link.count).collect();
    let to: BTreeMap<u32, u32> = topology.expanded().iter().map(|link| (link.src, link.dst)).collect();
    if counts.len() > 1
        || to.len() != topology.expanded().len()
        || to.values().collect::<BTreeSet<_>>().len() < topology.ranks() as usize
    {
        return Ok(());
    }
    let mut by_length: BTreeMap<usize, usize> = BTreeMap::new();
    let mut left: BTreeSet<u32> = to.keys().copied().collect();
    while let Some(&start) = left.first() {
        let mut length = 0;
        let mut at = start;
        while left.remove(&at) {
            length += 1;
            at = to[&at];
        }
        *by_length.entry(length).or_default() += 1;
    }
    if by_length.len() > 8 {
        return Ok(());
    }
    for (length, times) in by_length {
        let kind = if length == 2 { "pair" } else { "ring" };
        let said = match times {
            1 => vec![
                format!("one {kind} of {length} GPUs"),
                format!("one ring of all {length} GPUs"),
                "one pair of GPUs".into(),
            ],
            _ => vec![format!("{times} {kind}s of {length} GPUs"), format!("{times} pairs of GPUs")],
        };
        prop_assert!(said.iter().any(|said| sentence.contains(said.as_str())), "{}: {sentence}", topology.name());
    }
    Ok(())
}

fn shapes() -> impl Strategy<Value = Shape> {
    (prop::collection::vec(2u32..7, 1..4), 1u32..9)
        .prop_map(|(dims, ports)| Shape::new(dims.iter().product(), &dims, ports).unwrap())
}

proptest! {
    #[test]
    fn of_every_family(shape in shapes(), offset in -9i64..9, other in 1i64..40, seed in 0u64..9) {
        for family in lightloom_topologies::REGISTRY {
            let (name, shifts) = (family.name(), vec![offset.to_string(); shape.dims().len()].join(","));
            let specs = [String::new(), format!("{offset}"), format!("{offset},{other}^2"), format!("{seed}"), shifts, "one-way".into()];
            for parameters in specs {
                if let Ok(topology) = build(&format!("{name}:{parameters}"), &shape) {
                    check(&topology)?;
                }
            }
        }
    }

    /// As phases along one coordinate have them, and products of these.
    #[test]
    fn of_circuits_along_coordinates(
        dims in prop::collection::vec(2u32..9, 1..4),
        circuits in prop::collection::vec((0usize..3, 1u32..9, 1u32..4), 1..5),
    ) {
        let group = Translations::grid(&dims, &vec![1; dims.len()]);
        let links = circuits.into_iter().filter_map(|(at, places, count)| {
            let (at, stride) = (at % dims.len(), dims[at % dims.len() + 1..].iter().product::<u32>());
            let dst = places % dims[at] * stride;
            (dst > 0).then_some(Link { src: 0, dst, count })
        });
        let topology = Topology::new("given", group, links).unwrap();
        check(&topology)?;
        // The same links when nobody says what they have in common.
        let plain = Topology::new("given", Translations::trivial(topology.ranks()), topology.expanded()).unwrap();
        check(&plain)?;
    }

    #[test]
    fn of_any_links(gpus in 2u32..20, pairs in prop::collection::vec((0u32..20, 0u32..20, 1u32..3), 0..30)) {
        let links: Vec<(u32, u32, u32)> = pairs
            .into_iter()
            .map(|(src, dst, count)| (src % gpus, dst % gpus, count))
            .filter(|(src, dst, _)| src != dst)
            .collect();
        check(&plain(gpus, &links))?;
    }

    #[test]
    fn of_permutations(order in (2u32..24).prop_flat_map(|gpus| Just((0..gpus).collect::<Vec<u32>>()).prop_shuffle())) {
        let links: Vec<(u32, u32, u32)> =
            (0..).zip(&order).filter(|(src, dst)| src != *dst).map(|(src, &dst)| (src, dst, 1)).collect();
        check(&plain(order.len() as u32, &links))?;
    }
}

#[test]
fn sentences() {
    let said = |gpus: u32, dims: &[u32], ports: u32, spec: &str| {
        Explanation::of(&build(spec, &Shape::new(gpus, dims, ports).unwrap()).unwrap()).to_string()
    };
    assert_eq!(said(64, &[], 1, "ring"), "one ring of all 64 GPUs");
    assert_eq!(said(64, &[], 4, "ring"), "one ring of all 64 GPUs, two-way, 2 circuits in parallel");
    assert_eq!(said(64, &[], 3, "ring"), "one ring of all 64 GPUs, two-way, 2 circuits ahead and 1 back");
    assert_eq!(said(16, &[], 1, "shifted-ring:4"), "4 rings of 4 GPUs, 4 apart");
    assert_eq!(said(64, &[], 1, "shifted-ring:-3"), "one ring of all 64 GPUs, 3 apart, backwards");
    assert_eq!(said(64, &[], 1, "shifted-ring:32"), "32 pairs of GPUs, 32 apart");
    assert_eq!(said(64, &[4, 4, 4], 6, "torus"), "48 rings of 4 GPUs, 1, 4 and 16 apart, two-way");
    assert_eq!(said(16, &[], 4, "hypercube"), "32 pairs of GPUs, 1, 2, 4 and 8 apart");
    assert_eq!(said(64, &[], 3, "circulant:1,5,9"), "every GPU to those 1, 5 and 9 ahead");
    assert_eq!(said(64, &[], 3, "circulant:1^2,-9"), "every GPU to those 1 ahead over 2 circuits and 9 behind");
    assert_eq!(said(64, &[], 3, "circulant:-7,3,-9"), "every GPU to those 3 ahead and 7 and 9 behind");
    assert_eq!(said(8, &[], 7, "complete"), "every GPU to every other");
    assert_eq!(said(8, &[], 1, "dark"), "no circuits");
    assert_eq!(
        said(12, &[], 2, "kautz"),
        "irregular graph of diameter 3, 24 circuits, 2 out of each GPU, repeated every 4 GPUs"
    );
    let links = |gpus: u32, links: &[(u32, u32, u32)]| Explanation::of(&plain(gpus, links)).to_string();
    let lines = [(0, 3, 1), (3, 0, 1), (1, 4, 1), (4, 5, 1)];
    assert_eq!(links(7, &lines), "one pair of 2 GPUs, 0→3→0; one line of 3 GPUs, 1→4→5; 2 GPUs dark");
}
