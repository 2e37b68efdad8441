//! Matchings compared with all assignments of circuits to switches, counted without anything of this crate.

use std::collections::BTreeMap;

use model::{Link, Topology, Translations};
use proptest::prelude::*;

use super::*;

/// (switch, source, destination) of every circuit.
type Assigned = Vec<(usize, u32, u32)>;

fn topology(gpus: u32, circuits: &[(u32, u32)]) -> Topology {
    let links = circuits.iter().map(|&(src, dst)| Link { src, dst, count: 1 });
    Topology::new("drawn", Translations::trivial(gpus), links).unwrap()
}

fn circuits(topology: &Topology) -> Vec<(u32, u32)> {
    let links = topology.expanded();
    links.iter().flat_map(|link| (0..link.count).map(|_| (link.src, link.dst))).collect()
}

/// All ways to put circuits on switches: each of the switches for each circuit, as long as no end is used twice.
fn every_way(circuits: &[(u32, u32)], switches: usize) -> Vec<Assigned> {
    let mut ways: Vec<Assigned> = vec![vec![]];
    for &(src, dst) in circuits {
        ways = ways
            .iter()
            .flat_map(|way| (0..switches).map(move |switch| (way, switch)))
            .filter(|(way, switch)| !way.iter().any(|&(on, a, b)| on == *switch && (a == src || b == dst)))
            .map(|(way, switch)| [&way[..], &[(switch, src, dst)]].concat())
            .collect();
    }
    ways.iter_mut().for_each(|way| way.sort_unstable());
    ways.sort_unstable();
    ways.dedup();
    ways
}

/// The fewest connections that are set up after the first topology.
fn fewest(topologies: &[Topology], switches: usize) -> u64 {
    let mut so_far: BTreeMap<Assigned, u64> =
        every_way(&circuits(&topologies[0]), switches).into_iter().map(|way| (way, 0)).collect();
    for topology in &topologies[1..] {
        let next = every_way(&circuits(topology), switches).into_iter().map(|way| {
            let best = so_far.iter().map(|(before, cost)| {
                cost + way.iter().filter(|circuit| before.binary_search(circuit).is_err()).count() as u64
            });
            let best = best.min().unwrap();
            (way, best)
        });
        so_far = next.collect();
    }
    *so_far.values().min().unwrap()
}

fn count(place: usize, before: &Colouring, after: &Colouring) -> Cost {
    assert!(place > 0);
    Cost { charge_s: 0.0, weighted: (after.circuits() - before.kept(after)) as f64 }
}

fn decomposed(topologies: &[Topology], switches: usize) -> Decomposed {
    let order: Vec<usize> = (0..switches).collect();
    decompose(&topologies.iter().collect::<Vec<_>>(), &order, &vec![1.0; switches], false, &count)
}

fn assert_decomposes(topologies: &[Topology], found: &Decomposed) {
    for (topology, colouring) in topologies.iter().zip(&found.colourings) {
        let mut placed = Vec::new();
        for (out, into) in colouring.out.iter().zip(&colouring.into) {
            for (src, &dst) in (0..).zip(out).filter(|(_, dst)| **dst != DARK) {
                assert_eq!(into[dst as usize], src);
                placed.push((src, dst));
            }
            let lit = |peers: &[u32]| peers.iter().filter(|&&peer| peer != DARK).count();
            assert_eq!(lit(out), lit(into));
        }
        placed.sort_unstable();
        assert_eq!(placed, circuits(topology));
    }
}

/// Regular topologies: of each, `switches` permutations without fixed points.
fn regular(gpus: u32, switches: usize, most: usize) -> impl Strategy<Value = Vec<Topology>> {
    let permutation = Just((0..gpus).collect::<Vec<u32>>()).prop_shuffle();
    let deranged = permutation.prop_map(move |order| {
        // One cycle through all, which has no fixed point.
        (0..gpus as usize).map(|place| (order[place], order[(place + 1) % gpus as usize])).collect::<Vec<_>>()
    });
    let one = prop::collection::vec(deranged, switches).prop_map(move |cycles| topology(gpus, &cycles.concat()));
    prop::collection::vec(one, 2..=most)
}

