//! The best topologies and flow for a matrix: several numbers of steps, several bases for each.

use rand_chacha::ChaCha8Rng;

use super::bases::{self, Base, Heats};
use super::circuits;
use super::flow::Flow;
use super::layers::Layers;
use crate::cutoffs::unequal_waiting::{ENOUGH, MANY_RANKS};
use crate::unequal::Prices;
use crate::unequal::demand::Demand;
use crate::unequal::way::Estimate;
use crate::unequal::wiring::Wiring;

/// Numbers of steps that are tried, while the startups and changes of so many leave anything to gain.
const STEPS: [usize; 9] = [1, 2, 3, 4, 6, 8, 11, 15, 20];
/// Those that are left out where ranks are many.
const LEFT_OUT: [usize; 3] = [3, 6, 11];
/// Powers of the rounds of every candidate, of those of the best ones, of the last, and of those after a limit on hops;
/// as doublings of 1.
const QUICK: [u32; 4] = [3, 4, 5, 6];
const CLOSE: [u32; 10] = [4, 4, 5, 5, 6, 6, 7, 7, 8, 8];
const LAST: [u32; 8] = [5, 5, 6, 6, 7, 7, 8, 8];
const TRIMMED: [u32; 5] = [4, 5, 6, 7, 8];
/// Candidates of one step that get more rounds, and as many of any number of steps.
const CLOSELY: usize = 2;
/// Where four hops cost less than this part of the time, paths need not be shorter.
const HOPS_MATTER: f64 = 0.003;

/// Topologies, one a step, with the paths of all pairs.
pub(super) struct Candidate {
    pub(super) wirings: Vec<Wiring>,
    pub(super) flow: Flow,
    pub(super) seconds: f64,
    from_start: bool,
}

impl Candidate {
    fn price(&mut self, prices: &Prices) {
        self.seconds = seconds(&self.flow, self.from_start, prices);
    }

    /// Takes the flow that more rounds make of this one, where it is cheaper.
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

fn seconds(flow: &Flow, from_start: bool, prices: &Prices) -> f64 {
    let (hops, loads) = flow.extents().into_iter().unzip();
    prices.seconds(from_start, &Estimate { hops, loads })
}

/// The best that is found; `None` where nothing is below `limit_s`. With a `start`, it is the topology of the first step.
/// Deterministic.
pub(super) fn best(
    demand: &Demand,
    ports: usize,
    start: Option<&Wiring>,
    prices: &Prices,
    limit_s: f64,
) -> Option<Candidate> {
    let busiest_s = prices.buffer_s * demand.busiest() / ports as f64;
    let least_s = |steps: usize| prices.least_s(steps) + busiest_s;
    let is_large = demand.ranks() >= MANY_RANKS;
    let heats = Heats::of(demand);
    let cooled = heats.cooled(demand);
    let mut random = bases::seeded();
    let (mut of_one_step, mut kept): (Vec<Candidate>, Vec<Candidate>) = (Vec::new(), Vec::new());
    let mut best_s = limit_s;
    'all: for steps in STEPS.into_iter().filter(|steps| !is_large || !LEFT_OUT.contains(steps)) {
        if least_s(steps) >= best_s {
            break;
        }
        for (base, hops_more) in bases_of(steps, ports, start.is_some(), is_large) {
            interruption::check();
            let weights = if matches!(base, Base::Placed(_)) { &cooled } else { demand };
            let wirings = made(demand, weights, (steps, ports), start, base, &heats, &mut random);
            let hops = hops_of(&wirings, start.is_some(), hops_more);
            let Some(mut flow) = Flow::new(demand, Layers::new(&wirings), hops) else { continue };
            flow.improve(&QUICK, &mut random);
            let mut candidate = Candidate { wirings, flow, seconds: 0.0, from_start: start.is_some() };
            candidate.price(prices);
            if is_large && steps > 2 && candidate.seconds > 1.02 * best_s {
                break 'all;
            }
            best_s = best_s.min(candidate.seconds);
            let same = if steps == 1 { &mut of_one_step } else { &mut kept };
            same.push(candidate);
            same.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            same.truncate(if is_large { 1 } else { CLOSELY });
            if best_s <= ENOUGH * least_s(1) {
                break 'all;
            }
        }
    }
    // Those of one step are found alike where no change pays, so that a plan is never slower than one without changes.
    kept.append(&mut of_one_step);
    for candidate in &mut kept {
        let mut random = bases::seeded();
        candidate.improve(&CLOSE, prices, &mut random);
        if 4.0 * prices.hop_s > HOPS_MATTER * candidate.seconds {
            candidate.trim(demand, prices, &mut random);
        }
        candidate.improve(&LAST, prices, &mut random);
    }
    let best = kept.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    best.filter(|best| best.seconds < limit_s)
}

/// Bases that are tried for so many steps, and by how many hops paths of a single step may be longer than its diameter.
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
