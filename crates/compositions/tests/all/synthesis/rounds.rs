//! Rounds spread everything, break no rule, and are about as few as can be.

use std::collections::{BTreeSet, VecDeque};

use lightloom_compositions::synthesis::{Network, Sent, rounds};
use model::{Link, Rank, Topology, Translations};
use proptest::prelude::*;

use super::{built, carried_out, random_topology};

/// Carries the rounds out, and says how many there are.
fn carried_out(network: &Network, origins: &[Rank], parts: u32, rounds: &[Vec<Sent>]) -> usize {
    carried_out::carried_out(network, origins, parts, rounds.iter().map(|sent| (1, &sent[..])));
    rounds.len()
}

/// The least number of rounds, by breadth over all states: bit `rank·chunks + chunk` where a rank has a chunk.
fn fewest_rounds(network: &Network, origins: &[Rank]) -> usize {
    let (ranks, chunks) = (network.ranks(), origins.len() as u32);
    let bit = |rank: Rank, chunk: u32| 1u32 << (rank * chunks + chunk);
    let start = origins.iter().zip(0..).fold(0, |state, (&origin, chunk)| state | bit(origin, chunk));
    let all = (1u32 << (ranks * chunks)) - 1;
    let mut seen = BTreeSet::from([start]);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((state, round)) = queue.pop_front() {
        if state == all {
            return round;
        }
        // Every choice of a chunk, or none, for every circuit.
        let mut next = BTreeSet::from([state]);
        for link in network.links() {
            for _ in 0..link.count {
                let there = (0..chunks).filter(|&chunk| state & bit(link.src, chunk) != 0);
                let there: Vec<u32> = there.collect();
                let grown = next.iter().flat_map(|&after| there.iter().map(move |&chunk| after | bit(link.dst, chunk)));
                next = grown.chain(next.iter().copied()).collect();
            }
        }
        for state in next {
            if seen.insert(state) {
                queue.push_back((state, round + 1));
            }
        }
    }
    unreachable!("a ring joins all ranks")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]
    #[test]
    fn every_rank_gets_everything_by_the_rules(
        ranks in 2u32..9, extra in prop::collection::vec((0u32..9, 0u32..9), 0..20), parts in 1u32..5, root in 0u32..9,
    ) {
        let network = Network::new(&random_topology(ranks, &extra));
        for origins in [vec![root % ranks], (0..ranks).collect()] {
            let found = rounds(&network, &origins, parts).unwrap();
            let number = carried_out(&network, &origins, parts, &found);
            prop_assert!(number >= network.least_rounds(&origins, parts).unwrap() as usize);
            prop_assert_eq!(rounds(&network, &origins, parts).unwrap(), found);
            let turned = network.turned();
            carried_out(&turned, &origins, parts, &rounds(&turned, &origins, parts).unwrap());
        }
    }

    #[test]
    fn on_few_ranks_at_most_one_round_more_than_the_fewest(
        ranks in 2u32..5, extra in prop::collection::vec((0u32..4, 0u32..4), 0..8), parts in 1usize..4, root in 0u32..4,
    ) {
        let network = Network::new(&random_topology(ranks, &extra));
        let root = root % ranks;
        let one_source = rounds(&network, &[root], parts as u32).unwrap().len();
        let fewest = fewest_rounds(&network, &vec![root; parts]);
        prop_assert!(network.least_rounds(&[root], parts as u32).unwrap() as usize <= fewest);
        prop_assert!((fewest..=fewest + 1).contains(&one_source), "{one_source} {fewest}");
        let all: Vec<Rank> = (0..ranks).collect();
        let gathered = rounds(&network, &all, 1).unwrap().len();
        let fewest = fewest_rounds(&network, &all);
        prop_assert!((fewest..=fewest + 1).contains(&gathered), "{gathered} {fewest}");
    }
}

#[test]
fn a_one_way_ring_passes_chunks_on_without_a_gap() {
    for (ranks, parts) in [(2, 1), (5, 7), (16, 3), (9, 100)] {
        let topology = built("ring:one-way", &[ranks], 1);
        let one_source = Network::without_translations(&topology);
        assert_eq!(
            carried_out(&one_source, &[0], parts, &rounds(&one_source, &[0], parts).unwrap()) as u32,
            parts + ranks - 2
        );
        let network = Network::new(&topology);
        assert_eq!(
            carried_out(&network, &[0], parts, &rounds(&network, &[0], parts).unwrap()) as u32,
            parts * (ranks - 1)
        );
    }
}

/// The generalised de Bruijn graph i → p·i + c, its self-loops joined to each other.
fn de_bruijn(ranks: u32, ports: u32) -> Topology {
    let arcs = (0..ranks).flat_map(|src| (0..ports).map(move |digit| (src, (src * ports + digit) % ranks)));
    let loops: Vec<Rank> = arcs.clone().filter(|(src, dst)| src == dst).map(|(src, _)| src).collect();
    let joined = (0..loops.len()).map(|at| (loops[at], loops[(at + 1) % loops.len()]));
    let links = arcs.filter(|(src, dst)| src != dst).chain(joined).map(|(src, dst)| Link { src, dst, count: 1 });
    Topology::new("de Bruijn", Translations::trivial(ranks), links).unwrap()
}

/// The source gives C/p rounds of parts away, and the last of them has as far to go as the others.
#[test]
fn a_broadcast_on_de_bruijn_graphs_fills_the_circuits() {
    for (ranks, ports, diameter) in [(16, 2, 4), (64, 2, 6), (64, 4, 3), (27, 3, 3)] {
        for parts in [ports * 4, ports * 16, ports * 50] {
            let network = Network::new(&de_bruijn(ranks, ports));
            let found = carried_out(&network, &[1], parts, &rounds(&network, &[1], parts).unwrap()) as u32;
            let least = parts / ports + diameter - 1;
            assert!((least..=least + 2).contains(&found), "{ranks} {ports} {parts}: {found} rounds");
        }
    }
}

/// No round is lost: every rank takes a part in over every circuit, but for what does not divide.
#[test]
fn gathers_take_the_fewest_rounds_on_usual_topologies() {
    for (spec, dims, ports) in [
        ("torus", vec![8, 8], 4),
        ("grid", vec![8, 8], 4),
        ("torus", vec![4, 4, 4], 6),
        ("torus", vec![8, 8, 4], 6),
        ("kautz", vec![64], 2),
        ("kautz", vec![64], 4),
        ("ring", vec![15], 2),
    ] {
        for parts in [1, 2, 4, 6] {
            let network = Network::new(&built(spec, &dims, ports));
            let origins = network.translations().representatives();
            let found = carried_out(&network, &origins, parts, &rounds(&network, &origins, parts).unwrap());
            assert_eq!(Some(found as u32), network.least_rounds(&origins, parts), "{spec} {dims:?} {parts}");
        }
    }
}

#[test]
fn what_cannot_be_reached_is_none() {
    let links =
        [Link { src: 0, dst: 1, count: 1 }, Link { src: 1, dst: 0, count: 1 }, Link { src: 2, dst: 0, count: 1 }];
    let network = Network::new(&Topology::new("apart", Translations::trivial(3), links).unwrap());
    assert!(rounds(&network, &[0], 1).is_none());
    assert!(rounds(&network, &[2], 3).is_some());
    assert!(network.least_rounds(&[0, 1, 2], 1).is_none());
}
