//! One port: the n-cycle and its shifts (§4.2, §4.3).
//!
//! The g-shift joins every rank to the one g further; its round of h hops serves all flows of distance
//! h·g at once and uses every circuit in every slot. Each distance is served where it has the fewest hops,
//! so a strategy of given shifts costs Σ over distances of the least h.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::{Link, Result, Topology, Translations};

use crate::{Round, Stage, Strategy};

/// The factor of hops that a shift must save to be preferred over one that is an n-cycle.
const CYCLE_PREFERENCE: u64 = 2;

/// The order in which shifts are added, and what their strategies cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shifts {
    /// Every shift, 1 … n−1, the base first.
    pub order: Vec<u32>,
    /// Σ hops of the strategy with the first d' shifts, at index d'−1.
    pub hops: Vec<u64>,
}

/// The base 1, then n−1, then always the shift that saves most hops, where an n-cycle counts twice.
///
/// The paper prefers n-cycles and leaves the rest of the order open. Taking all n-cycles before any other
/// shift is not meant: with every one of the 36 n-cycles of n = 63 the cost is 2.39 times the bound, more than
/// the paper's worst (fig. 13a).
///
/// The saving of a shift only falls as others are added, so its last known saving is an upper bound, and only the
/// shifts at the head of the queue are looked at again. O(n²) and a few looks of O(n) for each shift.
pub fn shifts(ranks: u32) -> Shifts {
    let mut least: Vec<u32> = (0..ranks).collect();
    let mut sum: u64 = least.iter().map(|&hops| u64::from(hops)).sum();
    let mut found = Shifts { order: vec![1], hops: vec![sum] };
    let mut add = |shift: u32, least: &mut [u32]| {
        sum -= saving(ranks, shift, least);
        for (distance, hops) in reach(ranks, shift) {
            let before = &mut least[distance as usize];
            *before = hops.min(*before);
        }
        found.order.push(shift);
        found.hops.push(sum);
    };
    if ranks > 2 {
        add(ranks - 1, &mut least);
    }
    let mut queue: BinaryHeap<(u64, Reverse<u32>)> = (2..ranks - 1).map(|shift| (u64::MAX, Reverse(shift))).collect();
    while let Some((_, Reverse(shift))) = queue.pop() {
        interruption::check();
        let weight = if gcd(shift, ranks) == 1 { CYCLE_PREFERENCE } else { 1 };
        let look = (saving(ranks, shift, &least) * weight, Reverse(shift));
        if queue.peek().is_some_and(|&next| look < next) {
            queue.push(look);
        } else {
            add(shift, &mut least);
        }
    }
    found
}

/// Hops that the shift saves over `least`, by distance.
fn saving(ranks: u32, shift: u32, least: &[u32]) -> u64 {
    reach(ranks, shift).map(|(distance, hops)| u64::from(least[distance as usize].saturating_sub(hops))).sum()
}

/// The strategy with these shifts, the earlier one serving where two are equally near. Shifts that serve no
/// flow are left out.
///
/// # Errors
/// A shift that goes nowhere.
pub fn of_shifts(ranks: u32, shifts: &[u32]) -> Result<Strategy> {
    let symmetry = Translations::cyclic(ranks);
    let mut best = vec![(u32::MAX, 0); ranks as usize];
    for (index, &shift) in shifts.iter().enumerate() {
        interruption::check();
        for (distance, hops) in reach(ranks, shift) {
            let before = &mut best[distance as usize];
            *before = (*before).min((hops, index));
        }
    }
    let mut stages = Vec::with_capacity(shifts.len());
    for (index, &shift) in shifts.iter().enumerate() {
        let topology = topology(ranks, shift)?;
        let served = reach(ranks, shift).filter(|&(distance, hops)| best[distance as usize] == (hops, index));
        let round = |(_, hops)| Round { paths: vec![(0..=hops).map(|hop| walk(ranks, shift, hop)).collect()] };
        let rounds: Vec<Round> = served.map(round).collect();
        if !rounds.is_empty() {
            stages.push(Stage { topology, rounds });
        }
    }
    Ok(Strategy { symmetry, stages })
}

/// Circuits from each rank to the one `shift` further.
///
/// # Errors
/// A shift that is a multiple of the number of ranks.
pub fn topology(ranks: u32, shift: u32) -> Result<Topology> {
    let link = Link { src: 0, dst: shift, count: 1 };
    Topology::new(format!("shifted-ring:{shift}"), Translations::cyclic(ranks), [link])
}

/// Every distance that the shift reaches, with its hops, nearest first.
fn reach(ranks: u32, shift: u32) -> impl Iterator<Item = (u32, u32)> {
    let cycle = ranks / gcd(shift, ranks);
    (1..cycle).map(move |hops| (walk(ranks, shift, hops), hops))
}

/// Distance after `hops` hops.
fn walk(ranks: u32, shift: u32, hops: u32) -> u32 {
    (u64::from(shift) * u64::from(hops) % u64::from(ranks)) as u32
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
