//! The port of every circuit, where port k of every GPU is on switch k.
//!
//! A switch joins each of its inputs to one output at most, so that the circuits of one port are a matching, and d
//! matchings hold any topology of degree d (König 1916). A rule that looks only at the topology decides which
//! matchings: every time that a topology is set up its circuits are on the same ports, so that a change takes the same
//! whatever came before it, and circuits that are short stay on slow ports when long ones change.

use crate::{Rank, Topology, Translations};

/// The circuits of a topology by port, the slowest port first.
#[derive(Debug, Clone, PartialEq)]
pub struct PortAssignment {
    /// Per port and source, the destination, or [`DARK`].
    out: Vec<Vec<Rank>>,
}

/// Stands in place of a rank where a port is dark.
const DARK: Rank = Rank::MAX;

impl PortAssignment {
    /// Circuits are put on ports one by one, those of the shortest distance in ranks first, of two as far the one
    /// forward, then by source. Each takes the slowest port that its source does not send on and its destination does
    /// not receive on. Without such a port, it takes the slowest that its source does not send on, and makes room at
    /// its destination: along the path of circuits that alternate between that port and the slowest that the
    /// destination does not receive on, the two are swapped (König's proof).
    ///
    /// On a circulant, that is one generator a port, the nearest on the slowest. `ports` are as many as it has at
    /// least. O(circuits · ranks), and O(circuits · log circuits) where nothing is swapped.
    pub fn of(topology: &Topology, ports: usize) -> Self {
        let ranks = topology.ranks();
        let ports = ports.max(topology.degree() as usize);
        let dark = || vec![vec![DARK; ranks as usize]; ports];
        let (mut out, mut into) = (dark(), dark());
        let mut links = topology.expanded();
        links.sort_by_key(|link| {
            let forward = (link.dst + ranks - link.src) % ranks;
            (forward.min(ranks - forward), forward, link.src)
        });
        for link in links {
            let (src, dst) = (link.src as usize, link.dst as usize);
            for _ in 0..link.count {
                let mut both = (0..ports).filter(|&port| out[port][src] == DARK && into[port][dst] == DARK);
                let port = both.next().unwrap_or_else(|| make_room(&mut out, &mut into, src, dst));
                out[port][src] = link.dst;
                into[port][dst] = link.src;
            }
        }
        Self { out }
    }

    /// Ports, the slowest first.
    pub fn ports(&self) -> usize {
        self.out.len()
    }

    /// The circuits of a port, counted from the slowest, by source.
    pub fn circuits(&self, port: usize) -> impl Iterator<Item = (Rank, Rank)> + '_ {
        self.out
            .get(port)
            .into_iter()
            .flat_map(|out| (0..).zip(out).filter(|(_, peer)| **peer != DARK))
            .map(|(src, &dst)| (src, dst))
    }

    /// Whether the two differ on each port, with whether it carries something in the first and in the second.
    pub(super) fn changes<'a>(&'a self, to: &'a Self) -> impl Iterator<Item = Option<(bool, bool)>> + 'a {
        let is_lit = |port: &[Rank]| port.iter().any(|&peer| peer != DARK);
        self.out.iter().zip(&to.out).map(move |(from, to)| (from != to).then(|| (is_lit(from), is_lit(to))))
    }

    /// The slowest port that differs.
    pub(super) fn slowest_change(&self, to: &Self) -> Option<usize> {
        self.out.iter().zip(&to.out).position(|(from, to)| from != to)
    }

    /// The ports of the circuits between two GPUs, slowest first.
    pub(super) fn ports_of(&self, src: Rank, dst: Rank) -> impl Iterator<Item = usize> + '_ {
        self.out.iter().enumerate().filter(move |(_, out)| out[src as usize] == dst).map(|(port, _)| port)
    }

    /// Whether this port carries the circuit between two GPUs.
    pub(super) fn has(&self, port: usize, src: Rank, dst: Rank) -> bool {
        self.out.get(port).is_some_and(|out| out[src as usize] == dst)
    }

    /// Whether every element of a group moves the circuits of each port to such of the same port.
    pub(super) fn is_invariant(&self, group: &Translations) -> bool {
        let moved = |out: &Vec<Rank>, src: Rank| {
            let (representative, element) = group.canonical(src);
            match out[representative as usize] {
                DARK => DARK,
                peer => group.apply(element, peer),
            }
        };
        self.out.iter().all(|out| (0..group.ranks()).zip(out).all(|(src, &peer)| moved(out, src) == peer))
    }
}

