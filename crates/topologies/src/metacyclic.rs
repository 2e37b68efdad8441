//! Cayley digraphs of semidirect products of two cyclic groups: as alike from every rank as circulants, and of smaller
//! diameter.
//!
//! Ranks are pairs (x, i) of Z_m × Z_k with (x, i)·(y, j) = (x + rⁱ·y, i + j), where r^k = 1 mod m; the circuits out of
//! u lead to u·g for each generator g. Generators that commute, as those of circulants do, reach the same rank in
//! several ways, others rarely: 64 ranks with two ports are 7 hops wide, on circulants 13.

use std::collections::BTreeMap;

use model::{BreadthFirst, Digit, Link, Result, Topology, Translations, UNREACHABLE};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cutoffs::metacyclic::{LEAST_DRAWN, MOST_DRAWN, MOST_LINKS, MOST_OF_GROUP, MOST_WRITTEN, WORTH_MORE};
pub use crate::cutoffs::metacyclic::{MOST_SEARCHED, MOST_WHEELS};

/// Z_m ⋊ Z_k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    m: u32,
    k: u32,
    /// Element i of Z_k multiplies Z_m by the i-th power of this.
    ratio: u32,
}

impl Group {
    /// Products of that order with a ratio other than 1, one for each ratio.
    fn of_order(order: u32) -> Vec<Self> {
        let mut groups = Vec::new();
        for m in (3..order).filter(|m| order.is_multiple_of(*m)) {
            let k = order / m;
            groups.extend((2..m).map(|ratio| Self { m, k, ratio }).filter(|group| group.power(k) == 1));
        }
        groups
    }

    /// ratio^i mod m.
    fn power(&self, i: u32) -> u32 {
        (0..i).fold(1, |power, _| (u64::from(power) * u64::from(self.ratio) % u64::from(self.m)) as u32)
    }

    /// Every element times each generator, `[generator][element]`; the element (x, i) is x + m·i.
    fn steps(&self, generators: &[u32]) -> Vec<Vec<u32>> {
        let powers: Vec<u32> = (0..self.k).map(|i| self.power(i)).collect();
        let times = |u: u32, g: u32| self.product(powers[(u / self.m) as usize], u, g);
        generators.iter().map(|&g| (0..self.m * self.k).map(|u| times(u, g)).collect()).collect()
    }

    /// u·g, where the element of Z_k that u has multiplies by `power`.
    fn product(&self, power: u32, u: u32, g: u32) -> u32 {
        let moved = u64::from(power) * u64::from(g % self.m) + u64::from(u % self.m);
        (moved % u64::from(self.m)) as u32 + (u / self.m + g / self.m) % self.k * self.m
    }

    /// Moving all x.
    fn wheel(&self) -> Result<Translations> {
        Translations::new(self.m * self.k, vec![Digit { stride: 1, radix: self.m }])
    }

    /// (diameter, Σ distance) from the identity; `None` where some element is not reached.
    fn width(&self, generators: &[u32]) -> Option<(u32, u32)> {
        let steps = self.steps(generators);
        let order = (self.m * self.k) as usize;
        let mut search = BreadthFirst::new(order);
        let distances = search.search(0, |at| steps.iter().map(move |step| step[at as usize]));
        let far = distances.iter().copied().max()?;
        (far != UNREACHABLE).then(|| (far, distances.iter().sum()))
    }
}

/// A Cayley digraph.
#[derive(Debug, Clone)]
pub struct Metacyclic {
    /// The circuits.
    pub topology: Topology,
    group: Group,
    generators: Vec<u32>,
}

impl Metacyclic {
    /// m, and where each circuit leads from every rank; moving all x of ranks x + m·i is a symmetry.
    pub fn steps(&self) -> (u32, Vec<Vec<u32>>) {
        (self.group.m, self.group.steps(&self.generators))
    }

    /// Number of ranks.
    pub fn order(&self) -> u32 {
        self.group.m * self.group.k
    }

    /// The rank that is as far from `rank` as `element` is from rank 0: their product.
    pub fn product(&self, rank: u32, element: u32) -> u32 {
        self.group.product(self.group.power(rank / self.group.m), rank, element)
    }

    /// Moving all x of ranks x + m·i, which is a symmetry.
    ///
    /// # Errors
    /// No error for a group of this module.
    pub fn wheel(&self) -> Result<Translations> {
        self.group.wheel()
    }
}

/// Meaning of the names of this module's topologies.
pub const NAME: (&str, &str) = (
    "metacyclic:MxK,R:(A,B)(C,D)",
    "GPU x + M·y is (x, y), y in 0…K - 1: circuits to (x, y)·(A, B) and (x, y)·(C, D) in the group of M·K elements in which \
     (0, 1) turns 1 into R",
);

