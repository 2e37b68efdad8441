//! Trees of shortest paths on Cayley digraphs ([`topologies::metacyclic`]), which load their links evenly.

use std::collections::BTreeMap;

use topologies::metacyclic::Metacyclic;

use crate::outward_trees::OutwardTrees;

/// Trees of shortest paths that load all links of a generator alike in each level, since from every rank the last
/// circuit to what lies e away is that from the identity to e. With the circuits turned round where they run
/// `backwards`. O(ranks · (k + ports)).
pub(crate) fn trees(cayley: &Metacyclic, backwards: bool) -> OutwardTrees {
    let order = cayley.order();
    let (_, mut ways) = cayley.steps();
    if backwards {
        ways = ways.into_iter().map(|step| inverse(&step)).collect();
    }
    // Permutations: the one element before over each circuit.
    let back: Vec<Vec<u32>> = ways.iter().map(|step| inverse(step)).collect();
    let mut level_of = vec![u32::MAX; order as usize];
    level_of[0] = 0;
    // Element before, element.
    let mut levels: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut outermost = vec![0];
    while !outermost.is_empty() {
        let level = levels.len() as u32 + 1;
        let mut reached: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &at in &outermost {
            interruption::check();
            for (way, step) in ways.iter().enumerate() {
                let to = step[at as usize];
                if level_of[to as usize] >= level {
                    level_of[to as usize] = level;
                    reached.entry(to).or_default().push(way);
                }
            }
        }
        let mut order_of_choice: Vec<(u32, Vec<usize>)> = reached.into_iter().collect();
        order_of_choice.sort_by_key(|(to, choices)| (choices.len(), *to));
        let mut carried = vec![0u32; ways.len()];
        let mut chosen = Vec::new();
        for (to, choices) in order_of_choice {
            let Some(way) = choices.into_iter().min_by_key(|&way| carried[way]) else { continue };
            carried[way] += 1;
            chosen.push((back[way][to as usize], to));
        }
        outermost = chosen.iter().map(|(_, to)| *to).collect();
        levels.push(chosen);
    }
    levels.pop();
    // Moving all x is a symmetry: one origin for each i.
    let symmetry = cayley.wheel().expect("m·k ranks");
    let trees = symmetry.representatives().into_iter().map(|origin| {
        let at = |element: u32| cayley.product(origin, element);
        let level = |level: &Vec<(u32, u32)>| level.iter().map(|&(before, to)| (at(to), at(before))).collect();
        (origin, levels.iter().map(level).collect())
    });
    OutwardTrees::new(symmetry.clone(), trees.collect::<Vec<_>>())
}

fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    for (from, &to) in (0..).zip(permutation) {
        inverse[to as usize] = from;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::Rank;
    use topologies::metacyclic::best;

    use super::*;

    /// Every link of a generator carries as much as the others in each level, over circuits of the topology.
    #[test]
    fn trees_load_links_evenly() {
        for (ranks, ports) in [(21, 2), (64, 2), (64, 4), (24, 3)] {
            let found = best(ranks, ports).unwrap().unwrap();
            let links: Vec<(Rank, Rank)> = found.topology.expanded().iter().map(|link| (link.src, link.dst)).collect();
            for backwards in [false, true] {
                let trees = trees(&found, backwards).without_symmetry();
                // By rank and origin, once each.
                let mut reached = BTreeSet::new();
                for sent in trees.sent((0..trees.depth()).map(|_| 1), None) {
                    let loads: BTreeSet<usize> = sent.iter().map(|(_, blocks)| blocks.len()).collect();
                    assert!(loads.len() <= ports as usize, "{loads:?}");
                    for ((src, dst), origins) in sent {
                        assert!(links.contains(&if backwards { (dst, src) } else { (src, dst) }));
                        origins.into_iter().for_each(|origin| assert!(dst != origin && reached.insert((dst, origin))));
                    }
                }
                assert_eq!(reached.len() as u32, ranks * (ranks - 1));
            }
        }
    }

    /// From the ranks that are not alike, each to every rank once.
    #[test]
    fn trees_of_many_ranks_reach_every_rank_once() {
        for (ranks, ports) in [(500, 2), (1024, 2), (1023, 3), (4096, 4), (10_000, 2)] {
            let found = best(ranks, ports).unwrap().unwrap();
            let trees = trees(&found, false);
            let single = (0..trees.depth()).map(|_| 1);
            let moved: usize = trees.sent(single, None).iter().flatten().map(|(_, blocks)| blocks.len()).sum();
            assert_eq!(moved as u32, found.topology.symmetry().orbits() * (ranks - 1));
        }
    }

    #[test]
    fn it_is_narrower_than_any_circulant_of_as_many_ports() {
        let found = best(64, 2).unwrap().unwrap();
        let circulant =
            |g: i64| crate::levels::distances(64, &vec![(1, 1), (g, 1)]).unwrap().into_iter().max().unwrap();
        assert_eq!((2..64).map(circulant).min(), Some(13));
        assert_eq!(trees(&found, false).depth(), 7);
    }
}
