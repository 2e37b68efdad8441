//! Topologies with less symmetry than circulants, by seeded local search.
//!
//! Circulants are not always best: for Swing on 8 ranks and two ports the best one has a load of 0.875, summed
//! over the steps, where 0.775 can be had. Here the links are invariant under a group of translations that
//! leaves a few orbits of ranks, so that a flow has as many sources and d links for each. A move lets two orbits
//! of links exchange their ends, or turns the ends of one, and so keeps d circuits out of and into every rank.
//! Moves that cost more are taken with a probability that falls (simulated annealing; Kirkpatrick, Gelatt and
//! Vecchi, Science 1983). Costs are those of concurrent flow; most moves are refused by the estimates of the
//! steps that are not solved yet.
//!
//! The groups are the steps' common one and its subgroups, in which the translations by 2, 4, 8, … multiples of the
//! first stay. Each group starts from the best that is known, from circulants, or at random where no
//! circulant is invariant under it (XOR).

use std::ops::Range;
use std::time::{Duration, Instant};

use fronts::RoutingNetwork;
use interruption::Interruptible;
use model::{Link, Rank, Result, Topology, Translations};
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::cutoffs::local_search::MOST_ORBITS;
use crate::{Circulants, PricedStep};

/// Meaning of the name of a topology that was searched.
pub const NAME: (&str, &str) =
    ("local-search", "topology improved circuit by circuit by the local search of planner weave (--budget)");

/// At the first move of each chain, the part of its cost by which a move may add to it, on average. Cold chains
/// refine the best that is known, hot ones leave it.
const FIRST_TEMPERATURES: [f64; 4] = [0.01, 0.02, 0.05, 0.1];
/// Chains that start from the best that is known; the others start from circulants.
const FROM_BEST: usize = 2;
/// At the last move of each chain, the part of its cost by which a move may add to it, on average.
const LAST_TEMPERATURE: f64 = 0.003;
/// A topology is better when it costs less by this part.
const TOLERANCE: f64 = 1e-9;

/// The length of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimits {
    /// Decides all chance.
    pub seed: u64,
    /// Moves looked at, over all groups and chains.
    pub evaluations: u64,
    /// Wall-clock time after which no move is looked at any more, the same part of it for each group. The result then
    /// depends on the machine; without it the search is deterministic.
    pub budget: Option<Duration>,
}

/// A topology that one search found, with its cost over the interval in seconds.
type Found = (Topology, f64);

/// The cheapest topology found for the steps of `interval`, never dearer than the best of the `circulants`, and its
/// cost in seconds. `None` when nothing that was tried joins all pairs that exchange something. Where no group but Z_n
/// leaves at most 16 orbits of ranks, as for 17 and more ranks if they are a prime number, it is that circulant.
///
/// O(evaluations · flows of the interval's steps) where moves are accepted, O(evaluations · p·n·d) where estimates
/// refuse them, p orbits of ranks; four chains run in parallel.
///
/// # Errors
/// No error for steps that `circulants` was made for.
///
/// # Panics
/// An interval beyond the steps.
pub fn local_search(circulants: &Circulants, interval: Range<usize>, limits: SearchLimits) -> Result<Option<Found>> {
    let started = Instant::now();
    let starts = circulants.best(interval.clone(), FIRST_TEMPERATURES.len());
    let steps = &circulants.steps()[interval];
    let groups = groups(steps);
    let count = groups.len() as u32;
    let evaluations = limits.evaluations / (u64::from(count) * FIRST_TEMPERATURES.len() as u64).max(1);
    let mut best = starts.first().cloned();
    for (group, number) in groups.iter().zip(0..) {
        let until = |number: u32| limits.budget.and_then(|all| started.checked_add(all.saturating_mul(number) / count));
        let chains = (0..FIRST_TEMPERATURES.len()).into_par_iter().interruptible().map(|chain| {
            let mut rng = ChaCha8Rng::seed_from_u64(limits.seed);
            rng.set_stream((number as usize * FIRST_TEMPERATURES.len() + chain) as u64);
            let start = if chain < FROM_BEST { best.as_ref() } else { starts.get(chain - FROM_BEST) };
            let links = match start.filter(|(topology, _)| topology.symmetry().meet(group) == *group) {
                Some((topology, _)) => single_links(topology, group),
                None => random_links(group, circulants.ports(), &mut rng),
            };
            let window = until(number).zip(until(number + 1));
            let temperature = FIRST_TEMPERATURES[chain];
            Chain { group, steps, rng, order: (0..steps.len()).collect() }.run(links, temperature, evaluations, window)
        });
        for found in chains.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            if best.as_ref().is_none_or(|&(_, least_s)| found.1 < least_s * (1.0 - TOLERANCE)) {
                best = Some(found);
            }
        }
    }
    Ok(best.map(|(topology, cost_s)| (topology.with_found_symmetry(), cost_s)))
}

/// The group that all steps share and subgroups of it, one inside the other, but not Z_n: circulants are known.
fn groups(steps: &[PricedStep]) -> Vec<Translations> {
    let mut groups = Vec::new();
    let Some((first, others)) = steps.split_first() else { return groups };
    let mut group =
        others.iter().fold(first.traffic.symmetry().clone(), |group, step| group.meet(step.traffic.symmetry()));
    while group.orbits() <= MOST_ORBITS {
        let mut digits = group.digits().to_vec();
        if group != Translations::cyclic(group.ranks()) {
            groups.push(group.clone());
        }
        let Some(lowest) = digits.first_mut() else { break };
        let factor = (2..=lowest.radix).find(|factor| lowest.radix.is_multiple_of(*factor)).unwrap_or(lowest.radix);
        lowest.stride *= factor;
        lowest.radix /= factor;
        digits.retain(|digit| digit.radix > 1);
        let Ok(subgroup) = Translations::new(group.ranks(), digits) else { break };
        group = subgroup;
    }
    groups
}