/// Any topologies of at most `switches` circuits at each end.
fn any(gpus: u32, switches: usize, most: usize) -> impl Strategy<Value = Vec<Topology>> {
    let one = prop::collection::vec((0..gpus, 1..gpus), 0..12).prop_map(move |drawn| {
        let mut kept: Vec<(u32, u32)> = Vec::new();
        for (src, ahead) in drawn {
            let dst = (src + ahead) % gpus;
            let used = |ends: &dyn Fn(&(u32, u32)) -> bool| kept.iter().filter(|circuit| ends(circuit)).count();
            if used(&|circuit| circuit.0 == src) < switches && used(&|circuit| circuit.1 == dst) < switches {
                kept.push((src, dst));
            }
        }
        topology(gpus, &kept)
    });
    prop::collection::vec(one, 2..=most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

    #[test]
    fn two_switches_change_as_little_as_possible(topologies in regular(5, 2, 4)) {
        let found = decomposed(&topologies, 2);
        assert_decomposes(&topologies, &found);
        prop_assert_eq!(connects(&found.colourings), fewest(&topologies, 2));
        prop_assert!(found.least_connects <= fewest(&topologies, 2));
    }

    #[test]
    fn three_switches_change_as_little_as_possible(topologies in regular(4, 3, 3)) {
        let found = decomposed(&topologies, 3);
        assert_decomposes(&topologies, &found);
        prop_assert_eq!(connects(&found.colourings), fewest(&topologies, 3));
        prop_assert!(found.least_connects <= fewest(&topologies, 3));
    }

    #[test]
    fn partly_dark_switches_change_as_little_as_possible(topologies in any(4, 3, 4)) {
        let found = decomposed(&topologies, 3);
        assert_decomposes(&topologies, &found);
        prop_assert_eq!(connects(&found.colourings), fewest(&topologies, 3));
        prop_assert!(found.least_connects <= fewest(&topologies, 3));
    }

    /// The search without the trial of all: what larger topologies get.
    #[test]
    fn descent_is_never_worse_than_the_assignment_by_the_topology_alone(topologies in any(9, 4, 6)) {
        let found = decomposed(&topologies, 4);
        assert_decomposes(&topologies, &found);
        let alone: Vec<Colouring> =
            topologies.iter().map(|topology| Colouring::by_itself(topology, &[0, 1, 2, 3])).collect();
        prop_assert!(connects(&found.colourings) <= connects(&alone));
        prop_assert!(found.least_connects <= connects(&found.colourings));
    }
}

/// The distance of the search by itself from the optimum, for random regular topologies, where all can be tried.
#[test]
fn the_search_alone_is_near_the_optimum() {
    let mut random = Random(7);
    let (mut searched, mut optimal) = (0, 0);
    for _ in 0..60 {
        let topologies: Vec<Topology> = (0..3)
            .map(|_| {
                let mut all = Vec::new();
                for _ in 0..3 {
                    let mut order: Vec<u32> = (0..4).collect();
                    (1..4).rev().for_each(|last| order.swap(last, random.below(last + 1)));
                    all.extend((0..4).map(|place| (order[place], order[(place + 1) % 4])));
                }
                topology(4, &all)
            })
            .collect();
        let starts = follow_on(&topologies.iter().collect::<Vec<_>>(), &[0, 1, 2]);
        let mut found = Ranked::of(starts, &count);
        found.descend(&[1.0; 3], &count);
        found.disturb(&[1.0; 3], &count, |_| true);
        searched += connects(&found.colourings);
        optimal += fewest(&topologies, 3);
    }
    assert!(searched >= optimal);
    assert!(searched * 100 <= optimal * 101, "{searched} where {optimal} are enough");
}
