//! The effect of steps, by definition.

use std::collections::{BTreeMap, BTreeSet};

use lightloom_compositions::synthesis::{Network, Sent};
use model::Rank;

/// Carries steps out with all images: of each the chunks that a circuit may carry, and what is sent.
pub(crate) fn carried_out<'a>(
    network: &Network,
    origins: &[Rank],
    parts: u32,
    steps: impl Iterator<Item = (u32, &'a [Sent])>,
) {
    let group = network.translations();
    let mut held: BTreeSet<(Rank, Rank, u32)> = BTreeSet::new();
    let mut everything = 0;
    for &origin in origins {
        for element in group.elements() {
            let origin = group.apply(element, origin);
            held.extend((0..parts).map(|part| (origin, origin, part)));
            everything += network.ranks() as usize * parts as usize;
        }
    }
    let circuits: BTreeMap<(Rank, Rank), u32> =
        network.links().iter().map(|link| ((link.src, link.dst), link.count)).collect();
    for (rounds, step) in steps {
        let mut used: BTreeMap<(Rank, Rank), u32> = BTreeMap::new();
        let mut arrived = BTreeSet::new();
        for sent in step {
            for element in group.elements() {
                let moved = |rank| group.apply(element, rank);
                let (src, dst, origin) = (moved(sent.src), moved(sent.dst), moved(sent.origin));
                assert!(held.contains(&(src, origin, sent.part)), "{sent:?} is not there");
                assert!(!held.contains(&(dst, origin, sent.part)), "{sent:?} came before");
                assert!(arrived.insert((dst, origin, sent.part)), "{sent:?} comes twice");
                *used.entry((src, dst)).or_insert(0) += 1;
            }
        }
        for (link, number) in used {
            assert!(
                circuits.get(&link).is_some_and(|circuits| number <= rounds * *circuits),
                "{link:?} carries {number}"
            );
        }
        held.extend(arrived);
    }
    assert_eq!(held.len(), everything);
}
