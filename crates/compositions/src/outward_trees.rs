//! Trees of shortest paths outwards from every rank, which together load links evenly.

use crate::cutoffs::outward_trees::MOST_COUNTS;
use model::{BreadthFirst, Link, Rank, Topology, Translations};

/// The origins of what goes from one rank to another in a step, by both ends.
pub(crate) type Sent = Vec<((Rank, Rank), Vec<Rank>)>;

/// A rank that is reached, and the rank before it on the way.
type Reached = (Rank, Rank);

/// One tree for each orbit of ranks; translations make the others of them.
#[derive(Debug, Clone)]
pub(crate) struct OutwardTrees {
    symmetry: Translations,
    trees: Vec<Tree>,
    /// Hops to the farthest rank from any.
    depth: u32,
}

#[derive(Debug, Clone)]
struct Tree {
    origin: Rank,
    /// The ranks that are reached, by hops from the origin, from 1 on.
    levels: Vec<Vec<Reached>>,
}

impl OutwardTrees {
    /// Trees by their origins, the representatives of `symmetry`, and by hops.
    pub(crate) fn new(symmetry: Translations, trees: impl IntoIterator<Item = (Rank, Vec<Vec<Reached>>)>) -> Self {
        let trees: Vec<Tree> = trees.into_iter().map(|(origin, levels)| Tree { origin, levels }).collect();
        let depth = trees.iter().map(|tree| tree.levels.len() as u32).max().unwrap_or(0);
        Self { symmetry, trees, depth }
    }

    /// Trees over `links`, those of the topology or all of them turned round: of several ways to a rank the one whose
    /// last link carries least for its circuits. `None` where some rank cannot be reached. O(orbits · (links + ranks ·
    /// log ranks)).
    pub(crate) fn over(topology: &Topology, links: &[Link]) -> Option<Self> {
        let symmetry = topology.symmetry().clone();
        let ranks = topology.ranks() as usize;
        // By head, the links into it; translates count as one link.
        let mut into: Vec<Vec<(Rank, usize)>> = vec![Vec::new(); ranks];
        let mut out: Vec<Vec<Rank>> = vec![Vec::new(); ranks];
        let mut circuits = Vec::new();
        let mut number_of = LinkNumbers::new(&symmetry);
        for link in links {
            let number = number_of.link(&symmetry, link.src, link.dst);
            circuits.resize(circuits.len().max(number + 1), 0.0);
            circuits[number] = f64::from(link.count);
            into[link.dst as usize].push((link.src, number));
            out[link.src as usize].push(link.dst);
        }
        // By level and link, the blocks on it.
        let mut carried: Vec<Vec<u32>> = Vec::new();
        let mut search = BreadthFirst::new(ranks);
        let mut trees = Vec::new();
        for origin in symmetry.representatives() {
            interruption::check();
            let distances = search.search(origin, |at| out[at as usize].iter().copied()).to_vec();
            if search.reached().len() < ranks {
                return None;
            }
            let (distances, into) = (&distances, &into);
            let ways = |rank: Rank| {
                let before = distances[rank as usize] - 1;
                into[rank as usize].iter().filter(move |&&(from, _)| distances[from as usize] == before)
            };
            let others = search.reached().iter().filter(|&&rank| rank != origin);
            // Ranks with the fewest ways first.
            let mut reached: Vec<(u32, usize, Rank)> =
                others.map(|&rank| (distances[rank as usize], ways(rank).count(), rank)).collect();
            reached.sort_unstable();
            let mut levels: Vec<Vec<Reached>> = Vec::new();
            for (hops, _, rank) in reached {
                let level = hops as usize;
                levels.resize_with(levels.len().max(level), Vec::new);
                carried.resize_with(carried.len().max(level), || vec![0; circuits.len()]);
                let carried = &mut carried[level - 1];
                let load = |number: usize| f64::from(carried[number] + 1) / circuits[number];
                let &(before, number) = ways(rank).min_by(|a, b| load(a.1).total_cmp(&load(b.1)))?;
                carried[number] += 1;
                levels[level - 1].push((rank, before));
            }
            trees.push((origin, levels));
        }
        Some(Self::new(symmetry, trees))
    }

    /// By what the steps of [`OutwardTrees::sent`] are invariant.
    pub(crate) fn symmetry(&self) -> &Translations {
        &self.symmetry
    }