/// The Cayley digraph of smallest diameter, then of least mean distance, with `ports` generators: the first is (0, 1)
/// or (1, 0), the others are added one by one. `None` where there is no such group, where all ranks can be a hop away,
/// or for more than 256 ranks with more than 16 ports. Up to 256 ranks O(groups · min(ports² · ranks²,
/// [`MOST_OF_GROUP`])); for more, some groups and generators are tried.
///
/// # Errors
/// No error for circuits that lead to other ranks.
pub fn best(ranks: u32, ports: u32) -> Result<Option<Metacyclic>> {
    best_of_wheels(ranks, ports, MOST_WHEELS)
}

/// Whether there is a group for that many ranks, where these are more than [`MOST_SEARCHED`], of at most this many
/// elements of Z_k, and a digraph of it with so many ports. O(ranks · divisors).
pub fn exists(ranks: u32, ports: u32, most_wheels: u32) -> bool {
    let takes_part = ports >= 2 && ports + 1 < ranks && ports <= MOST_DRAWN;
    takes_part && Group::of_order(ranks).iter().any(|group| group.k <= most_wheels)
}

/// [`best`], where ranks are more than 256 among groups of at most this many elements of Z_k: orbits of ranks.
///
/// # Errors
/// No error for circuits that lead to other ranks.
pub fn best_of_wheels(ranks: u32, ports: u32, most_wheels: u32) -> Result<Option<Metacyclic>> {
    let is_searched = ranks <= MOST_SEARCHED;
    if ports < 2 || ports + 1 >= ranks || (!is_searched && ports > MOST_DRAWN) {
        return Ok(None);
    }
    let found = if is_searched { searched(ranks, ports) } else { sampled(ranks, ports, most_wheels) };
    let Some((group, generators)) = found else { return Ok(None) };
    // Translations by digits do not hold these groups, but moving all x, and the translations that are found in
    // addition, shortens flows.
    let wheel = if is_searched { Translations::trivial(ranks) } else { group.wheel()? };
    let mut links: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let steps = group.steps(&generators);
    for src in wheel.representatives() {
        for step in &steps {
            *links.entry((src, step[src as usize])).or_insert(0) += 1;
        }
    }
    let shown = |g: &u32| format!("({},{})", g % group.m, g / group.m);
    let name = format!(
        "metacyclic:{}x{},{}:{}",
        group.m,
        group.k,
        group.ratio,
        generators.iter().map(shown).collect::<Vec<_>>().join("")
    );
    let links = links.into_iter().map(|((src, dst), count)| Link { src, dst, count });
    let topology = Topology::new(name, wheel, links)?;
    let topology = if is_searched { topology.with_found_symmetry() } else { topology };
    Ok(Some(Metacyclic { topology, group, generators }))
}

fn searched(ranks: u32, ports: u32) -> Option<(Group, Vec<u32>)> {
    let mut best: Option<((u32, u32), Group, Vec<u32>)> = None;
    let groups = Group::of_order(ranks);
    let most = (MOST_OF_GROUP / (ports * ports * ranks)).max(LEAST_DRAWN) as usize;
    let mut random = ChaCha8Rng::seed_from_u64(u64::from(ranks));
    // (0, 1) or (1, 0) first: by itself it reaches few ranks, but the ranks that it reaches with the others count.
    for (group, first) in groups.iter().flat_map(|group| [(group, group.m), (group, 1)]) {
        let mut generators = vec![first];
        let mut width = None;
        for _ in 1..ports {
            let mut others: Vec<u32> = (1..ranks).collect();
            if others.len() > most {
                others.retain(|other| !generators.contains(other));
                others = others.sample(&mut random, most).copied().collect();
            }
            let candidates = others.into_iter().map(|added| [&generators[..], &[added]].concat());
            let measured = candidates.map(|set| (group.width(&set).unwrap_or((u32::MAX, u32::MAX)), set));
            let Some((least, set)) = measured.min() else { break };
            (width, generators) = (Some(least), set);
        }
        let Some(width) = width.filter(|(diameter, _)| *diameter < u32::MAX) else { continue };
        if best.as_ref().is_none_or(|(least, _, _)| width < *least) {
            best = Some((width, *group, generators));
        }
    }
    best.map(|(_, group, generators)| (group, generators))
}

