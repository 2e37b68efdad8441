//! Topologies as matchings, one on each of several switches, so that few circuits move between switches.
//!
//! Switch k joins port k of every GPU, so that it carries at most one circuit out of and into each: a matching. Any
//! topology of at most d circuits at each end is d matchings (König 1916), in many ways; which, is chosen here for the
//! whole sequence of topologies.

mod bound;
mod colouring;
mod cost;
mod exhaustive;
mod insertion;
mod two_switches;

pub(crate) use colouring::{Colouring, DARK};
pub(crate) use cost::{Cost, Judge};

use model::Topology;

use crate::cutoffs::parallel::{MOST_KICKS, MOST_VISITS};
use bound::least_connects;
use exhaustive::best_of_all;
use insertion::follow_on;
use two_switches::improve;

/// Matchings of each topology in turn, and how few connections any have to set up after the first.
pub(crate) struct Decomposed {
    pub colourings: Vec<Colouring>,
    pub least_connects: u64,
}

/// Matchings of the topologies, by switch; `slowest_first` are the switches in that order, `weights` what a connection
/// on each counts for. Where what a change is charged depends on the matchings, the fewest connections need not be
/// charged the least: `charges_vary`.
///
/// Descents from two starts: the assignment that depends only on the topology, by which plans are charged
/// ([`model::PortAssignment`]), and each topology's circuits where those of the one before are; then from the better
/// one, disturbed. Few matchings are all tried, which proves the best. Nothing is charged more than by the first start.
pub(crate) fn decompose(
    topologies: &[&Topology],
    slowest_first: &[usize],
    weights: &[f64],
    charges_vary: bool,
    judge: &Judge,
) -> Decomposed {
    let canonical: Vec<Colouring> =
        topologies.iter().map(|topology| Colouring::by_itself(topology, slowest_first)).collect();
    let least = least_connects(&canonical);
    let fewest_is_best = !charges_vary && weights.iter().all(|&weight| weight == weights[0]);
    let mut best = Ranked::of(canonical.clone(), judge);
    for start in [canonical, follow_on(topologies, slowest_first)] {
        let mut found = Ranked::of(start, judge);
        found.descend(weights, judge);
        best = best.or(found);
    }
    if best.may_improve(least, charges_vary) {
        if let Some(colourings) = best_of_all(topologies, weights.len(), judge) {
            let found = Ranked::of(colourings, judge);
            let proved = if fewest_is_best { connects(&found.colourings) } else { least };
            return Decomposed { least_connects: proved.max(least), colourings: best.or(found).colourings };
        }
        best.disturb(weights, judge, |found| found.may_improve(least, charges_vary));
    }
    Decomposed { colourings: best.colourings, least_connects: least }
}

/// Connections that are set up after the first topology.
fn connects(colourings: &[Colouring]) -> u64 {
    colourings.windows(2).map(|pair| pair[1].circuits() - pair[0].kept(&pair[1])).sum()
}

/// Assignments and what they cost.
#[derive(Clone)]
struct Ranked {
    colourings: Vec<Colouring>,
    cost: Cost,
}

impl Ranked {
    fn of(colourings: Vec<Colouring>, judge: &Judge) -> Self {
        let costs = (1..colourings.len()).map(|place| judge(place, &colourings[place - 1], &colourings[place]));
        let cost = costs.fold(Cost { charge_s: 0.0, weighted: 0.0 }, |sum, cost| Cost {
            charge_s: sum.charge_s + cost.charge_s,
            weighted: sum.weighted + cost.weighted,
        });
        Self { colourings, cost }
    }

    /// The better one; this one of two as good.
    fn or(self, other: Self) -> Self {
        if other.is_better_than(&self) { other } else { self }
    }

    /// Whether fewer connections, or smaller charges, are not ruled out.
    fn may_improve(&self, least: u64, charges_vary: bool) -> bool {
        connects(&self.colourings) > least || charges_vary && self.cost.charge_s > 0.0
    }

    /// Better by more than rounding.
    fn is_better_than(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.cost, other.cost);
        let slack_s = 1e-12 * theirs.charge_s;
        ours.charge_s < theirs.charge_s - slack_s
            || (ours.charge_s <= theirs.charge_s + slack_s && ours.weighted < theirs.weighted - 1e-9)
    }

    /// Swaps circuits between pairs of switches until nothing becomes better.
    fn descend(&mut self, weights: &[f64], judge: &Judge) {
        let switches = weights.len();
        loop {
            let mut improved = false;
            for (a, b) in (0..switches).flat_map(|a| (a + 1..switches).map(move |b| (a, b))) {
                interruption::check();
                let Some(colourings) = improve(&self.colourings, (a, b), weights) else { continue };
                let found = Self::of(colourings, judge);
                if found.is_better_than(self) {
                    *self = found;
                    improved = true;
                }
            }
            if !improved {
                return;
            }
        }
    }

    /// Descends again and again from here with some circuits swapped, and keeps what is better, as long as it may
    /// improve.
    fn disturb(&mut self, weights: &[f64], judge: &Judge, may_improve: impl Fn(&Self) -> bool) {
        let (switches, places) = (weights.len(), self.colourings.len());
        let visits: usize = self.colourings.iter().map(|colouring| colouring.circuits() as usize).sum();
        let kicks = (MOST_VISITS / (visits * switches * switches).max(1)).min(MOST_KICKS);
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for _ in 0..kicks {
            interruption::check();
            if switches < 2 || !may_improve(self) {
                return;
            }
            let mut colourings = self.colourings.clone();
            for _ in 0..=random.below(2) {
                let (a, ahead) = (random.below(switches), 1 + random.below(switches - 1));
                let (place, src) = (random.below(places), random.below(colourings[0].gpus()));
                colourings[place].swap_around((a, (a + ahead) % switches), src as u32);
            }
            let mut found = Self::of(colourings, judge);
            found.descend(weights, judge);
            if !self.is_better_than(&found) {
                *self = found;
            }
        }
    }
}

/// Numbers that look random and are the same in every run (xorshift; Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests;
