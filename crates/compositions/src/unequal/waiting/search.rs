//! The best topologies and flow for a matrix: several numbers of steps, several bases for each.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::bases::{self, Base, Heats};
use super::circuits;
use super::exchanges::nearer;
use super::flow::Flow;
use super::layers::Layers;
use crate::cutoffs::unequal_waiting::{ENOUGH, FEW_CLOSELY, MANY_RANKS, WORTH_EXCHANGING, WORTH_FINISHING};
use crate::unequal::demand::Demand;
use crate::unequal::prices::Prices;
use crate::unequal::way::Estimate;
use crate::unequal::wiring::Wiring;

/// Numbers of steps that are tried, while the startups and changes of this many leave anything to gain.
const STEPS: [usize; 9] = [1, 2, 3, 4, 6, 8, 11, 15, 20];
/// Numbers of steps that are left out where ranks are many.
const LEFT_OUT: [usize; 3] = [3, 6, 11];
/// Powers of the rounds of every candidate, of those of the best ones, of the last, and of those after a limit on hops;
/// as doublings of 1.
const QUICK: [u32; 4] = [3, 4, 5, 6];
const CLOSE: [u32; 10] = [4, 4, 5, 5, 6, 6, 7, 7, 8, 8];
const LAST: [u32; 8] = [5, 5, 6, 6, 7, 7, 8, 8];
const TRIMMED: [u32; 5] = [4, 5, 6, 7, 8];
/// Candidates of one step that get more rounds, and as many of any number of steps.
const CLOSELY: usize = 2;
/// Part by which weights are drawn larger or smaller.
const WEIGHTS_VARY: f64 = 0.3;
/// Where four hops cost less than this part of the time, paths need not be shorter.
const HOPS_MATTER: f64 = 0.003;

/// Topologies, one a step, with the paths of all pairs.
pub(super) struct Candidate {
    pub(super) wirings: Vec<Wiring>,
    pub(super) flow: Flow,
    pub(super) seconds: f64,
    hops_more: u32,
    from_start: bool,
}

impl Candidate {
    /// The flow on these topologies after its first rounds; `None` where some pair has no path.
    fn new(
        demand: &Demand,
        wirings: Vec<Wiring>,
        hops_more: u32,
        start: Option<&Wiring>,
        prices: &Prices,
        random: &mut ChaCha8Rng,
    ) -> Option<Self> {
        let from_start = start.is_some();
        let hops = hops_of(&wirings, from_start, hops_more);
        let mut flow = Flow::new(demand, Layers::new(&wirings), hops)?;
        flow.improve(&QUICK, random);
        let seconds = seconds(&flow, from_start, prices);
        Some(Self { wirings, flow, seconds, hops_more, from_start })
    }

    /// All the rounds that a candidate gets which may be the best; deterministic, independent of earlier candidates.
    fn finish(&mut self, demand: &Demand, prices: &Prices) {
        let mut random = bases::seeded();
        self.improve(&CLOSE, prices, &mut random);
        if 4.0 * prices.hop_s > HOPS_MATTER * self.seconds {
            self.trim(demand, prices, &mut random);
        }
        self.improve(&LAST, prices, &mut random);
    }

    /// Improves the flow by more rounds, and takes the result where it is cheaper.
    fn improve(&mut self, powers: &[u32], prices: &Prices, random: &mut ChaCha8Rng) {
        let mut flow = self.flow.clone();
        flow.improve(powers, random);
        self.take(flow, prices);
    }

    fn take(&mut self, flow: Flow, prices: &Prices) -> bool {
        let seconds = seconds(&flow, self.from_start, prices);
        let is_cheaper = seconds < self.seconds;
        if is_cheaper {
            (self.flow, self.seconds) = (flow, seconds);
        }
        is_cheaper
    }

    /// Shorter paths in one step at a time, where the hop is worth more than the load.
    fn trim(&mut self, demand: &Demand, prices: &Prices, random: &mut ChaCha8Rng) {
        let mut is_shorter = true;
        while std::mem::take(&mut is_shorter) {
            for step in (0..self.wirings.len()).rev() {
                let used = self.flow.extents()[step].0;
                if used < 2 {
                    continue;
                }
                let mut hops = self.flow.hops.clone();
                hops[step] = used - 1;
                if let Some(mut flow) = self.flow.moved(demand, hops) {
                    flow.improve(&TRIMMED, random);
                    is_shorter |= self.take(flow, prices);
                }
            }
        }
    }
}

/// The candidates of least time after the first rounds, by their number of steps, the best first.
#[derive(Default)]
struct Found {
    of_one: Vec<Candidate>,
    of_two: Vec<Candidate>,
    of_more: Vec<Candidate>,
}