/// Links of one circuit each, one per orbit: a link of k circuits becomes k of these.
fn single_links(topology: &Topology, group: &Translations) -> Vec<(Rank, Rank)> {
    let links = topology.links_under(group).into_iter();
    links.flat_map(|link| (0..link.count).map(move |_| (link.src, link.dst))).collect()
}

/// The links of `ports` random permutations, none with a circuit from a rank to itself.
fn random_links(group: &Translations, ports: u32, rng: &mut ChaCha8Rng) -> Vec<(Rank, Rank)> {
    let (representatives, elements) = (group.representatives(), group.elements());
    let mut links = Vec::new();
    while links.len() < representatives.len() * ports as usize {
        let mut ends = representatives.clone();
        ends.shuffle(rng);
        let mut turned = |&end: &Rank| group.apply(elements[rng.random_range(0..elements.len())], end);
        let drawn: Vec<(Rank, Rank)> = representatives.iter().copied().zip(ends.iter().map(&mut turned)).collect();
        if drawn.iter().all(|(src, dst)| src != dst) {
            links.extend(drawn);
        }
    }
    links
}

/// One run of annealing.
struct Chain<'a> {
    group: &'a Translations,
    steps: &'a [PricedStep<'a>],
    rng: ChaCha8Rng,
    /// The steps, those first whose flows cost most above their estimates: they refuse moves soonest.
    order: Vec<usize>,
}

impl Chain<'_> {
    /// The best that was met, the start included.
    fn run(
        mut self,
        mut links: Vec<(Rank, Rank)>,
        temperature: f64,
        evaluations: u64,
        window: Option<(Instant, Instant)>,
    ) -> Result<Option<Found>> {
        let elements = self.group.elements();
        let mut cost_s = self.cost_below(&links, f64::INFINITY)?.unwrap_or(f64::INFINITY);
        let mut best = (links.clone(), cost_s);
        for evaluation in 0..evaluations {
            interruption::check();
            let mut progress = evaluation as f64 / evaluations as f64;
            if let Some((from, until)) = window {
                let now = Instant::now();
                if now >= until {
                    break;
                }
                let passed = now.saturating_duration_since(from).as_secs_f64();
                progress = progress.max(passed / (until - from).as_secs_f64());
            }
            let Some(moved) = self.moved(&links, &elements) else { continue };
            let temperature = temperature * (LAST_TEMPERATURE / temperature).powf(progress);
            // Accepted with probability exp(−(cost over the current one − 1) / temperature): chance is drawn first, so
            // that the flows are left off as soon as the limit is passed. 1 − u is in (0, 1].
            let chance = 1.0 - self.rng.random::<f64>();
            let limit_s = cost_s * (1.0 - temperature * chance.ln());
            if let Some(moved_s) = self.cost_below(&moved, limit_s)? {
                (links, cost_s) = (moved, moved_s);
                if cost_s < best.1 * (1.0 - TOLERANCE) {
                    best = (links.clone(), cost_s);
                }
            }
        }
        let (links, cost_s) = best;
        Ok(if cost_s.is_finite() { Some((self.topology(&links)?, cost_s)) } else { None })
    }

    /// The links after a random move; `None` for one that changes nothing or joins a rank to itself.
    fn moved(&mut self, links: &[(Rank, Rank)], elements: &[u32]) -> Option<Vec<(Rank, Rank)>> {
        let mut moved = links.to_vec();
        let turn = |rng: &mut ChaCha8Rng, end| self.group.apply(elements[rng.random_range(0..elements.len())], end);
        let (one, other) = (self.rng.random_range(0..links.len()), self.rng.random_range(0..links.len()));
        // With one orbit of ranks or one element there is one kind of move.
        let (least, most) = (u32::from(elements.len() == 1), if self.group.is_transitive() { 0 } else { 2 });
        let kind = self.rng.random_range(least.min(most)..=most);
        if kind > 0 {
            (moved[one].1, moved[other].1) = (links[other].1, links[one].1);
        }
        if kind != 1 {
            moved[one].1 = turn(&mut self.rng, moved[one].1);
        }
        let loops = moved[one].0 == moved[one].1 || moved[other].0 == moved[other].1;
        (!loops && moved != links).then_some(moved)
    }

    /// The cost of the links, if it is below the limit.
    fn cost_below(&mut self, links: &[(Rank, Rank)], limit_s: f64) -> Result<Option<f64>> {
        let network = RoutingNetwork::of(self.topology(links)?);
        let estimates: Option<Vec<f64>> = self.steps.iter().map(|step| step.estimate_s(&network)).collect();
        let Some(mut above) = estimates else { return Ok(None) };
        let mut cost_s: f64 = above.iter().sum();
        for &step in &self.order {
            if cost_s >= limit_s {
                return Ok(None);
            }
            let Some(step_s) = self.steps[step].cost_s(&network) else { return Ok(None) };
            above[step] = step_s - above[step];
            cost_s += above[step];
        }
        self.order.sort_by(|&a, &b| above[b].total_cmp(&above[a]));
        Ok((cost_s < limit_s).then_some(cost_s))
    }

    fn topology(&self, links: &[(Rank, Rank)]) -> Result<Topology> {
        let links = links.iter().map(|&(src, dst)| Link { src, dst, count: 1 });
        Topology::new(NAME.0, self.group.clone(), links)
    }
}
