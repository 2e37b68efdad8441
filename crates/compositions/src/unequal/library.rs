//! Ways that were found for a matrix. They depend on no rate, delay or size but for what a hop is worth in load, which
//! is rounded, so that points of a sweep, and a free start and a given one, share them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::{Latest, Rank, Shape};

use super::demand::Demand;
use super::heaviest;
use super::improve::improved;
use super::way::{Estimate, Evaluator, Way};
use super::wiring::Wiring;
use crate::cutoffs::unequal_library::{
    MOST_FOR_KNOWN, MOST_IMPROVED_STEPS, MOST_KEPT, MOST_MOVES, MOST_RINGS, MOST_SEARCHED, MOST_SHIFTED,
};

/// Circuits that estimates may pass while the ways of one number of steps are improved.
const WORK: usize = 8_000_000;

/// Ways of a number of steps that are improved.
const IMPROVED: usize = 2;

/// A way, with the estimate of its cost.
pub(crate) type Found = (Way, Estimate);

/// Libraries that were made, kept for callers that ask for the same matrix again. Passed on by its owner; nothing else
/// keeps them.
#[derive(Debug, Default)]
pub(crate) struct Libraries {
    made: Latest<Arc<Library>, MOST_KEPT>,
}

impl Libraries {
    /// The library for a matrix and this many ports.
    pub(crate) fn of(&self, demand: &Demand, ports: usize) -> Arc<Library> {
        let is_it = |library: &&Arc<Library>| library.ports == ports && library.demand == *demand;
        let make = || Arc::new(Library { demand: demand.clone(), ports, ways: Mutex::default() });
        self.made.find_or_make(is_it, make)
    }
}

/// The key by which ways are kept: steps, the worth of a hop, and the topology at the start where the first step is on
/// it.
type Key = (usize, i32, Option<Wiring>);

/// Ways for a matrix.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) demand: Demand,
    ports: usize,
    ways: Mutex<BTreeMap<Key, Arc<OnceLock<Vec<Found>>>>>,
}

impl Library {
    /// Steps of the longest ways that are looked for.
    pub(crate) fn most_steps(&self) -> usize {
        let ranks = self.demand.ranks();
        (2 * ranks).min(MOST_SEARCHED / (ranks * ranks * self.ports)).max(1)
    }

    /// Ways of this many steps, those that begin on `start` where it is given; for a hop that is worth about `hop` of
    /// load.
    pub(crate) fn ways(&self, steps: usize, hop: f64, start: Option<&Wiring>) -> Vec<Found> {
        // Powers of four, between what nothing and what only hops would make of it.
        let worth = if hop > 0.0 { (hop.log2() / 2.0).round().clamp(-12.0, 2.0) as i32 } else { -12 };
        let kept = {
            let mut ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
            ways.entry((steps, worth, start.cloned())).or_default().clone()
        };
        kept.get_or_init(|| self.found(steps, 4f64.powi(worth), start)).clone()
    }

    fn found(&self, steps: usize, hop: f64, start: Option<&Wiring>) -> Vec<Found> {
        let mut evaluator = Evaluator::new(&self.demand);
        let first = self.first(steps, start).into_iter();
        let mut found: Vec<Found> =
            first.filter_map(|way| evaluator.estimate(&way).map(|estimate| (way, estimate))).collect();
        found.sort_by(|a, b| a.1.weighed(hop).total_cmp(&b.1.weighed(hop)));
        if steps <= MOST_IMPROVED_STEPS {
            let ranks = self.demand.ranks();
            let moves = (WORK / (IMPROVED * steps * ranks * ranks * self.ports)).min(MOST_MOVES);
            let better: Vec<Found> = (found.iter().take(IMPROVED))
                .filter_map(|(way, _)| improved(&mut evaluator, &self.demand, way.clone(), hop, moves))
                .collect();
            found.extend(better);
        }
        found
    }