/// A port that the source does not send on, made one that the destination does not receive on.
fn make_room(out: &mut [Vec<Rank>], into: &mut [Vec<Rank>], src: usize, dst: usize) -> usize {
    let slowest = |peers: &[Vec<Rank>], rank: usize| peers.iter().position(|peers| peers[rank] == DARK);
    // Each has a dark port: neither end has more circuits than there are ports.
    let (Some(wanted), Some(spare)) = (slowest(out, src), slowest(into, dst)) else { return 0 };
    // The walk ends, and not at the source, which sends nothing on `wanted`: circuits are entered on that port.
    let mut path = Vec::new();
    let mut at = dst as Rank;
    while into[wanted][at as usize] != DARK {
        let before = into[wanted][at as usize];
        path.push((before, at, wanted, spare));
        at = out[spare][before as usize];
        if at == DARK {
            break;
        }
        path.push((before, at, spare, wanted));
    }
    for &(src, dst, from, _) in &path {
        (out[from][src as usize], into[from][dst as usize]) = (DARK, DARK);
    }
    for (src, dst, _, to) in path {
        (out[to][src as usize], into[to][dst as usize]) = (dst, src);
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Shape};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn circulant(ranks: u32, offsets: &[u32]) -> Topology {
        let links = offsets.iter().map(|&dst| Link { src: 0, dst, count: 1 });
        Topology::new("circulant", Translations::cyclic(ranks), links).unwrap()
    }

    /// Generators by port.
    fn generators(ranks: u32, offsets: &[u32]) -> Vec<u32> {
        PortAssignment::of(&circulant(ranks, offsets), offsets.len()).out.iter().map(|out| out[0]).collect()
    }

    #[test]
    fn near_generators_are_on_slow_ports() {
        assert_eq!(generators(8, &[4, 2, 1]), [1, 2, 4]);
        assert_eq!(generators(8, &[7, 3, 1, 1]), [1, 1, 7, 3]);
        let assigned = PortAssignment::of(&circulant(8, &[5]), 2);
        assert_eq!((assigned.out[0][0], assigned.out[1][0]), (5, DARK));
        let slowest = |from: &[u32], to: &[u32]| {
            let [from, to] = [from, to].map(|offsets| PortAssignment::of(&circulant(8, offsets), 2));
            from.slowest_change(&to)
        };
        assert_eq!(slowest(&[1, 2], &[1, 4]), Some(1));
        assert_eq!(slowest(&[1, 2], &[2, 4]), Some(0));
        assert_eq!(slowest(&[1, 2], &[1]), Some(1));
        assert_eq!(slowest(&[1, 2], &[2, 1]), None);
    }

    #[test]
    fn the_rings_of_a_torus_keep_their_ports() {
        let shape = Shape::new(16, &[4, 4], 2).unwrap();
        let translations = Translations::grid(shape.dims(), &[1, 1]);
        let links = [1, 4].map(|dst| Link { src: 0, dst, count: 1 });
        let torus = Topology::new("torus", translations.clone(), links).unwrap();
        let assigned = PortAssignment::of(&torus, 2);
        assert!(assigned.is_invariant(&translations));
        assert_eq!((assigned.out[0][3], assigned.out[1][3]), (0, 7));
    }

    /// Any circuits with at most `ports` at each end, drawn one by one.
    fn topologies() -> impl Strategy<Value = (Topology, usize)> {
        (2u32..8, 1usize..5, prop::collection::vec((0u32..8, 1u32..8), 0..40)).prop_map(|(ranks, ports, drawn)| {
            let mut ends = BTreeMap::new();
            let mut links: Vec<Link> = Vec::new();
            for (src, ahead) in drawn {
                let (src, dst) = (src % ranks, (src % ranks + 1 + ahead % (ranks - 1)) % ranks);
                let used = |ends: &BTreeMap<_, usize>, end| ends.get(&end).copied().unwrap_or(0);
                if src != dst && [(0, src), (1, dst)].iter().all(|&end| used(&ends, end) < ports) {
                    [(0, src), (1, dst)].into_iter().for_each(|end| *ends.entry(end).or_insert(0) += 1);
                    links.push(Link { src, dst, count: 1 });
                }
            }
            (Topology::new("drawn", Translations::trivial(ranks), links).unwrap(), ports)
        })
    }

    proptest! {
        #[test]
        fn every_circuit_is_on_one_port_and_every_port_a_matching((topology, ports) in topologies()) {
            let assigned = PortAssignment::of(&topology, ports);
            prop_assert_eq!(assigned.out.len(), ports);
            let mut found: BTreeMap<(Rank, Rank), u32> = BTreeMap::new();
            for out in &assigned.out {
                let mut peers: Vec<Rank> = out.iter().copied().filter(|&peer| peer != DARK).collect();
                (0..).zip(out).filter(|(_, peer)| **peer != DARK).for_each(|(src, &dst)| *found.entry((src, dst)).or_insert(0) += 1);
                peers.sort_unstable();
                let many = peers.len();
                peers.dedup();
                prop_assert_eq!(peers.len(), many, "two circuits of a port end at one GPU");
            }
            let expected: BTreeMap<(Rank, Rank), u32> =
                topology.expanded().into_iter().map(|link| ((link.src, link.dst), link.count)).collect();
            prop_assert_eq!(found, expected);
            for link in topology.expanded() {
                let at = assigned.ports_of(link.src, link.dst).collect::<Vec<_>>();
                prop_assert_eq!(at.len() as u32, link.count);
                prop_assert!(at.iter().all(|&port| assigned.has(port, link.src, link.dst)));
            }
        }

        #[test]
        fn symmetry_in_disguise_changes_nothing((topology, ports) in topologies()) {
            let found = topology.clone().with_found_symmetry();
            prop_assert_eq!(PortAssignment::of(&found, ports), PortAssignment::of(&topology, ports));
        }
    }
}
