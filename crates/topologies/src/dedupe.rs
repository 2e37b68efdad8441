//! Dropping topologies that have the circuits of an earlier one.

use std::collections::BTreeMap;

use model::{Rank, Topology};

/// Ranks whose circuits tell topologies apart before whole link lists are compared.
const PROBES: u32 = 4;

/// `topologies` without those whose circuits an earlier one has. Order is kept; of equal ones the first
/// name is kept, with the largest symmetry, which makes their profiles cheapest. Topologies are told apart
/// by the circuits of a few ranks, in O(d·log) each, and only those that agree there are compared whole.
pub fn dedupe(topologies: Vec<Topology>) -> Vec<Topology> {
    let mut kept: Vec<Topology> = Vec::with_capacity(topologies.len());
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for topology in topologies {
        interruption::check();
        let bucket = alike.entry((topology.ranks(), topology.circuits(), probe(&topology))).or_default();
        match bucket.iter().find(|&&earlier| kept[earlier].same_links(&topology)) {
            None => {
                bucket.push(kept.len());
                kept.push(topology);
            }
            Some(&earlier) if kept[earlier].symmetry().order() < topology.symmetry().order() => {
                kept[earlier] = topology.renamed(kept[earlier].name());
            }
            Some(_) => {}
        }
    }
    kept
}

/// The links that leave [`PROBES`] ranks spread over the topology, for any symmetry.
fn probe(topology: &Topology) -> Vec<(Rank, Rank, u32)> {
    let (symmetry, links) = (topology.symmetry(), topology.links());
    let mut found = Vec::new();
    for index in 0..PROBES {
        // Off an even spread, so that the ranks are not all alike under a common period.
        let rank = (topology.ranks() / PROBES * index + index) % topology.ranks();
        let (representative, element) = symmetry.canonical(rank);
        let start = links.partition_point(|link| link.src < representative);
        let of_rank = links[start..].iter().take_while(|link| link.src == representative);
        let first = found.len();
        found.extend(of_rank.map(|link| (rank, symmetry.apply(element, link.dst), link.count)));
        found[first..].sort_unstable();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Translations};
    use proptest::prelude::*;

    /// A random topology under one of several groups of 12 ranks.
    fn any_topology() -> impl Strategy<Value = Topology> {
        let group = prop_oneof![
            Just(Translations::cyclic(12)),
            Just(Translations::periodic(12, 2)),
            Just(Translations::grid(&[3, 4], &[1, 1])),
            Just(Translations::grid(&[3, 4], &[1, 2])),
            Just(Translations::trivial(12)),
        ];
        (group, prop::collection::vec((0u32..12, 1u32..4, 1u32..3), 1..4), any::<bool>()).prop_map(
            |(group, links, all_ranks)| {
                let links: Vec<Link> = if all_ranks {
                    (0..12).map(|src| Link { src, dst: (src + links[0].1) % 12, count: links[0].2 }).collect()
                } else {
                    links.iter().map(|&(src, by, count)| Link { src, dst: (src + by) % 12, count }).collect()
                };
                Topology::new("any", group, links).unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn the_first_of_each_set_of_circuits_is_kept(topologies in prop::collection::vec(any_topology(), 0..30)) {
            let numbered = topologies.into_iter().enumerate();
            let named: Vec<Topology> = numbered.map(|(index, topology)| topology.renamed(index.to_string())).collect();
            let mut expected: Vec<(String, Vec<Link>, u32)> = Vec::new();
            for topology in &named {
                let (links, order) = (topology.expanded(), topology.symmetry().order());
                match expected.iter_mut().find(|(_, earlier, _)| *earlier == links) {
                    Some((_, _, largest)) => *largest = order.max(*largest),
                    None => expected.push((topology.name().into(), links, order)),
                }
            }
            let kept: Vec<(String, Vec<Link>, u32)> = dedupe(named)
                .iter()
                .map(|topology| (topology.name().into(), topology.expanded(), topology.symmetry().order()))
                .collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
