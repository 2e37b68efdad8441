//! Distances in closed form where every link leads along one coordinate: rings and circulants of all ranks, tori,
//! shifted or not, hypercubes, circulants along one coordinate. Most candidates are of this kind, and distances that
//! are written down take four bytes a GPU of each.
//!
//! The group of such a topology is a product of cyclic groups, each link an element of one of them, so a path may take
//! the links of each coordinate by themselves: the distance is the sum of the coordinates' distances (the distance of a
//! Cartesian product of graphs; Imrich and Klavžar, *Product Graphs*, 2000).

use std::sync::OnceLock;

use crate::cutoffs::digit_distances::MOST_LISTED;
use model::{BreadthFirst, Digit, Rank, Topology, UNREACHABLE};

/// The distances of a topology that is the same from every GPU, by coordinate.
#[derive(Debug)]
pub(crate) struct DigitDistances {
    digits: Vec<(Digit, Along)>,
}

/// Links along one coordinate.
#[derive(Debug)]
enum Along {
    /// Without links: other values are out of reach.
    Nothing,
    /// One offset, one way or both, and many places.
    Ring(Ring),
    /// Several offsets, or few places: hops by places ahead, found when they are first asked for.
    Offsets { offsets: Vec<u32>, hops: OnceLock<Box<[u32]>> },
}

impl DigitDistances {
    /// The distances of a topology that is such a product.
    pub(crate) fn of(topology: &Topology) -> Option<Self> {
        let symmetry = topology.symmetry();
        if !symmetry.is_transitive() {
            return None;
        }
        let mut offsets: Vec<Vec<u32>> = vec![Vec::new(); symmetry.digits().len()];
        for link in topology.links() {
            let ahead = |digit: &Digit| link.dst / digit.stride % digit.radix;
            let mut along = symmetry.digits().iter().enumerate().filter(|(_, digit)| ahead(digit) > 0);
            let (Some((index, digit)), None) = (along.next(), along.next()) else { return None };
            offsets[index].push(ahead(digit));
        }
        let along = |(digit, offsets): (&Digit, Vec<u32>)| (*digit, Along::of(digit.radix, offsets));
        Some(Self { digits: symmetry.digits().iter().zip(offsets).map(along).collect() })
    }

    /// Links on the shortest path between two ranks; `None` if there is no path. O(coordinates), after a search of
    /// O(radix) for each coordinate of several offsets.
    pub(crate) fn distance(&self, src: Rank, dst: Rank) -> Option<u32> {
        let mut hops = 0;
        for (Digit { stride, radix }, along) in &self.digits {
            let (from, to) = (src / stride % radix, dst / stride % radix);
            if from != to {
                let apart = if to > from { to - from } else { radix + to - from };
                hops += along.hops(*radix, apart)?;
            }
        }
        Some(hops)
    }
}

impl Along {
    fn of(radix: u32, offsets: Vec<u32>) -> Self {
        match offsets[..] {
            [] => Self::Nothing,
            [offset] if radix > MOST_LISTED => Self::Ring(Ring::new(radix, offset, false)),
            [one, other] if radix > MOST_LISTED && one + other == radix => Self::Ring(Ring::new(radix, one, true)),
            _ => Self::Offsets { offsets, hops: OnceLock::new() },
        }
    }

    fn hops(&self, radix: u32, apart: u32) -> Option<u32> {
        match self {
            Self::Nothing => None,
            Self::Ring(ring) => ring.hops(apart),
            Self::Offsets { offsets, hops } => {
                let hops = hops.get_or_init(|| {
                    let mut search = BreadthFirst::new(radix as usize);
                    search.search(0, |at| offsets.iter().map(move |offset| (at + offset) % radix));
                    search.into_distances().into()
                })[apart as usize];
                (hops != UNREACHABLE).then_some(hops)
            }
        }
    }
}

/// The circulant of one offset g, or of g and −g.
#[derive(Debug, Clone, Copy)]
struct Ring {
    /// Number of rings, gcd(g, radix): two values are on one ring if their difference is a multiple of it.
    rings: u64,
    /// Number of values on one ring: the radix over the number of rings.
    length: u64,
    /// Inverse of g/gcd(g, radix) modulo the length.
    inverse: u64,
    both_ways: bool,
}

impl Ring {
    fn new(radix: u32, offset: u32, both_ways: bool) -> Self {
        let (radix, offset) = (u64::from(radix), u64::from(offset));
        let rings = gcd(offset, radix);
        let length = radix / rings;
        Self { rings, length, inverse: inverse(offset / rings, length), both_ways }
    }

    fn hops(&self, apart: u32) -> Option<u32> {
        let apart = u64::from(apart);
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
    use model::{Link, Translations};
    use proptest::prelude::*;

    proptest! {
        /// The same links without their symmetry are searched breadth first.
        #[test]
        fn distances_are_those_of_a_search(
            dims in prop::collection::vec(2u32..7, 1..4),
            links in prop::collection::vec((0usize..3, 1u32..7, any::<bool>(), 1u32..4), 1..5),
        ) {
            let symmetry = Translations::grid(&dims, &vec![1; dims.len()]);
            let n = symmetry.ranks();
            let mut ends = Vec::new();
            for (index, ahead, both_ways, count) in links {
                let Digit { stride, radix } = symmetry.digits()[index % symmetry.digits().len()];
                let ahead = 1 + ahead % (radix - 1);
                ends.push(Link { src: 0, dst: ahead * stride, count });
                if both_ways {
                    ends.push(Link { src: 0, dst: (radix - ahead) * stride, count });
                }
            }
            let product = Topology::new("product", symmetry, ends).unwrap();
            prop_assert!(DigitDistances::of(&product).is_some());
            let searched = Topology::new("plain", Translations::trivial(n), product.expanded()).unwrap();
            let (known, searched) = (RoutingNetwork::new(&product), RoutingNetwork::new(&searched));
            for src in 0..n {
                for dst in 0..n {
                    prop_assert_eq!(known.distance(src, dst), searched.distance(src, dst));
                }
            }
        }

        #[test]
        fn rings_of_any_offset_need_no_search(n in 2u32..300, offset in 1u32..40, both_ways in any::<bool>()) {
            let offset = offset % n;
            prop_assume!(offset != 0);
            let back = (n - offset) % n;
            let ends = if both_ways { vec![offset, back] } else { vec![offset] };
            let links = ends.iter().map(|&dst| Link { src: 0, dst, count: 1 });
            let ring = Topology::new("ring", Translations::cyclic(n), links).unwrap();
            let known = DigitDistances::of(&ring).unwrap();
            prop_assert_eq!(matches!(known.digits[..], [(_, Along::Ring(_))]), n > MOST_LISTED);
            let ring_of = Ring::new(n, offset, both_ways);
            let searched = RoutingNetwork::new(&Topology::new("plain", Translations::trivial(n), ring.expanded()).unwrap());
            for dst in 0..n {
                prop_assert_eq!(known.distance(0, dst), searched.distance(0, dst));
                prop_assert!(dst == 0 || ring_of.hops(dst) == searched.distance(0, dst));
            }
        }
    }

    #[test]
    fn a_link_along_two_coordinates_is_searched_for() {
        let symmetry = Translations::grid(&[3, 4], &[1, 1]);
        let diagonal = Topology::new("diagonal", symmetry, [Link { src: 0, dst: 5, count: 1 }]).unwrap();
        assert!(DigitDistances::of(&diagonal).is_none());
    }
}