    /// Hops to the farthest rank from any.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Blocks on the busiest circuit of a step that goes on from this many hops, by its hops less one up to `longest`,
    /// when every block follows its tree over `links`; `None` where links and hops are too many. O(orbits · ranks ·
    /// longest + links · depth · longest²).
    pub(crate) fn loads(&self, links: &[Link], longest: u32) -> Option<Vec<Vec<f64>>> {
        let (depth, longest) = (self.depth as usize, longest as usize);
        let mut number_of = LinkNumbers::new(&self.symmetry);
        let mut circuits = Vec::new();
        for link in links {
            let number = number_of.link(&self.symmetry, link.src, link.dst);
            circuits.resize(circuits.len().max(number + 1), 0.0);
            circuits[number] = f64::from(link.count);
        }
        let orbits = circuits.len();
        if depth * longest * orbits > MOST_COUNTS {
            return None;
        }
        // By level of a link, levels from there to a rank behind it, and link: how many such ranks there are.
        let mut behind = vec![0u32; depth * longest * orbits];
        let mut before: Vec<(Rank, usize)> = vec![(0, 0); self.symmetry.ranks() as usize];
        for tree in &self.trees {
            for (level, reached) in tree.levels.iter().enumerate() {
                for &(rank, from) in reached {
                    before[rank as usize] = (from, number_of.link(&self.symmetry, from, rank));
                    let mut at = rank;
                    for back in 0..longest.min(level + 1) {
                        let (from, number) = before[at as usize];
                        behind[((level - back) * longest + back) * orbits + number] += 1;
                        at = from;
                    }
                }
            }
        }
        let from_level = |first: usize| {
            let mut blocks = vec![0u32; orbits];
            let with_level = |level: usize| {
                for of in first..=level {
                    let added = &behind[(of * longest + level - of) * orbits..][..orbits];
                    blocks.iter_mut().zip(added).for_each(|(blocks, added)| *blocks += added);
                }
                blocks.iter().zip(&circuits).map(|(blocks, circuits)| f64::from(*blocks) / circuits).fold(0.0, f64::max)
            };
            (first..depth.min(first + longest)).map(with_level).collect()
        };
        Some((0..depth).map(from_level).collect())
    }

    /// The tree of every rank.
    pub(crate) fn without_symmetry(&self) -> Self {
        let mut trees = Vec::new();
        for element in self.symmetry.elements() {
            interruption::check();
            let moved = |rank: Rank| self.symmetry.apply(element, rank);
            trees.extend(self.trees.iter().map(|tree| {
                let level = |level: &Vec<Reached>| level.iter().map(|&(to, from)| (moved(to), moved(from))).collect();
                (moved(tree.origin), tree.levels.iter().map(level).collect())
            }));
        }
        Self::new(Translations::trivial(self.symmetry.ranks()), trees)
    }

    /// The transfers in steps of this many hops, which add up to the depth: in each, a block goes straight to all whom
    /// it reaches within its hops from where it was before. One of each orbit of transfers, by their ends. `owner`: a
    /// rank that has every block at the start, where there is no symmetry. O(orbits · ranks · log ranks).
    pub(crate) fn sent(&self, hops: impl IntoIterator<Item = u32>, owner: Option<Rank>) -> Vec<Sent> {
        let mut first = 0;
        let mut steps = Vec::new();
        // By tree and rank: where its block is at the start of the step from which it is reached.
        let mut from: Vec<Vec<Rank>> = vec![vec![0; self.symmetry.ranks() as usize]; self.trees.len()];
        for hops in hops {
            let mut records: Vec<u64> = Vec::new();
            for (tree, from) in self.trees.iter().zip(&mut from) {
                interruption::check();
                let levels = tree.levels.iter().enumerate().skip(first).take(hops as usize);
                for (level, &(rank, before)) in levels.flat_map(|(at, level)| level.iter().map(move |one| (at, one))) {
                    if owner == Some(rank) {
                        continue;
                    }
                    let is_there = level == first || owner == Some(before);
                    let source = if is_there { before } else { from[before as usize] };
                    from[rank as usize] = source;
                    let (representative, element) = self.symmetry.canonical(source);
                    let back = self.symmetry.inverse(element);
                    let moved = |rank: Rank| self.symmetry.apply(back, rank);
                    records.push(packed(representative, moved(rank), moved(tree.origin)));
                }
            }
            first += hops as usize;
            records.sort_unstable();
            let of_ends = records.chunk_by(|a, b| a >> BITS == b >> BITS);
            steps.push(of_ends.map(|same| (ends(same[0]), same.iter().map(|one| part(*one, 0)).collect())).collect());
        }
        steps
    }
}

/// Bits of a rank in a record of sender, receiver and origin: one number, which sorts fast.
const BITS: u32 = 21;

