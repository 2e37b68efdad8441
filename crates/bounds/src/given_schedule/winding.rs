//! Winding numbers on one port, where every topology is a set of one-way cycles.
//!
//! Let the pairs of some steps on one topology join K ranks: they lie on one cycle, of L ≥ K circuits. Where a step
//! sends around demand cycles of r ranks (u to u+g to u+2g …), the r paths of one of them close a walk around the
//! cycle, so they have L hops at least, K/r on average. The K/r demand cycles among the K ranks put K/r rounds on the
//! cycle, which is K/r times the weight on each of its circuits.

use model::{Rank, Traffic};

/// The demand cycles of a step: (ranks of each cycle, weight of a transfer), for each permutation in its decomposition.
pub(super) type Cycles = Vec<(u32, f64)>;

/// The demand cycles of a pattern that is made of permutations whose cycles are equally long, else none.
pub(super) fn cycles(traffic: &Traffic) -> Cycles {
    let (group, arcs) = (traffic.symmetry(), traffic.arcs());
    if group.is_transitive() {
        let order = |shift: Rank| {
            let (mut at, mut ranks) = (shift, 1);
            while at != 0 {
                (at, ranks) = (group.apply(shift, at), ranks + 1);
            }
            ranks
        };
        return arcs.iter().map(|arc| (order(arc.dst), arc.weight)).collect();
    }
    if traffic.degree() != 1 || arcs.len() != group.orbits() as usize {
        return Vec::new();
    }
    let all = traffic.expanded();
    let (weight, ranks) = (arcs[0].weight, all.len());
    // A rank receives from one at most, and all send: a permutation.
    if arcs.iter().any(|arc| arc.weight != weight) || ranks != traffic.ranks() as usize {
        return Vec::new();
    }
    let length = |start: usize| {
        let (mut at, mut length) = (all[start].dst as usize, 1);
        while at != start {
            (at, length) = (all[at].dst as usize, length + 1);
        }
        length
    };
    let first = length(0);
    if (0..ranks).all(|start| length(start) == first) { vec![(first, weight)] } else { Vec::new() }
}

/// Least (hops, load) of a step whose pairs, with those of other steps, join this many ranks on one topology.
pub(super) fn least_hops_and_load(cycles: &Cycles, joined: u32) -> (u32, f64) {
    let hops = cycles.iter().map(|(ranks, _)| joined.div_ceil(*ranks)).max().unwrap_or(0);
    let load = cycles.iter().map(|(ranks, weight)| f64::from(joined) / f64::from(*ranks) * weight).sum();
    (hops, load)
}

/// Sets of ranks that pairs join.
pub(super) struct Joined {
    above: Vec<Rank>,
    size: Vec<u32>,
    largest: u32,
}

impl Joined {
    pub(super) fn new(ranks: u32) -> Self {
        Self { above: (0..ranks).collect(), size: vec![1; ranks as usize], largest: 1 }
    }

    /// Ranks of the largest set.
    pub(super) fn largest(&self) -> u32 {
        self.largest
    }

    pub(super) fn join(&mut self, a: Rank, b: Rank) {
        let (a, b) = (self.top(a), self.top(b));
        if a != b {
            let (small, large) = if self.size[a as usize] < self.size[b as usize] { (a, b) } else { (b, a) };
            self.above[small as usize] = large;
            self.size[large as usize] += self.size[small as usize];
            self.largest = self.largest.max(self.size[large as usize]);
        }
    }

    fn top(&mut self, mut rank: Rank) -> Rank {
        while self.above[rank as usize] != rank {
            let above = self.above[rank as usize];
            self.above[rank as usize] = self.above[above as usize];
            rank = above;
        }
        rank
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{TrafficEntry, Translations};

    fn traffic(symmetry: Translations, arcs: &[(Rank, Rank)]) -> Traffic {
        Traffic::new(symmetry, arcs.iter().map(|&(src, dst)| TrafficEntry { src, dst, weight: 1.0 })).unwrap()
    }

    #[test]
    fn cycles_of_shifts_exchanges_and_other_permutations() {
        assert_eq!(cycles(&traffic(Translations::cyclic(12), &[(0, 3), (0, 8)])), [(4, 1.0), (3, 1.0)]);
        assert_eq!(cycles(&traffic(Translations::xor(8), &[(0, 5)])), [(2, 1.0)]);
        let swapped = [(0, 1), (1, 0), (2, 3), (3, 2)];
        assert_eq!(cycles(&traffic(Translations::trivial(4), &swapped)), [(2, 1.0)]);
        let unequal = [(0, 1), (1, 0), (2, 3), (3, 4), (4, 2)];
        assert_eq!(cycles(&traffic(Translations::trivial(5), &unequal)), []);
        assert_eq!(cycles(&traffic(Translations::trivial(4), &[(0, 1), (1, 0)])), []);
        assert_eq!(cycles(&traffic(Translations::trivial(3), &[(0, 2), (1, 2), (2, 0)])), []);
    }

    #[test]
    fn the_ring_serves_the_third_step_of_recursive_doubling_over_four_hops() {
        // Shifts by 1 join all 8 ranks, and a shift by 4 goes around pairs.
        assert_eq!(least_hops_and_load(&vec![(2, 1.0)], 8), (4, 4.0));
        let mut joined = Joined::new(8);
        (0..8).for_each(|rank| joined.join(rank, (rank + 4) % 8));
        assert_eq!(joined.largest(), 2);
        (0..8).for_each(|rank| joined.join(rank, (rank + 2) % 8));
        assert_eq!(joined.largest(), 4);
    }
}
