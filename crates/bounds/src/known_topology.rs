//! A topology that is known: distances between its ranks, and the circuits out of and into each of them.
//!
//! Ranks need not be alike. One may have more circuits out than in, several in parallel to one other rank, or none at
//! all.
//!
//! Where thousands of ranks look different, distances from and to some of them are looked at: the diameter is at least
//! the largest that is found, and the other ranks are as near to all as on any topology of as many circuits out of a
//! rank.

use model::{BreadthFirst, Rank, Topology, UNREACHABLE};

pub(crate) use crate::cutoffs::known_topology::MOST_DISTANCES;
use crate::cutoffs::known_topology::MOST_PAIRS;
use crate::spreading::{least_usage, most_steps};
use crate::spreading_on;

/// Circuits that are in place, each rank's by direction.
pub(crate) struct KnownTopology<'a> {
    topology: &'a Topology,
    /// By rank, the ranks that its circuits lead to (`onward`) and come from (`back`).
    onward: Vec<Vec<Rank>>,
    back: Vec<Vec<Rank>>,
    /// By rank, circuits out of it and into it.
    out: Vec<u32>,
    into: Vec<u32>,
}

/// The distances between all ranks.
pub(crate) struct Distances {
    pub(crate) diameter: u32,
    /// Σ distance over all pairs, or less.
    pub(crate) sum: f64,
    /// By number of steps, least uses of links by a block that reaches all ranks.
    pub(crate) uses: Vec<f64>,
}

/// Ranks by their distance.
pub(crate) struct Spheres {
    /// Hops to every rank.
    pub(crate) distances: Vec<u32>,
    /// By hops, ranks within them of the rank that has most.
    pub(crate) largest: Vec<f64>,
}

/// A rank that reaches all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Root {
    pub(crate) rank: Rank,
    /// Hops to the rank that is farthest, or fewer.
    pub(crate) farthest: u32,
    /// Number of circuits out of the root.
    pub(crate) out: u32,
    /// Least number of circuits into any other rank.
    pub(crate) into_others: u32,
}

impl<'a> KnownTopology<'a> {
    /// O(links).
    pub(crate) fn new(topology: &'a Topology) -> Self {
        let ranks = topology.ranks() as usize;
        let (mut onward, mut back) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        let (mut out, mut into) = (vec![0; ranks], vec![0; ranks]);
        for link in topology.expanded() {
            let (src, dst) = (link.src as usize, link.dst as usize);
            onward[src].push(link.dst);
            back[dst].push(link.src);
            out[src] += link.count;
            into[dst] += link.count;
        }
        Self { topology, onward, back, out, into }
    }

    /// Circuits altogether.
    pub(crate) fn circuits(&self) -> f64 {
        self.topology.circuits() as f64
    }

    /// Circuits out of the rank that has fewest.
    pub(crate) fn fewest_out(&self) -> f64 {
        f64::from(self.out.iter().copied().min().unwrap_or(0))
    }

    /// Circuits into the rank that has fewest.
    pub(crate) fn fewest_into(&self) -> f64 {
        f64::from(self.into.iter().copied().min().unwrap_or(0))
    }

    /// Circuits out of a rank.
    pub(crate) fn circuits_out_of(&self, rank: Rank) -> f64 {
        f64::from(self.out[rank as usize])
    }

    /// Circuits into a rank.
    pub(crate) fn circuits_into(&self, rank: Rank) -> f64 {
        f64::from(self.into[rank as usize])
    }

