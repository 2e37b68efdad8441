//! One-port All-to-Alls on T shifted rings: which T shifts of Z_n need the fewest hops in all.
//!
//! On the ring shifted by g every rank has one circuit, to the rank g further, and the block for offset
//! h·g takes h hops. An offset is served where it takes fewest, so a set costs Σ over offsets of the least h,
//! and no set costs less than T·q(q+1)/2 + u(q+1), q = ⌊(n−1)/T⌋, u = (n−1) mod T (theorem 1 of "To
//! reconfigure or not to reconfigure"): every generator serves its first q multiples, and u of them one more.
//! Sets that split Z_n∖0 into {g, 2g, …, qg} attain it, others come near.
//!
//! Multiplying all generators by a unit of Z_n renames the ranks, and offset 1 is served only by units, so generator 1
//! may be in every set. Sets that are unions of orbits under a group H of units are searched first: they and what they
//! cost are known by orbit, so the search is as that of n/|H| offsets, and many splittings are of this kind (Stein and
//! Szabó, "Algebra and Tiling", 1994). Then sets of single generators, each T from the best set of T−1 and of T+1.

use crate::cutoffs::generator_sets::{FEWEST_SWAPS, LARGEST_GROUP, MOST_COMPARED, MOST_SWAPS};
use interruption::Interruptible;
use model::{Error, Result};
use rayon::prelude::*;

/// More ranks than this are refused: the search keeps hops by (generator, offset).
const MAX_RANKS: u32 = 1024;
/// Swaps tried for a set, times its orbits: sets of many come near theorem 1 at once.
const SWAPS: usize = 1500;
/// Numbers of topologies below and above the one that is asked for whose sets are searched too.
const NEAR: u32 = 1;
/// The hops of an offset on a generator that does not reach it.
const UNREACHABLE: u16 = u16::MAX;

/// Generators of T shifted rings, ascending from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratorSet {
    ranks: u32,
    generators: Vec<u32>,
    hops: u64,
}

impl GeneratorSet {
    fn new(ranks: u32, mut generators: Vec<u32>) -> Self {
        generators.sort_unstable();
        let mut set = Self { ranks, generators, hops: 0 };
        set.hops = set.assignment().iter().map(|&(_, hops)| u64::from(hops)).sum();
        set
    }

    /// The generators, each once.
    pub fn generators(&self) -> &[u32] {
        &self.generators
    }

    /// Σ over offsets of the hops of each in the step that serves it.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// For each offset 1 … n−1, at index offset − 1: the index of the generator that serves it, the first among equally
    /// near ones, and the hops that it takes there. O(generators · most hops).
    pub fn assignment(&self) -> Vec<(usize, u32)> {
        let mut served = vec![(0, 0); self.ranks as usize];
        let mut reached = vec![0; self.generators.len()];
        let mut left = self.ranks - 1;
        for hops in 1..self.ranks {
            for (index, (generator, at)) in self.generators.iter().zip(&mut reached).enumerate() {
                *at = (*at + generator) % self.ranks;
                if *at != 0 && served[*at as usize].1 == 0 {
                    served[*at as usize] = (index, hops);
                    left -= 1;
                }
            }
            if left == 0 {
                break;
            }
        }
        served.split_off(1)
    }
}

/// A set for each number of topologies T = 1 … n−1, at index T−1, 2 ≤ n ≤ 1024.
///
/// Every set up to 64 ranks costs at most 1.3202 times theorem 1, which no set of five generators goes below for
/// n = 62, and every set up to 512 ranks at most 1.5 times (`examples/generator_ratios.rs`). Deterministic.
/// O(groups · swaps · (n/|H|)²) for each T, in parallel over groups; memory n² of 16 bits for each thread.
///
/// # Errors
/// Ranks out of range.
pub fn generator_sets(ranks: u32) -> Result<Vec<GeneratorSet>> {
    search(ranks, 1, ranks.saturating_sub(1))
}

/// A set for one number of topologies, 1 ≤ T < n ≤ 1024: as in [`generator_sets`], but swaps are tried only for numbers
/// of topologies near it, which takes a small part of the time and may miss a better set.
///
/// # Errors
/// Ranks or topologies out of range.
pub fn generator_set(ranks: u32, topologies: u32) -> Result<GeneratorSet> {
    if topologies == 0 || topologies >= ranks {
        return Err(Error::value(
            "topologies",
            topologies,
            format!("1 to {} for {ranks} ranks", ranks.saturating_sub(1)),
        ));
    }
    let near = (topologies.saturating_sub(NEAR), (topologies + NEAR).min(ranks - 1));
    let mut sets = search(ranks, near.0, near.1)?;
    Ok(sets.swap_remove(topologies as usize - 1))
}

/// The best set known of each number of topologies.
struct Best {
    ranks: u32,
    /// Hops and generators, at index T−1.
    sets: Vec<Option<(u64, Vec<u32>)>>,
}

impl Best {
    fn generators(&self, topologies: usize) -> &[u32] {
        self.sets[topologies - 1].as_ref().map_or(&[], |(_, generators)| generators)
    }

