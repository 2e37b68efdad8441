//! The extent that an algorithm states of its schedule before it is built, compared with the schedule.

use lightloom_collectives::{Extent, Options, REGISTRY};
use model::{Collective, Shape};
use proptest::prelude::*;

/// Counted on the schedule: steps exactly, the rest at least as much and never more than a few times.
fn agrees(collective: Collective, dims: &[u32], radix: Option<u32>) {
    let aggregation = radix.map(u32::next_power_of_two);
    let options = Options { radix, aggregation, ..Options::default() };
    let shape = Shape::new(dims.iter().product(), dims, 1).unwrap();
    for algorithm in REGISTRY.iter().filter(|a| a.accepts(collective, &shape, &options).is_ok()) {
        let said = algorithm.extent(collective, &shape, &options);
        let found = Extent::of(&algorithm.build(collective, &shape, &options).unwrap());
        let case = format!("{} {collective:?} {dims:?} {radix:?}: {said:?}, {found:?}", algorithm.name());
        assert_eq!(said.steps, found.steps, "{case}");
        let pairs = [
            (said.patterns, found.patterns),
            (said.transfers, found.transfers),
            (said.chunks, found.chunks),
            (said.arcs, found.arcs),
            (said.orbits, found.orbits),
        ];
        assert!(pairs.iter().all(|(said, found)| said >= found), "{case}");
        assert!(said.transfers <= 4 * found.transfers && said.chunks <= 4 * found.chunks, "{case}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(60)))]

    #[test]
    fn any_number_of_ranks(n in 2u32..300, collective in 0..Collective::ALL.len(), radix in prop::option::of(2u32..400)) {
        agrees(Collective::ALL[collective], &[n], radix);
    }

    #[test]
    fn powers_of_two(log in 1u32..10, collective in 0..Collective::ALL.len(), radix in prop::option::of(1u32..10)) {
        agrees(Collective::ALL[collective], &[1 << log], radix.map(|log| 1 << log));
    }

    #[test]
    fn grids(dims in prop::collection::vec(2u32..9, 2..4), collective in 0..Collective::ALL.len()) {
        agrees(Collective::ALL[collective], &dims, None);
        let powers: Vec<u32> = dims.iter().map(|dim| 1 << (dim % 4 + 1)).collect();
        agrees(Collective::ALL[collective], &powers, None);
    }
}