fn packed(src: Rank, dst: Rank, origin: Rank) -> u64 {
    debug_assert!((src | dst | origin) >> BITS == 0);
    (u64::from(src) << (2 * BITS)) | (u64::from(dst) << BITS) | u64::from(origin)
}

fn part(record: u64, place: u32) -> Rank {
    (record >> (place * BITS)) as Rank & ((1 << BITS) - 1)
}

fn ends(record: u64) -> (Rank, Rank) {
    (part(record, 2), part(record, 1))
}

/// Numbers of links, the same for all translates of one.
struct LinkNumbers {
    /// By the representative of its tail, heads and numbers.
    numbers: Vec<Vec<(Rank, usize)>>,
    count: usize,
}

impl LinkNumbers {
    fn new(symmetry: &Translations) -> Self {
        Self { numbers: vec![Vec::new(); symmetry.orbits() as usize], count: 0 }
    }

    fn link(&mut self, symmetry: &Translations, src: Rank, dst: Rank) -> usize {
        let (_, element) = symmetry.canonical(src);
        let head = symmetry.apply(symmetry.inverse(element), dst);
        let known = &mut self.numbers[symmetry.orbit(src) as usize];
        if let Some(&(_, number)) = known.iter().find(|(to, _)| *to == head) {
            return number;
        }
        self.count += 1;
        known.push((head, self.count - 1));
        self.count - 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use model::Shape;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Run on sets of blocks, with any steps: no rank sends blocks that it lacks, and every rank gets every block
        /// once, or no block where it has them.
        #[test]
        fn every_rank_gets_every_block_once(
            (spec, dims, ports) in proptest::sample::select(vec![
                ("kautz", vec![30], 2), ("torus:4x6", vec![4, 6], 4), ("grid:3x5", vec![3, 5], 4), ("ring", vec![9], 1),
            ]),
            hops in proptest::collection::vec(1u32..4, 12),
            owner in proptest::option::of(0u32..9),
            turned in any::<bool>(),
        ) {
            let gpus: u32 = dims.iter().product();
            let shape = Shape::new(gpus, if dims.len() > 1 { &dims } else { &[] }, ports).unwrap();
            let topology = topologies::build(spec, &shape).unwrap();
            let turn = |link: &Link| if turned { Link { src: link.dst, dst: link.src, ..*link } } else { *link };
            let links: Vec<Link> = topology.expanded().iter().map(turn).collect();
            let trees = OutwardTrees::over(&topology, &links).unwrap();
            let trees = if owner.is_some() { trees.without_symmetry() } else { trees };
            let mut rest = trees.depth();
            let groups = hops.iter().chain(std::iter::repeat(&1)).map_while(|&hops| {
                let now = hops.min(rest);
                rest -= now;
                (now > 0).then_some(now)
            });
            let groups: Vec<u32> = groups.collect();
            let mut has: Vec<BTreeSet<Rank>> = (0..gpus).map(|rank| {
                if owner == Some(rank) { (0..gpus).collect() } else { BTreeSet::from([rank]) }
            }).collect();
            for sent in trees.sent(groups, owner) {
                let before = has.clone();
                for element in trees.symmetry().elements() {
                    let moved = |rank: Rank| trees.symmetry().apply(element, rank);
                    for ((src, dst), origins) in &sent {
                        for origin in origins {
                            prop_assert!(before[moved(*src) as usize].contains(&moved(*origin)));
                            prop_assert!(has[moved(*dst) as usize].insert(moved(*origin)));
                        }
                    }
                }
            }
            prop_assert!(has.iter().all(|blocks| blocks.len() == gpus as usize));
        }
    }

    /// In steps of one hop only links are used, and as many as there are blocks to bring.
    #[test]
    fn single_hops_are_over_links_evenly() {
        let shape = Shape::new(60, &[], 3).unwrap();
        let topology = topologies::build("kautz", &shape).unwrap();
        let links = topology.expanded();
        let trees = OutwardTrees::over(&topology, &links).unwrap();
        let mut loads: BTreeMap<(Rank, Rank), usize> = BTreeMap::new();
        let every = trees.without_symmetry();
        for sent in every.sent((0..trees.depth()).map(|_| 1), None) {
            for (ends, origins) in sent {
                assert!(links.iter().any(|link| (link.src, link.dst) == ends));
                *loads.entry(ends).or_default() += origins.len();
            }
        }
        assert_eq!(loads.values().sum::<usize>(), 60 * 59);
        // Each of the three circuits into a rank brings less than half of the 59 blocks; the first way to be found
        // would have up to 31.
        assert!(loads.values().all(|&load| 2 * load < 59), "{:?}", loads.values().max());
    }
}