    fn keep(&mut self, hops: u64, generators: Vec<u32>) {
        if let Some(best) = self.sets.get_mut(generators.len() - 1)
            && best.as_ref().is_none_or(|&(least, _)| hops < least)
        {
            *best = Some((hops, generators));
        }
    }

    fn is_proven(&self, topologies: usize) -> bool {
        self.sets[topologies - 1].as_ref().is_some_and(|&(hops, _)| hops == theorem_1(self.ranks, topologies))
    }
}

/// The least number of hops that a set of this many generators can have.
fn theorem_1(ranks: u32, topologies: usize) -> u64 {
    let (offsets, topologies) = (u64::from(ranks) - 1, topologies as u64);
    let (served, more) = (offsets / topologies, offsets % topologies);
    topologies * served * (served + 1) / 2 + more * (served + 1)
}

/// Sets for 1 … `most` topologies, those of fewer than `least` grown without swaps.
fn search(ranks: u32, least: u32, most: u32) -> Result<Vec<GeneratorSet>> {
    if !(2..=MAX_RANKS).contains(&ranks) {
        return Err(Error::value("ranks", ranks, format!("2 to {MAX_RANKS}")));
    }
    let (least, most) = (least as usize, most as usize);
    let mut best = Best { ranks, sets: vec![None; most] };
    let groups = groups_of_units(ranks, most.min(LARGEST_GROUP));
    let found: Vec<_> =
        groups.par_iter().interruptible().map(|group| unions_of_orbits(ranks, group, least, most)).collect();
    for (hops, generators) in found.into_iter().flatten() {
        best.keep(hops, generators);
    }
    let singles = Orbits::new(ranks, &[1]);
    let indices = |generators: &[u32]| generators.iter().map(|&generator| generator as usize - 1).collect::<Vec<_>>();
    let improve = |best: &mut Best, start: Vec<usize>| {
        let (hops, set) = singles.swapped(start);
        best.keep(hops, set.iter().map(|&index| index as u32 + 1).collect());
    };
    for topologies in least.max(2)..=most {
        if !best.is_proven(topologies) {
            let mut set = indices(best.generators(topologies - 1));
            set.extend(singles.best_addition(&set, 1));
            improve(&mut best, set);
        }
    }
    for topologies in (least.max(2)..most).rev() {
        if !best.is_proven(topologies) {
            let mut set = indices(best.generators(topologies + 1));
            let (first, second) = singles.nearest_two(&set);
            if let Some(position) = singles.cheapest_removal(&set, &first, &second, |_| true) {
                set.remove(position);
                improve(&mut best, set);
            }
        }
    }
    Ok(best.sets.into_iter().flatten().map(|(_, generators)| GeneratorSet::new(ranks, generators)).collect())
}

/// Unions of orbits under `group` of up to `most` generators, grown one orbit at a time, and their hops.
fn unions_of_orbits(ranks: u32, group: &[u32], least: usize, most: usize) -> Vec<(u64, Vec<u32>)> {
    let orbits = Orbits::new(ranks, group);
    let (mut set, mut found) = (vec![0], Vec::new());
    loop {
        interruption::check();
        let topologies: usize = set.iter().map(|&orbit| orbits.members[orbit].len()).sum();
        let (hops, better) = if topologies < least { (orbits.hops_of(&set), set) } else { orbits.swapped(set) };
        set = better;
        found.push((hops, set.iter().flat_map(|&orbit| orbits.members[orbit].iter().copied()).collect()));
        match orbits.best_addition(&set, most - topologies) {
            Some(orbit) => set.push(orbit),
            None => return found,
        }
    }
}

/// Generators and offsets by orbit under a group of units.
struct Orbits {
    ranks: u32,
    /// Members of each orbit; the orbit of 1 is the first.
    members: Vec<Vec<u32>>,
    /// `[orbit of generators][orbit of offsets]`: hops to all offsets of the orbit from the nearest generator of
    /// the other.
    hops: Vec<Vec<u16>>,
}

impl Orbits {
    fn new(ranks: u32, group: &[u32]) -> Self {
        let mut orbit_of = vec![usize::MAX; ranks as usize];
        let mut members: Vec<Vec<u32>> = Vec::new();
        for offset in 1..ranks {
            if orbit_of[offset as usize] == usize::MAX {
                let mut orbit: Vec<u32> = group.iter().map(|unit| offset * unit % ranks).collect();
                orbit.sort_unstable();
                orbit.dedup();
                orbit.iter().for_each(|&member| orbit_of[member as usize] = members.len());
                members.push(orbit);
            }
        }
        let row = |orbit: &Vec<u32>| {
            let mut row = vec![UNREACHABLE; members.len()];
            let (generator, mut at) = (orbit[0], 0);
            for hops in 1..ranks {
                at = (at + generator) % ranks;
                if at == 0 {
                    break;
                }
                let of = orbit_of[at as usize];
                row[of] = row[of].min((hops as usize * members[of].len()).min(usize::from(UNREACHABLE)) as u16);
            }
            row
        };
        let hops = members.iter().map(row).collect();
        Self { ranks, members, hops }
    }

