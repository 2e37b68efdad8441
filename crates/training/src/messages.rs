//! Messages over the circuits of a topology.

use std::collections::{BTreeMap, VecDeque};

use model::Topology;

/// The longest path in hops, and the largest number of messages on a link over its capacity in circuits, where each
/// message takes the shortest path that a breadth-first search finds which visits neighbours in ascending order. `None`
/// where a pair is not joined.
pub(crate) fn over_topology(topology: &Topology, pairs: &[(u32, u32)]) -> Option<(u32, f64)> {
    let mut heads: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
    for link in topology.expanded() {
        heads.entry(link.src).or_default().push((link.dst, topology.capacity(&link)));
    }
    let mut on_link: BTreeMap<(u32, u32), (u32, f64)> = BTreeMap::new();
    let mut longest = 0;
    for &(source, destination) in pairs {
        let mut before: BTreeMap<u32, (u32, f64)> = BTreeMap::new();
        let mut queue = VecDeque::from([source]);
        while let Some(at) = queue.pop_front() {
            for &(head, capacity) in heads.get(&at).map_or(&[][..], Vec::as_slice) {
                if head != source && !before.contains_key(&head) {
                    before.insert(head, (at, capacity));
                    queue.push_back(head);
                }
            }
        }
        let (mut at, mut hops) = (destination, 0);
        while at != source {
            let &(tail, capacity) = before.get(&at)?;
            on_link.entry((tail, at)).or_insert((0, capacity)).0 += 1;
            (at, hops) = (tail, hops + 1);
        }
        longest = longest.max(hops);
    }
    let load = on_link.values().map(|&(messages, capacity)| f64::from(messages) / capacity).fold(0.0, f64::max);
    Some((longest, load))
}

#[cfg(test)]
mod tests {
    use model::{Link, Translations};

    use super::*;

    #[test]
    fn messages_share_links_of_a_ring() {
        let links = (0..4).map(|src| Link { src, dst: (src + 1) % 4, count: 2 });
        let ring = Topology::new("ring", Translations::trivial(4), links).expect("a ring");
        assert_eq!(over_topology(&ring, &[(0, 1), (1, 2)]), Some((1, 0.5)));
        assert_eq!(over_topology(&ring, &[(0, 2), (1, 2)]), Some((2, 1.0)));
        assert_eq!(over_topology(&ring, &[(1, 0)]), Some((3, 0.5)));
    }
}
