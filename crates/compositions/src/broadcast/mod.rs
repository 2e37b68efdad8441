//! Broadcast: the buffer in parts that follow one another, as a whole in floods, or scattered and gathered.
//!
//! - *In parts*, on one topology of w circuits a rank or on topologies that take turns: rounds of one part a circuit.
//!   Large buffers are cut so that what the first part takes to the farthest rank is worth what all parts lose in
//!   rounds.
//! - *In parts over trees* of circuits of their own, one for each port.
//! - *Floods*: the whole buffer outwards along a tree of shortest paths, a few hops a step. For small buffers.
//! - *A scatter, then an AllGather*: every rank's part to it at once, then outwards from all ranks. In between.
//!
//! Numbers of parts and hops of steps are chosen by price, and the cheapest few are made.

mod all_gather;
mod kept;
mod one_topology;
pub(crate) mod rounds;
mod shifts;
pub(crate) mod spread;
#[cfg(test)]
mod tests;
mod tree;
mod trees;

use model::{Fabric, Initial, Rank, Result, Topology};

use crate::composition::Composition;
use crate::cutoffs::broadcast::{ALL_HOPS, MOST_COMPARED, MOST_ROUNDS, MOST_SENT};
use crate::prices::Prices;
use crate::relative::Sums;

pub(crate) use kept::Broadcasts;
use kept::Made;
use one_topology::OneTopology;
pub(crate) use trees::NAME;
use trees::Trees;

/// Hops of a tree up to which floods are looked at, and scatters with an AllGather.
const MOST_DEPTH: u32 = 1024;
const MOST_GATHERED_DEPTH: u32 = 64;

/// Broadcasts that are made for a point, and how much longer than the cheapest they may take by estimate.
const MOST_MADE: usize = 4;
const WORTH_MAKING: f64 = 1.25;

/// Ranks up to which topologies of several ports take turns: staying on one of them for a step that is meant for
/// another is priced by a search from every rank.
const MOST_FOR_TURNS: u32 = 2048;

/// A Broadcast that may be made.
enum Way<'a> {
    Parts(&'a OneTopology, u32),
    Flood(&'a OneTopology, Vec<u32>),
    ScatterGather(&'a OneTopology, Vec<u32>),
    Turns(u32),
    Trees(&'a Trees, u32),
}

/// The cheapest Broadcasts from `root` by estimate, the first the cheapest.
///
/// # Errors
/// The errors of making topologies and steps.
pub(crate) fn compose(kept: &Broadcasts, fabric: &Fabric, prices: &Prices, root: Rank) -> Result<Vec<Composition>> {
    let shape = &fabric.shape;
    let made = kept.of(shape.gpus(), shape.ports(), root)?;
    let start = match &fabric.initial {
        Initial::Topology(start) => kept.on(start, root),
        Initial::Free | Initial::Repeated => None,
    };
    let mut ways: Vec<(f64, Way)> = Vec::new();
    for (one, set_up_s) in start.iter().map(|start| (&**start, 0.0)).chain(made.own(prices)) {
        ways.extend(on_one_topology(one, prices).into_iter().map(|(seconds, way)| (set_up_s + seconds, way)));
    }
    ways.extend(in_turns(&made, shape.gpus(), prices));
    ways.extend(made.trees.as_ref().and_then(|trees| over_trees(trees, shape.gpus(), prices)));
    cheapest(ways, &made, root)
}

/// The cheapest Broadcasts from `root` that stay on the topology at the start.
///
/// # Errors
/// The errors of [`compose`].
pub(crate) fn on_start(kept: &Broadcasts, start: &Topology, prices: &Prices, root: Rank) -> Result<Vec<Composition>> {
    let Some(one) = kept.on(start, root) else { return Ok(Vec::new()) };
    let made = kept.of(start.ranks(), start.degree(), root)?;
    cheapest(on_one_topology(&one, prices), &made, root)
}

/// The cheapest few of these ways, made.
fn cheapest(mut ways: Vec<(f64, Way)>, made: &Made, root: Rank) -> Result<Vec<Composition>> {
    ways.sort_by(|a, b| a.0.total_cmp(&b.0));
    let limit_s = ways.first().map_or(0.0, |(least_s, _)| WORTH_MAKING * least_s);
    let mut found = Vec::new();
    for (_, way) in ways.into_iter().take(MOST_MADE).take_while(|(seconds, _)| *seconds <= limit_s) {
        let composition = |spread: &spread::Spread| spread.composition(made.ranks(), root);
        found.extend(match way {
            Way::Parts(one, parts) => one.in_parts(parts).map(|spread| composition(&spread)),
            Way::Flood(one, hops) => Some(composition(&one.flood(&hops))),
            Way::ScatterGather(one, hops) => {
                one.gathered().map(|gathered| composition(&one.scatter_gather(gathered, &hops)))
            }
            Way::Trees(trees, times) => Some(composition(&trees.spread(times))),
            Way::Turns(parts) => made.in_turns(parts).map(|spread| composition(&spread)),
        });
    }
    found.into_iter().collect()
}

/// The ways on one topology, with seconds.
fn on_one_topology<'a>(one: &'a OneTopology, prices: &Prices) -> Vec<(f64, Way<'a>)> {
    let (ranks, depth) = (one.topology.ranks(), one.tree.depth());
    let mut ways = Vec::new();
    let rounds = |times: u32| times + depth - 1;
    // Beyond one hop what the farthest rank takes in decides.
    let parts = |times: u32| if depth == 1 { one.most_parts(times) } else { times * one.width };
    ways.extend(best_parts(ranks, parts, rounds, prices, 0.0).map(|(s, parts)| (s, Way::Parts(one, parts))));
    if depth <= MOST_DEPTH {
        let step_s = |from: u32, hops: u32| step_s(prices, ranks, hops, one.tree.load(from, hops));
        let (seconds, hops) = cheapest_steps(depth, step_s);
        ways.push((seconds, Way::Flood(one, hops)));
    }
    if depth <= MOST_GATHERED_DEPTH
        && let Some(gathered) = one.gathered()
    {
        let share = 1.0 / f64::from(ranks);
        let scattered = f64::from(ranks - 1) / f64::from(one.width) * share;
        let scatter_s = self::step_s(prices, ranks, depth, scattered);
        let step_s = |from: u32, hops: u32| self::step_s(prices, ranks, hops, gathered.load(from, hops) * share);
        let (seconds, hops) = cheapest_steps(gathered.depth(), step_s);
        ways.push((scatter_s + seconds, Way::ScatterGather(one, hops)));
    }
    ways
}

/// In parts on topologies that take turns, one change a round.
fn in_turns<'a>(made: &Made, ranks: u32, prices: &Prices) -> Option<(f64, Way<'a>)> {
    let (period, ports) = (made.turns.period() as u32, made.turns.ports());
    if ports > 1 && ranks > MOST_FOR_TURNS {
        return None;
    }
    let rounds = |times: u32| times + period - 1;
    let changed_s = if period > 1 { prices.change_s } else { 0.0 };
    let (seconds, parts) = best_parts(ranks, |times| times * ports, rounds, prices, changed_s)?;
    Some((seconds - changed_s + prices.first_change_s(), Way::Turns(parts)))
}

/// In parts over trees of circuits of their own.
fn over_trees<'a>(trees: &'a Trees, ranks: u32, prices: &Prices) -> Option<(f64, Way<'a>)> {
    let rounds = |times: u32| times + trees.depth - 1;
    let (seconds, parts) = best_parts(ranks, |times| times * trees.ports, rounds, prices, 0.0)?;
    Some((seconds + prices.first_change_s(), Way::Trees(trees, parts / trees.ports)))
}