impl Found {
    /// Keeps a candidate where it is one of the best `most` of its kind.
    fn keep(&mut self, candidate: Candidate, most: usize) {
        let same = match candidate.wirings.len() {
            1 => &mut self.of_one,
            2 => &mut self.of_two,
            _ => &mut self.of_more,
        };
        same.push(candidate);
        same.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        same.truncate(most);
    }

    /// The best candidates of one step and of two with circuits exchanged. On more steps the circuits for heavy pairs
    /// leave exchanges little to gain.
    fn exchanged(&self, demand: &Demand, start: Option<&Wiring>, prices: &Prices, best_s: f64) -> Vec<Candidate> {
        let of_two = self.of_two.first().filter(|candidate| candidate.seconds <= WORTH_EXCHANGING * best_s);
        let exchanged = |candidate: &Candidate| {
            let mut random = bases::seeded();
            let wirings = nearer(demand, &candidate.wirings, usize::from(start.is_some()), &mut random);
            Candidate::new(demand, wirings, candidate.hops_more, start, prices, &mut random)
        };
        self.of_one.first().into_iter().chain(of_two).filter_map(exchanged).collect()
    }

    /// The best `most` of one step, and of those of more steps which are worth all rounds.
    fn worth_finishing(self, best_s: f64, most: usize) -> Vec<Candidate> {
        let mut kept: Vec<Candidate> = self.of_two.into_iter().chain(self.of_more).collect();
        kept.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        kept.retain(|candidate| candidate.seconds <= WORTH_FINISHING * best_s);
        kept.truncate(most);
        kept.extend(self.of_one);
        kept
    }
}

fn seconds(flow: &Flow, from_start: bool, prices: &Prices) -> f64 {
    let (hops, loads) = flow.extents().into_iter().unzip();
    prices.seconds(from_start, &Estimate { hops, loads })
}

/// The best candidate that is found; `None` where none is below `limit_s`. A `start` is the topology of the first step.
/// Deterministic without a `budget`, with which others like the best are drawn until it ends.
pub(super) fn best(
    demand: &Demand,
    ports: usize,
    start: Option<&Wiring>,
    prices: &Prices,
    limit_s: f64,
    budget: Option<Duration>,
) -> Option<Candidate> {
    let busiest_s = prices.buffer_s * demand.busiest() / ports as f64;
    let least_s = |steps: usize| prices.least_s(steps) + busiest_s;
    let is_large = demand.ranks() >= MANY_RANKS;
    let heats = Heats::of(demand);
    let cooled = heats.cooled(demand);
    let mut random = bases::seeded();
    let mut found = Found::default();
    let most = if demand.ranks() >= FEW_CLOSELY { 1 } else { CLOSELY };
    let mut best_s = limit_s;
    'all: for steps in STEPS.into_iter().filter(|steps| !is_large || !LEFT_OUT.contains(steps)) {
        if least_s(steps) >= best_s {
            break;
        }
        for (base, hops_more) in bases_of(steps, ports, start.is_some(), is_large) {
            interruption::check();
            let weights = if matches!(base, Base::Placed(_)) { &cooled } else { demand };
            let wirings = made(demand, weights, (steps, ports), start, base, &heats, &mut random);
            let candidate = Candidate::new(demand, wirings, hops_more, start, prices, &mut random);
            let Some(candidate) = candidate else { continue };
            if is_large && steps > 2 && candidate.seconds > 1.02 * best_s {
                break 'all;
            }
            best_s = best_s.min(candidate.seconds);
            found.keep(candidate, most);
            if best_s <= ENOUGH * least_s(1) {
                break 'all;
            }
        }
    }
    // Candidates of one step, found the same way where no change pays, are finished however slow they are so far, so
    // that a plan is never slower than the best one without changes. None is faster than its bytes times hops allow.
    let bytes = demand.least_bytes_hops(ports) / (ports * demand.ranks()) as f64;
    if prices.least_s(1) + prices.buffer_s * bytes > best_s {
        found.of_one.clear();
    }
    let is_enough = best_s <= ENOUGH * least_s(1);
    let exchanged = if is_enough { Vec::new() } else { found.exchanged(demand, start, prices, best_s) };
    let mut kept = found.worth_finishing(best_s, most);
    kept.extend(exchanged);
    kept.iter_mut().for_each(|candidate| candidate.finish(demand, prices));
    let mut best = kept.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    if let Some(budget) = budget {
        let end = Instant::now() + budget;
        while Instant::now() < end && best.seconds > ENOUGH * least_s(1) {
            let Some(mut other) = redrawn(&best, demand, ports, start, prices, &mut random) else { continue };
            if other.seconds < WORTH_FINISHING * best.seconds {
                other.finish(demand, prices);
            }
            if other.seconds < best.seconds {
                best = other;
            }
        }
    }
    Some(best).filter(|best| best.seconds < limit_s)
}

