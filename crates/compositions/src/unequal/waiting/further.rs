//! Candidates like the best one, drawn until the time is over.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::bases::{self, Base, Heats};
use super::candidate::Candidate;
use super::made::made;
use super::task::Task;
use crate::cutoffs::unequal_waiting::{ENOUGH, TRIALS_OF_A_CIRCUIT, WORTH_FINISHING};
use crate::unequal::wiring::Wiring;

/// Part by which weights are drawn larger or smaller.
const WEIGHTS_VARY: f64 = 0.3;
/// Circuits of which one gets another head before the best topologies are exchanged again.
const SHAKEN_OF: [usize; 3] = [64, 24, 8];

/// The best of `given` and, where the search has an end, of what is drawn until then. What is drawn depends on its
/// number and on the best one by then only.
pub(super) fn best(task: &Task<'_>, given: Candidate) -> Candidate {
    let mut best = given;
    if task.pursuit.until.is_none() {
        return best;
    }
    best.finish(task);
    let enough_s = ENOUGH * (task.prices.least_s(1) + task.prices.buffer_s * task.demand.busiest() / task.ports as f64);
    let heats = Heats::of(task.demand);
    let mut number = 0;
    while !task.pursuit.is_over() && best.seconds > enough_s {
        number += 1;
        let mut random = bases::seeded(number);
        let drawn = if number % 2 == 1 {
            exchanged(task, &best, &mut random)
        } else {
            redrawn(task, &best, &heats, &mut random)
        };
        let Some(mut other) = drawn else { continue };
        if other.seconds < WORTH_FINISHING * best.seconds {
            other.finish(task);
        }
        if other.seconds < best.seconds {
            best = other;
        }
    }
    best
}

/// The topologies of the best candidate after some exchanges whatever they cost, and then such as bring bytes nearer.
fn exchanged(task: &Task<'_>, best: &Candidate, random: &mut ChaCha8Rng) -> Option<Candidate> {
    interruption::check();
    let part = SHAKEN_OF[random.random_range(0..SHAKEN_OF.len())];
    let wirings = shaken(task, &best.wirings, part, random);
    let wirings = task.nearer(&wirings, TRIALS_OF_A_CIRCUIT, random);
    Candidate::new(task, wirings, best.hops_more, random)
}

/// The topologies after exchanges of circuits drawn at random, one for each `part` circuits of a step.
fn shaken(task: &Task<'_>, wirings: &[Wiring], part: usize, random: &mut ChaCha8Rng) -> Vec<Wiring> {
    let mut shaken = wirings.to_vec();
    for wiring in shaken.iter_mut().skip(usize::from(task.start.is_some())) {
        for _ in 0..wiring.circuits().div_ceil(part) {
            let (one, other) = (random.random_range(0..wiring.circuits()), random.random_range(0..wiring.circuits()));
            wiring.exchange_heads(one, other);
        }
    }
    shaken
}

/// A candidate like `best`: of about as many steps, on another base or with weights that are a little different.
fn redrawn(task: &Task<'_>, best: &Candidate, heats: &Heats, random: &mut ChaCha8Rng) -> Option<Candidate> {
    interruption::check();
    let ports = task.ports;
    let steps = (best.wirings.len() + random.random_range(0..4)).max(2) - 1;
    let base = match random.random_range(0..4) {
        _ if task.start.is_some() => Base::Empty,
        0 if steps > 1 => Base::Empty,
        1 => Base::Kautz(random.random_range(1..=ports)),
        _ => Base::Placed(random.random_range(1..=ports)),
    };
    let ranks = task.demand.ranks();
    let factors: Vec<f64> = (0..ranks * ranks).map(|_| 1.0 + WEIGHTS_VARY * random.random_range(-1.0..1.0)).collect();
    let weights = task.demand.weighted(|src, dst| factors[src as usize * ranks + dst as usize]);
    let weights = if random.random_range(0..2) == 0 { heats.cooled(&weights) } else { weights };
    let mut wirings = made(task, &weights, steps, base, heats, random);
    if steps <= 2 {
        wirings = task.nearer(&wirings, TRIALS_OF_A_CIRCUIT, random);
    }
    Candidate::new(task, wirings, 1, random)
}