/// Seconds of a step over this many hops that puts this many buffers on the busiest circuit.
fn step_s(prices: &Prices, ranks: u32, hops: u32, buffers: f64) -> f64 {
    let sums = Sums { steps: 1, hops: f64::from(hops), load: buffers.min(1.0), amount: buffers };
    prices.sums_s(&sums, f64::from(ranks))
}

/// The number of parts whose rounds take least, with the seconds, of those that `parts` has for the times that a
/// circuit brings one to the farthest rank; `rounds` says how many there are for them, and each takes `more_s` in
/// addition. `None` where not even one part a circuit can be sent.
fn best_parts(
    ranks: u32,
    parts: impl Fn(u32) -> u32,
    rounds: impl Fn(u32) -> u32,
    prices: &Prices,
    more_s: f64,
) -> Option<(f64, u32)> {
    let fits = |&times: &u32| {
        let sent = u64::from(parts(times)) * u64::from(ranks);
        sent <= MOST_SENT && sent * u64::from(parts(times)) <= MOST_COMPARED && rounds(times) <= MOST_ROUNDS
    };
    // By an eighth more each time, so that points of a sweep share what is made.
    let all = std::iter::successors(Some(1), |times| Some(times + (times / 8).max(1))).take_while(fits);
    let priced = all.map(|times| {
        let parts = parts(times);
        let round_s = step_s(prices, ranks, 1, 1.0 / f64::from(parts)) + more_s;
        (f64::from(rounds(times)) * round_s, parts)
    });
    priced.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The steps of some hops each that cover `depth` hops in least time, where `step_s(from, hops)` is that of one.
/// O(depth · log depth) of those.
fn cheapest_steps(depth: u32, step_s: impl Fn(u32, u32) -> f64) -> (f64, Vec<u32>) {
    let mut rest = vec![(0.0, 0); depth as usize + 1];
    for from in (0..depth).rev() {
        let left = depth - from;
        let fewer = std::iter::successors(Some(1), |hops| Some(hops + (hops / ALL_HOPS).max(1)));
        let hops = fewer.take_while(|&hops| hops < left).chain([left]);
        let all = hops.map(|hops| (step_s(from, hops) + rest[(from + hops) as usize].0, hops));
        rest[from as usize] = all.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
    }
    let (mut hops, mut from) = (Vec::new(), 0);
    while from < depth {
        hops.push(rest[from as usize].1);
        from += rest[from as usize].1;
    }
    (rest[0].0, hops)
}