    /// Ways before any exchange: circuits for the heaviest pairs, which these take, and one step for the rest.
    fn first(&self, steps: usize, start: Option<&Wiring>) -> Vec<Way> {
        let from_start = start.is_some();
        let mut wirings: Vec<Wiring> = start.into_iter().cloned().collect();
        if from_start && steps == 1 {
            return vec![Way { wirings, from_start }];
        }
        let mut rest = without_joined(&self.demand, &wirings);
        while wirings.len() + 1 < steps {
            let mut wiring = Wiring::dark(self.demand.ranks(), self.ports);
            heaviest::fill(&mut wiring, &rest);
            rest = without_joined(&rest, std::slice::from_ref(&wiring));
            wirings.push(wiring);
        }
        let last = whole(&rest, self.ports).into_iter();
        let mut ways: Vec<Way> =
            last.map(|last| Way { wirings: wirings.iter().cloned().chain([last]).collect(), from_start }).collect();
        if steps == 1 {
            let known = self.known().into_iter();
            ways.extend(known.map(|wiring| Way { wirings: vec![wiring], from_start: false }));
        }
        let others = steps - usize::from(from_start);
        if let Some(rings) = self.shifted_rings(others) {
            let wirings = start.into_iter().cloned().chain(rings).collect();
            ways.push(Way { wirings, from_start });
        }
        ways
    }

    /// Topologies on which a fabric may start, so that no start is better than another one and a change; empty where
    /// ranks are too many.
    fn known(&self) -> Vec<Wiring> {
        let ranks = self.demand.ranks();
        if ranks > MOST_FOR_KNOWN {
            return Vec::new();
        }
        let families = topologies::candidates::defaults().into_iter().map(String::from);
        let Ok(shape) = Shape::new(ranks as u32, &[], self.ports as u32) else { return Vec::new() };
        let known = topologies::candidates::build(&families.collect::<Vec<_>>(), &shape, &[], 0).unwrap_or_default();
        known.iter().map(|topology| Wiring::of(topology, self.ports)).collect()
    }

    /// `topologies` topologies of shifted rings, one ring a port, that together have every rank near every other on one
    /// of them; `None` where a single one is no better than the others, or ranks are too many.
    fn shifted_rings(&self, topologies: usize) -> Option<Vec<Wiring>> {
        let (ranks, rings) = (self.demand.ranks(), topologies * self.ports);
        if topologies < 2 || ranks > MOST_SHIFTED || rings > MOST_RINGS || rings + 1 >= ranks {
            return None;
        }
        let set = search::generator_set(ranks as u32, rings as u32).ok()?;
        let wirings = (0..topologies).map(|first| {
            let mut wiring = Wiring::dark(ranks, self.ports);
            for &shift in set.generators().iter().skip(first).step_by(topologies) {
                (0..ranks as Rank).for_each(|rank| wiring.join(rank, (rank + shift) % ranks as Rank));
            }
            wiring
        });
        Some(wirings.collect())
    }
}

/// The demand that is left when all pairs that have a circuit are served.
fn without_joined(demand: &Demand, wirings: &[Wiring]) -> Demand {
    let has_circuit =
        |&(src, dst): &(Rank, Rank)| wirings.iter().any(|wiring| wiring.out(src).any(|(_, head)| head == dst));
    let rest: Vec<(Rank, Rank)> = demand.pairs().into_iter().filter(|pair| !has_circuit(pair)).collect();
    demand.only(&rest)
}

/// Topologies that join all ranks: heavy pairs over a ring; heavy pairs, joined where they leave parts; and de Bruijn
/// and Kautz graphs, which are of the least diameter.
fn whole(demand: &Demand, ports: usize) -> Vec<Wiring> {
    let ranks = demand.ranks();
    let (n, d) = (ranks as Rank, ports as Rank);
    let mut wirings = vec![heaviest::over_ring(demand, ports), heaviest::joined(demand, ports)];
    if ports == 1 {
        let in_order: Vec<Rank> = (0..n).collect();
        wirings.push(Wiring::ring(&in_order));
    } else if ranks > ports + 1 {
        wirings.push(Wiring::rewired(ranks, ports, |rank| (0..d).map(move |digit| (d * rank + digit) % n)));
        wirings.push(Wiring::rewired(ranks, ports, |rank| (1..=d).map(move |digit| (n - (d * rank + digit) % n) % n)));
    }
    wirings
}