/// Some of the pairs (0, 1) and (1, j), j in Z_k: (x, j) with another x that generates Z_m makes the same digraph. The
/// best are given further generators, each the best of some that are drawn. O([`MOST_LINKS`]).
fn sampled(ranks: u32, ports: u32, most_wheels: u32) -> Option<(Group, Vec<u32>)> {
    let groups = Group::of_order(ranks).into_iter();
    let groups: Vec<Group> = groups.filter(|group| group.k <= most_wheels.min(MOST_WRITTEN / ranks)).collect();
    let pairs: Vec<(Group, u32)> = groups.iter().flat_map(|group| (0..group.k).map(move |j| (*group, j))).collect();
    let searches = MOST_LINKS / u64::from(ranks * ports);
    let stride = (pairs.len() as u64).div_ceil((searches / 2).max(1)) as usize;
    let some = pairs.into_iter().step_by(stride.max(1)).filter_map(|(group, j)| {
        let generators = vec![group.m, 1 + group.m * j];
        Some((group.width(&generators)?, group, generators))
    });
    let mut best: Vec<((u32, u32), Group, Vec<u32>)> = some.collect();
    best.sort_by_key(|(width, group, _)| (*width, group.m));
    best.truncate(WORTH_MORE);
    let mut random = ChaCha8Rng::seed_from_u64(u64::from(ranks));
    let draws = searches / 2 / (u64::from(ports) * best.len() as u64).max(1);
    for (width, group, generators) in &mut best {
        for _ in 2..ports {
            let drawn = (0..draws.max(1)).map(|_| [&generators[..], &[random.random_range(1..ranks)]].concat());
            let measured = drawn.filter_map(|generators| Some((group.width(&generators)?, generators)));
            if let Some(least) = measured.min() {
                (*width, *generators) = least;
            }
        }
    }
    best.into_iter().min_by_key(|(width, group, _)| (*width, group.m)).map(|(_, group, generators)| (group, generators))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diameter(found: &Metacyclic) -> u32 {
        found.group.width(&found.generators).unwrap().0
    }

    #[test]
    fn products_are_groups_and_digraphs_are_regular() {
        for order in [12, 16, 20, 21, 24, 64] {
            for group in Group::of_order(order) {
                let all: Vec<u32> = (0..order).collect();
                let table = group.steps(&all);
                for (g, column) in table.iter().enumerate() {
                    // Multiplying by g is a permutation without a fixed element, but for the identity.
                    let mut sorted = column.clone();
                    sorted.sort_unstable();
                    assert_eq!(sorted, all);
                    assert!(g == 0 || column.iter().zip(0..).all(|(to, from)| *to != from), "{group:?}");
                    for h in 0..order as usize {
                        // (1·g)·h = 1·(g·h)
                        assert_eq!(table[h][column[0] as usize], table[table[h][g] as usize][0], "{group:?}");
                    }
                }
            }
            for ports in [2, 3, 4] {
                if let Some(found) = best(order, ports).unwrap() {
                    found.topology.check_ports(ports).unwrap();
                    assert_eq!(found.topology.circuits(), u64::from(order * ports));
                }
            }
        }
    }

    /// Where there are too many generators to look at all of them, a sample without repetitions is drawn.
    #[test]
    #[ignore = "large: make test-large"]
    fn many_ports_have_generators_of_their_own() {
        let found = best(100, 60).unwrap().unwrap();
        assert_eq!(found.topology.circuits(), 6000);
        assert!(found.topology.expanded().iter().all(|link| link.count == 1));
        found.topology.check_ports(60).unwrap();
        assert!(best(100, 99).unwrap().is_none());
    }

    /// Among more ranks some groups are searched, and those that are found are as narrow as de Bruijn graphs but for
    /// some hops.
    #[test]
    #[ignore = "large: make test-large"]
    fn digraphs_of_many_ranks_are_narrow_and_written_by_their_wheel() {
        for (ranks, ports, most) in [(500, 2, 13), (1024, 2, 15), (1023, 3, 10), (4096, 4, 8), (10_000, 2, 21)] {
            let found = best(ranks, ports).unwrap().unwrap();
            found.topology.check_ports(ports).unwrap();
            assert_eq!(found.topology.circuits(), u64::from(ranks * ports));
            assert_eq!(found.topology.symmetry().order(), found.group.m);
            assert!(exists(ranks, ports, found.group.k));
            let diameter = diameter(&found);
            assert!(diameter <= most, "{ranks} {ports} {diameter}");
        }
        // With fewer orbits, which take less to execute, digraphs are a little wider.
        let narrowest = diameter(&best(4096, 3).unwrap().unwrap());
        for most in [8, 16, 32] {
            let found = best_of_wheels(4096, 3, most).unwrap().unwrap();
            assert!(found.group.k <= most && diameter(&found) <= narrowest + 3, "{most}");
        }
        for ranks in [257, 521, 65_521] {
            assert!(!exists(ranks, 2, MOST_WHEELS));
            assert!(best(ranks, 2).unwrap().is_none(), "a prime number of ranks has no such group");
        }
    }
}