    /// Hops from `src` to every rank.
    pub(crate) fn from<'s>(&self, search: &'s mut BreadthFirst, src: Rank) -> &'s [u32] {
        search.search(src, |rank| self.onward[rank as usize].iter().copied())
    }

    /// Hops from every rank to `dst`.
    fn to<'s>(&self, search: &'s mut BreadthFirst, dst: Rank) -> &'s [u32] {
        search.search(dst, |rank| self.back[rank as usize].iter().copied())
    }

    /// `None` where some rank cannot reach some other. O(links) for each of the ranks that look different, as far as
    /// `most` distances.
    pub(crate) fn distances(&self, most: u64) -> Option<Distances> {
        let (ranks, symmetry) = (self.topology.ranks(), self.topology.symmetry());
        let looked_from = self.looked_from(most);
        let looks_back = u64::from(symmetry.orbits()) * u64::from(ranks) <= MOST_PAIRS.min(most);
        let (mut diameter, mut sum, mut layers) = (0, 0.0, Vec::new());
        let mut search = BreadthFirst::new(ranks as usize);
        for &rank in &looked_from {
            interruption::check();
            let onward = farthest(self.from(&mut search, rank))?;
            diameter = diameter.max(onward);
            let hops: u64 = search.reached().iter().map(|&other| u64::from(search.distance(other))).sum();
            sum += hops as f64 * f64::from(symmetry.order());
            if looks_back {
                widen(&mut layers, &search);
                farthest(self.to(&mut search, rank))?;
                widen(&mut layers, &search);
            }
        }
        let others = symmetry.orbits() - looked_from.len() as u32;
        if others > 0 {
            // A rank that reaches one which reaches all reaches all.
            farthest(self.to(&mut search, looked_from[0]))?;
            sum += f64::from(others) * f64::from(symmetry.order()) * nearest(ranks, self.topology.degree());
        }
        let uses = if looks_back { spreading_on::least_uses(self.topology, &layers) } else { self.uses_on_any() };
        Some(Distances { diameter, sum, uses })
    }

    /// [`Distances::uses`] on any topology that has as many circuits out of a rank as this one.
    pub(crate) fn uses_on_any(&self) -> Vec<f64> {
        let (ranks, ports) = (self.topology.ranks(), self.topology.degree());
        (1..=most_steps(ports, ranks)).map(|steps| least_usage(ports, steps, &[f64::from(ranks - 1)])[0]).collect()
    }

    /// [`Distances::uses`] by a block of one rank, whether or not the other ranks reach all ranks.
    pub(crate) fn uses_of_a_root(&self) -> Vec<f64> {
        let pairs = u64::from(self.topology.symmetry().orbits()) * u64::from(self.topology.ranks());
        // Where some rank does not reach the root, its distances say too little.
        let known = (pairs <= MOST_PAIRS).then(|| self.distances(MOST_DISTANCES)).flatten();
        known.map_or_else(|| self.uses_on_any(), |distances| distances.uses)
    }

    /// One rank of each kind, among the ranks that reach all others. O(links) for each rank that looks different, as
    /// far as `most` distances.
    pub(crate) fn roots(&self, most: u64) -> Vec<Root> {
        let mut fewest = self.into.clone();
        fewest.sort_unstable();
        let root = |rank: Rank, farthest: u32| Root {
            rank,
            farthest,
            out: self.out[rank as usize],
            into_others: fewest[usize::from(self.into[rank as usize] == fewest[0])],
        };
        let mut search = BreadthFirst::new(self.topology.ranks() as usize);
        let looked_at = self.looked_from(most);
        if looked_at.len() as u32 == self.topology.symmetry().orbits() {
            let of = |&rank: &Rank| Some(root(rank, farthest(self.from(&mut search, rank))?));
            return looked_at.iter().filter_map(of).collect();
        }
        let mut most_hops = vec![Some(0); self.topology.ranks() as usize];
        for &rank in &looked_at {
            for (most, &hops) in most_hops.iter_mut().zip(self.to(&mut search, rank)) {
                *most = most.filter(|_| hops != UNREACHABLE).map(|most: u32| most.max(hops));
            }
        }
        (0..).zip(most_hops).filter_map(|(rank, most)| Some(root(rank, most?))).collect()
    }

    /// Circuits out of a rank, and into one, at most.
    pub(crate) fn most_circuits(&self) -> (f64, f64) {
        let most = |circuits: &[u32]| f64::from(circuits.iter().copied().max().unwrap_or(0));
        (most(&self.out), most(&self.into))
    }

    /// Ranks by their distance from `root`; `None` where it does not reach all, or many ranks look different.
    pub(crate) fn spheres(&self, root: Rank) -> Option<Spheres> {
        let (ranks, symmetry) = (self.topology.ranks(), self.topology.symmetry());
        if u64::from(symmetry.orbits()) * u64::from(ranks) > MOST_PAIRS {
            return None;
        }
        let mut search = BreadthFirst::new(ranks as usize);
        farthest(self.from(&mut search, root))?;
        let distances = self.from(&mut search, root).to_vec();
        let mut largest: Vec<f64> = vec![1.0];
        for rank in symmetry.representatives() {
            interruption::check();
            self.from(&mut search, rank);
            let mut within: Vec<f64> = Vec::new();
            for &reached in search.reached() {
                let hops = search.distance(reached) as usize;
                within.resize(within.len().max(hops + 1), within.last().copied().unwrap_or(0.0));
                within[hops] += 1.0;
            }
            let (longer, last) = (within.len().max(largest.len()), |of: &[f64]| of[of.len() - 1]);
            within.resize(longer, last(&within));
            largest.resize(longer, last(&largest));
            largest.iter_mut().zip(within).for_each(|(most, ranks)| *most = ranks.max(*most));
        }
        Some(Spheres { distances, largest })
    }

    /// By number of hops below `most`: walks from `root` to the ranks that `is_end`, none of which goes back to the
    /// rank that it has just come from. Parallel circuits count as many walks as the fewest on the way. O(most · links),
    /// for each number of parallel circuits.
    pub(crate) fn walks(&self, root: Rank, most: u32, is_end: impl Fn(Rank) -> bool) -> Vec<f64> {
        let links = self.topology.expanded();
        let mut walks = vec![0.0; most as usize];
        for parallel in 1..=links.iter().map(|link| link.count).max().unwrap_or(0) {
            interruption::check();
            let links: Vec<(Rank, Rank)> =
                links.iter().filter(|link| link.count >= parallel).map(|link| (link.src, link.dst)).collect();
            let back: Vec<Option<usize>> =
                links.iter().map(|&(src, dst)| links.binary_search(&(dst, src)).ok()).collect();
            let mut over: Vec<f64> = links.iter().map(|&(src, _)| f64::from(u8::from(src == root))).collect();
            for found in walks.iter_mut().skip(1) {
                let mut into = vec![0.0; self.onward.len()];
                for (&(_, dst), over) in links.iter().zip(&over) {
                    into[dst as usize] += over;
                    *found += if is_end(dst) { *over } else { 0.0 };
                }
                let next = links
                    .iter()
                    .zip(&back)
                    .map(|(&(src, _), back)| into[src as usize] - back.map_or(0.0, |at| over[at]));
                over = next.collect();
            }
        }
        walks
    }

    /// Ranks that look different: all of them up to `most` distances, else some.
    fn looked_from(&self, most: u64) -> Vec<Rank> {
        let different = self.topology.symmetry().representatives();
        let most = (most / u64::from(self.topology.ranks())).max(1) as usize;
        let apart = different.len().div_ceil(most);
        different.into_iter().step_by(apart).collect()
    }
}

