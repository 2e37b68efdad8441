//! Distances on rings of one offset, one way or both, in closed form: most candidates are of this kind, and distances
//! that are written down take four bytes a GPU of each.

use model::{Rank, Topology, Translations};

/// The circulant of one offset g, or of g and −g.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingDistances {
    ranks: u64,
    /// gcd(g, n): ranks that are no multiple of it apart are on different rings.
    rings: u64,
    /// GPUs of one ring, n over their number.
    length: u64,
    /// g/gcd(g, n) times this is 1 modulo the length.
    inverse: u64,
    both_ways: bool,
}

impl RingDistances {
    /// Those of a topology that is such a circulant.
    pub(crate) fn of(topology: &Topology) -> Option<Self> {
        let ranks = topology.ranks();
        if *topology.symmetry() != Translations::cyclic(ranks) {
            return None;
        }
        let (offset, both_ways) = match topology.links() {
            [link] => (link.dst, false),
            [one, other] if one.dst + other.dst == ranks => (one.dst, true),
            _ => return None,
        };
        let (ranks, offset) = (u64::from(ranks), u64::from(offset));
        let rings = gcd(offset, ranks);
        let length = ranks / rings;
        Some(Self { ranks, rings, length, inverse: inverse(offset / rings, length), both_ways })
    }

    /// Links on the shortest path between two ranks; `None` where they are on different rings.
    pub(crate) fn distance(&self, src: Rank, dst: Rank) -> Option<u32> {
        let apart = (u64::from(dst) + self.ranks - u64::from(src)) % self.ranks;
        if !apart.is_multiple_of(self.rings) {
            return None;
        }
        let forward = apart / self.rings * self.inverse % self.length;
        let hops = if self.both_ways { forward.min(self.length - forward) } else { forward };
        Some(hops as u32)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The inverse of `value`, which has no divisor in common with `modulus`.
fn inverse(value: u64, modulus: u64) -> u64 {
    let (mut rest, mut next) = (modulus as i64, (value % modulus) as i64);
    let (mut known, mut found) = (0i64, 1i64);
    while next != 0 {
        let times = rest / next;
        (rest, next) = (next, rest - times * next);
        (known, found) = (found, known - times * found);
    }
    known.rem_euclid(modulus as i64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoutingNetwork;
    use model::Link;
    use proptest::prelude::*;

    proptest! {
        /// The same links without their symmetry are searched breadth first.
        #[test]
        fn distances_are_those_of_a_search(n in 2u32..40, offset in 1u32..40, both_ways in any::<bool>(), count in 1u32..4) {
            let offset = offset % n;
            prop_assume!(offset != 0);
            let back = (n - offset) % n;
            let ends = if both_ways { vec![offset, back] } else { vec![offset] };
            let links = ends.iter().map(|&dst| Link { src: 0, dst, count });
            let ring = Topology::new("ring", Translations::cyclic(n), links).unwrap();
            prop_assert!(RingDistances::of(&ring).is_some());
            let searched = Topology::new("plain", Translations::trivial(n), ring.expanded()).unwrap();
            let (known, searched) = (RoutingNetwork::new(&ring), RoutingNetwork::new(&searched));
            for src in 0..n {
                for dst in 0..n {
                    prop_assert_eq!(known.distance(src, dst), searched.distance(src, dst));
                }
            }
        }
    }
}
