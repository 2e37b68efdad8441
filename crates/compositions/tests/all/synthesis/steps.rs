//! Steps of several rounds: as few as ranks are hops apart, and no circuit idles that others wait for.

use lightloom_compositions::synthesis::{ChunkStep, Length, Network, steps};
use model::Rank;
use proptest::prelude::*;

use super::{built, carried_out::carried_out, random_topology};

/// Carries the steps out; says how many there are and how many rounds they have.
fn numbers(network: &Network, origins: &[Rank], parts: u32, steps: &[ChunkStep]) -> (u32, u32) {
    carried_out(network, origins, parts, steps.iter().map(|step| (step.rounds, &step.sent[..])));
    (steps.len() as u32, steps.iter().map(|step| step.rounds).sum())
}

fn diameter(network: &Network) -> u32 {
    let farthest = |origin| network.distances(origin).unwrap().into_iter().max().unwrap();
    (0..network.ranks()).map(farthest).max().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]
    #[test]
    fn every_rank_gets_everything_by_the_rules(
        ranks in 2u32..9, extra in prop::collection::vec((0u32..9, 0u32..9), 0..20), parts in 1u32..5, root in 0u32..9,
        length in prop::sample::select(vec![1, 3, u32::MAX]),
    ) {
        let network = Network::new(&random_topology(ranks, &extra));
        for origins in [vec![root % ranks], (0..ranks).collect()] {
            let found = steps(&network, &origins, parts, Length::AtMost(length)).unwrap();
            let (number, rounds) = numbers(&network, &origins, parts, &found);
            prop_assert!(rounds >= network.least_rounds(&origins, parts).unwrap());
            if length == u32::MAX {
                let hops = origins.iter().flat_map(|&origin| network.distances(origin).unwrap()).max();
                prop_assert_eq!(Some(number), hops);
            }
            for length in [Length::WhileNoneWaits, Length::Worthwhile { startup: 8 * parts }] {
                let found = steps(&network, &origins, parts, length).unwrap();
                let (_, rounds) = numbers(&network, &origins, parts, &found);
                prop_assert!(rounds >= network.least_rounds(&origins, parts).unwrap());
            }
        }
    }
}

/// Both least at once: steps as many as the diameter, and every rank takes chunks in over all of its circuits all the
/// time.
#[test]
#[ignore = "large: make test-large"]
fn gathers_take_the_fewest_steps_and_the_fewest_rounds_on_usual_topologies() {
    for (spec, dims, ports, parts) in [
        ("torus", vec![8, 8], 4, 4),
        ("grid", vec![8, 8], 4, 2),
        ("grid", vec![3, 4, 5], 6, 3),
        ("torus", vec![4, 4, 4], 6, 6),
        ("torus", vec![8, 8, 4], 6, 6),
        ("torus", vec![32, 32], 4, 4),
        ("torus", vec![5, 7], 4, 2),
        ("hypercube", vec![64], 6, 6),
        ("kautz", vec![64], 2, 2),
        ("kautz", vec![64], 4, 1),
        ("ring", vec![15], 2, 1),
    ] {
        let network = Network::new(&built(spec, &dims, ports));
        let origins = network.translations().representatives();
        let found = steps(&network, &origins, parts, Length::WhileNoneWaits).unwrap();
        let least = network.least_rounds(&origins, parts).unwrap();
        assert_eq!(numbers(&network, &origins, parts, &found), (diameter(&network), least), "{spec} {dims:?}");
    }
}

/// Two rings of four joined by one circuit each way: it is what the halves of eight blocks wait for.
#[test]
fn a_narrow_place_is_kept_busy() {
    let link = |src, dst| model::Link { src, dst, count: 1 };
    let rings = (0..8).map(|src| link(src, src / 4 * 4 + (src + 1) % 4));
    let topology =
        model::Topology::new("narrow", model::Translations::trivial(8), rings.chain([link(0, 4), link(4, 0)]));
    let network = Network::new(&topology.unwrap());
    let origins: Vec<Rank> = (0..8).collect();

    // Ranks with one circuit lack 7 blocks of 4 parts.
    let found = steps(&network, &origins, 4, Length::AtMost(1)).unwrap();
    assert_eq!(numbers(&network, &origins, 4, &found), (28, 28));
    // And the last is 7 hops from the first of the other ring.
    let found = steps(&network, &origins, 4, Length::AtMost(u32::MAX)).unwrap();
    assert_eq!(numbers(&network, &origins, 4, &found).0, 7);
}