    /// For each orbit of offsets, the hops from the nearest orbit of the set, and from the second.
    fn nearest_two(&self, set: &[usize]) -> (Vec<u16>, Vec<u16>) {
        let (mut first, mut second) = (vec![UNREACHABLE; self.hops.len()], vec![UNREACHABLE; self.hops.len()]);
        for &orbit in set {
            for ((first, second), &hops) in first.iter_mut().zip(&mut second).zip(&self.hops[orbit]) {
                *second = (*second).min(hops.max(*first));
                *first = hops.min(*first);
            }
        }
        (first, second)
    }

    fn hops_of(&self, set: &[usize]) -> u64 {
        sum(&self.nearest_two(set).0)
    }

    /// Position in the set of the orbit whose removal costs least; never that of 1.
    fn cheapest_removal(
        &self,
        set: &[usize],
        first: &[u16],
        second: &[u16],
        allowed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let loss = |orbit: usize| -> u32 {
            let both = first.iter().zip(second).zip(&self.hops[orbit]);
            both.map(|((first, second), hops)| if hops == first { u32::from(second - first) } else { 0 }).sum()
        };
        let removable = set.iter().enumerate().filter(|&(_, &orbit)| orbit != 0 && allowed(orbit));
        removable.map(|(position, &orbit)| (loss(orbit), position)).min().map(|(_, position)| position)
    }

    /// Hops in all when `orbit` joins a set of these least hops.
    fn with(&self, least: &[u16], orbit: usize) -> u64 {
        least.iter().zip(&self.hops[orbit]).map(|(least, hops)| u64::from(*least.min(hops))).sum()
    }

    /// The orbit that lowers hops most per generator, of those of at most `room`.
    fn best_addition(&self, set: &[usize], room: usize) -> Option<usize> {
        let (least, _) = self.nearest_two(set);
        let before = sum(&least);
        let mut best: Option<(u64, u64, usize)> = None;
        for orbit in (0..self.members.len()).filter(|&orbit| self.members[orbit].len() <= room && !set.contains(&orbit))
        {
            let (saved, size) = (before - self.with(&least, orbit), self.members[orbit].len() as u64);
            if best.is_none_or(|(most, of, _)| saved * of > most * size) {
                best = Some((saved, size, orbit));
            }
        }
        best.map(|(_, _, orbit)| orbit)
    }

    /// The best set met on the way when orbits are swapped for others of their size: the one whose removal
    /// costs least for the one whose addition saves most, none of them moved again for some swaps (Glover,
    /// "Tabu Search", 1989).
    fn swapped(&self, mut set: Vec<usize>) -> (u64, Vec<usize>) {
        let (mut least, mut second) = self.nearest_two(&set);
        let mut best = (sum(&least), set.clone());
        let fewest = theorem_1(self.ranks, set.iter().map(|&orbit| self.members[orbit].len()).sum());
        let mut free_from = vec![0; self.members.len()];
        let most = MOST_SWAPS.max(MOST_COMPARED / (self.members.len() * (self.members.len() + set.len())));
        let swaps = (SWAPS / set.len()).min(most).max(FEWEST_SWAPS);
        for swap in 1..=swaps {
            interruption::check();
            if best.0 == fewest {
                break;
            }
            let Some(position) = self.cheapest_removal(&set, &least, &second, |orbit| free_from[orbit] <= swap) else {
                break;
            };
            let removed = set.swap_remove(position);
            (least, _) = self.nearest_two(&set);
            let other = |&orbit: &usize| {
                orbit != removed
                    && free_from[orbit] <= swap
                    && self.members[orbit].len() == self.members[removed].len()
                    && !set.contains(&orbit)
            };
            let added = (0..self.members.len()).filter(other).map(|orbit| (self.with(&least, orbit), orbit)).min();
            let Some((hops, added)) = added else { break };
            set.push(added);
            (least, second) = self.nearest_two(&set);
            free_from[removed] = swap + 3 + swap % 4;
            free_from[added] = swap + 2 + swap % (1 + set.len() / 2).min(8);
            if hops < best.0 {
                best = (hops, set.clone());
            }
        }
        best
    }
}

/// The cyclic groups of units, also with −1, of at most `largest` elements; by order, each once.
fn groups_of_units(ranks: u32, largest: usize) -> Vec<Vec<u32>> {
    let mut groups = Vec::new();
    for unit in (1..ranks).filter(|&unit| gcd(unit, ranks) == 1) {
        let mut powers = Vec::new();
        let mut power = 1;
        while powers.len() <= largest {
            powers.push(power);
            power = power * unit % ranks;
            if power == 1 % ranks {
                break;
            }
        }
        let negatives = powers.iter().map(|power| ranks - power);
        for mut group in [powers.clone(), powers.iter().copied().chain(negatives).collect()] {
            group.sort_unstable();
            group.dedup();
            if group.len() <= largest {
                groups.push(group);
            }
        }
    }
    groups.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    groups.dedup();
    groups
}

fn sum(hops: &[u16]) -> u64 {
    hops.iter().map(|&hops| u64::from(hops)).sum()
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