/// A candidate like `best`: of about as many steps, on another base or with weights that are a little different.
fn redrawn(
    best: &Candidate,
    demand: &Demand,
    ports: usize,
    start: Option<&Wiring>,
    prices: &Prices,
    random: &mut ChaCha8Rng,
) -> Option<Candidate> {
    interruption::check();
    let steps = (best.wirings.len() + random.random_range(0..4)).max(2) - 1;
    let base = match random.random_range(0..4) {
        _ if start.is_some() => Base::Empty,
        0 if steps > 1 => Base::Empty,
        1 => Base::Kautz(random.random_range(1..=ports)),
        _ => Base::Placed(random.random_range(1..=ports)),
    };
    let ranks = demand.ranks();
    let factors: Vec<f64> = (0..ranks * ranks).map(|_| 1.0 + WEIGHTS_VARY * random.random_range(-1.0..1.0)).collect();
    let weights = demand.weighted(|src, dst| factors[src as usize * ranks + dst as usize]);
    let heats = Heats::of(demand);
    let weights = if random.random_range(0..2) == 0 { heats.cooled(&weights) } else { weights };
    let mut wirings = made(demand, &weights, (steps, ports), start, base, &heats, random);
    if steps <= 2 {
        wirings = nearer(demand, &wirings, usize::from(start.is_some()), random);
    }
    Candidate::new(demand, wirings, 1, start, prices, random)
}

/// Bases that are tried for this many steps, and by how many hops paths of a single step may be longer than its
/// diameter.
fn bases_of(steps: usize, ports: usize, has_start: bool, is_large: bool) -> Vec<(Base, u32)> {
    use Base::{Empty, HeavyRing, Kautz, Placed};
    if has_start {
        return match steps {
            1 => vec![(Empty, 2)],
            2 | 3 => vec![(Empty, 2), (Kautz(ports.min(2)), 2)],
            _ => vec![(Empty, 2)],
        };
    }
    let fewer = ports.max(2) - 1;
    let mut bases = match steps {
        1 if is_large => vec![(Kautz(ports), 1), (Placed(2), 2)],
        1 => vec![
            (Kautz(ports), 1),
            (Kautz(fewer), 2),
            (Kautz(2), 2),
            (HeavyRing, 3),
            (Placed(ports), 1),
            (Placed(ports), 1),
            (Placed(ports), 1),
            (Placed(2), 2),
            (Placed(2), 2),
            (Placed(fewer), 2),
            (Placed(ports), 0),
            (Placed(ports), 0),
        ],
        2 | 3 if is_large => vec![(Kautz(ports), 1), (Placed(2), 1)],
        2 | 3 => vec![(Kautz(ports), 1), (Kautz(2), 1), (Empty, 1), (Placed(ports), 1), (Placed(2), 1)],
        _ if is_large => vec![(Kautz(ports), 1)],
        _ => vec![(Kautz(ports), 1), (Kautz(2), 1), (Empty, 1)],
    };
    bases.retain(|(base, _)| base.ports() <= ports && (steps > 1 || *base != Empty));
    // Places drawn anew may be better; the same graph is not.
    let mut tried: Vec<(Base, u32)> = Vec::new();
    bases.retain(|one| {
        let is_new = matches!(one.0, Placed(_)) || !tried.contains(one);
        tried.push(*one);
        is_new
    });
    bases
}

/// The topologies of a candidate.
fn made(
    demand: &Demand,
    weights: &Demand,
    (steps, ports): (usize, usize),
    start: Option<&Wiring>,
    base: Base,
    heats: &Heats,
    random: &mut ChaCha8Rng,
) -> Vec<Wiring> {
    let mut wirings: Vec<Wiring> = start.into_iter().cloned().collect();
    if steps > wirings.len() {
        let base = base.wiring(demand, heats, random);
        wirings.extend(circuits::wirings(weights, (steps - wirings.len(), ports), &base, random));
    }
    wirings
}

/// The most links of each step that a path may pass.
fn hops_of(wirings: &[Wiring], has_start: bool, more: u32) -> Vec<u32> {
    let steps = wirings.len();
    let first = bases::diameter(&wirings[0]);
    if steps == 1 {
        return vec![first + more];
    }
    let later = match steps {
        2 | 3 => 3,
        4..=6 => 2,
        _ => 1,
    };
    let mut hops = vec![later; steps];
    hops[0] = if has_start { first.max(1) } else { first.max(3) };
    hops
}