/// The largest distance; `None` where there is no path.
fn farthest(distances: &[u32]) -> Option<u32> {
    distances.iter().copied().max().filter(|&most| most != UNREACHABLE)
}

/// Raises the most ranks at each distance from one, from 1 on, to those of the latest search.
fn widen(layers: &mut Vec<f64>, search: &BreadthFirst) {
    let mut found: Vec<f64> = Vec::new();
    for &rank in &search.reached()[1..] {
        let distance = search.distance(rank) as usize;
        found.resize(found.len().max(distance), 0.0);
        found[distance - 1] += 1.0;
    }
    layers.resize(layers.len().max(found.len()), 0.0);
    layers.iter_mut().zip(found).for_each(|(most, ranks)| *most = ranks.max(*most));
}

/// Least sum of the distances from a rank to all others, on any topology of this many circuits out of a rank.
fn nearest(ranks: u32, ports: u32) -> f64 {
    let (mut left, mut at_hops, mut hops, mut sum) = (f64::from(ranks - 1), f64::from(ports), 1.0, 0.0);
    while left > 0.0 {
        let reached = left.min(at_hops);
        sum += hops * reached;
        left -= reached;
        at_hops *= f64::from(ports);
        hops += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Translations};
    use proptest::prelude::*;

    proptest! {
        /// Distances that are not looked at make a bound no larger, and what cannot be reached is known all the same.
        #[test]
        fn some_distances_say_no_more_than_all(
            ranks in 2u32..14,
            links in proptest::collection::btree_set((0u32..14, 0u32..14), 1..60),
            most in 0u64..150,
        ) {
            let inside = links.into_iter().filter(|&(src, dst)| src != dst && src.max(dst) < ranks);
            let links = inside.map(|(src, dst)| Link { src, dst, count: 1 });
            let topology = Topology::new("some", Translations::trivial(ranks), links).unwrap();
            prop_assume!(topology.circuits() > 0);
            let known = KnownTopology::new(&topology);
            let (some, all) = (known.distances(most), known.distances(u64::MAX));
            prop_assert_eq!(some.is_some(), all.is_some());
            for (some, all) in some.iter().zip(&all) {
                prop_assert!(some.diameter <= all.diameter && some.sum <= all.sum);
                prop_assert!(most < u64::from(ranks * ranks) || some.sum == all.sum);
            }
            let (some, all) = (known.roots(most), known.roots(u64::MAX));
            for root in all {
                prop_assert!(some.iter().any(|some| some.farthest <= root.farthest
                    && (some.out, some.into_others) == (root.out, root.into_others)));
            }
        }
    }

    #[test]
    fn circuits_out_and_into_are_counted_apart() {
        // 0 → 1, 1 → 0, 1 ⇒ 2, 2 → 0, 2 → 1.
        let links = [(0, 1, 1), (1, 0, 1), (1, 2, 2), (2, 0, 1), (2, 1, 1)];
        let links = links.map(|(src, dst, count)| Link { src, dst, count });
        let topology = Topology::new("uneven", Translations::trivial(3), links).unwrap();
        let known = KnownTopology::new(&topology);
        assert_eq!((known.fewest_out(), known.fewest_into(), known.circuits()), (1.0, 2.0, 6.0));
        let distances = known.distances(MOST_DISTANCES).unwrap();
        assert_eq!((distances.diameter, distances.sum), (2, 7.0));
        let roots = known.roots(MOST_DISTANCES);
        assert_eq!(roots.iter().map(|root| (root.farthest, root.out)).collect::<Vec<_>>(), [(2, 1), (1, 3), (1, 2)]);
    }
}
