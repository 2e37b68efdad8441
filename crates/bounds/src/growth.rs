//! The least that it costs to bring every block from one rank to all n, over all numbers of topologies.
//!
//! The ranks that hold a block are multiplied by 1 + N_k on the k-th topology, of s_k steps with H_k hops together:
//! 1 + N_k ≤ 1 + d + … + d^H_k, H_k ≥ s_k, and bringing it from I ranks to I·(1 + N_k) uses links I·f(s_k, N_k) times
//! at least ([`spreading`](crate::spreading)). So every schedule costs at least the least over all sequences with
//! Π (1 + N_k) ≥ n of
//!
//! Σ_k [ α·s_k + δ·H_k + u·I_k·f(s_k, N_k) ] + change·(K − 1)
//!
//! where u is the price of a use. Blocks need not grow alike: I·f(s, I'/I − 1) is convex in (I, I'), so their mean
//! may stand for them.
//!
//! One use for each new holder makes n − 1 in any case; what is more, I·(f(s, N) − N), depends on the sequence. It is
//! convex and zero for N = 0, so it falls with I where I·(1 + N) is fixed: what is left to do never costs more from
//! more ranks. So a shortest path over I on a grid of equal ratios is below every schedule when a target between two
//! points of the grid costs what the lower one does and counts as the upper one; the last target is n exactly.

use crate::spreading::{ball, least_hops, least_usage, most_steps};
use crate::statement::BoundSegment;

/// Costs of growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GrowthPrices {
    /// A step.
    pub(crate) startup_s: f64,
    /// A hop.
    pub(crate) hop_s: f64,
    /// Time of one block over one link, s.
    pub(crate) use_s: f64,
    /// A change of topology.
    pub(crate) change_s: f64,
    /// Changes of topology at least.
    pub(crate) least_changes: u32,
    /// Whether hops are charged for distance; else one for each step.
    pub(crate) by_distance: bool,
}

/// The cheapest relaxed schedule.
#[derive(Debug, Clone)]
pub(crate) struct Growth {
    pub(crate) segments: Vec<BoundSegment>,
    /// Changes of topology.
    pub(crate) changes: u32,
    /// Uses of links, by each block.
    pub(crate) uses: f64,
}

impl Growth {
    pub(crate) fn steps(&self) -> u32 {
        self.segments.iter().map(|segment| segment.steps).sum()
    }

    pub(crate) fn hops(&self) -> u32 {
        self.segments.iter().map(|segment| segment.hops).sum()
    }
}

/// Grid points for each doubling of the ranks.
const POINTS_PER_DOUBLING: usize = 128;

/// A number of steps on one topology, and what it takes to multiply the ranks by some ratio.
#[derive(Clone, Copy)]
struct Way {
    steps: u32,
    hops: u32,
    latency_s: f64,
    /// Uses of links by each block for each rank that holds it before, but one for each new holder.
    uses: f64,
}

/// The cheapest growth from one of `ranks` to all of them. O(G² + G·S) for G grid points and S numbers of steps.
pub(crate) fn least_growth(ranks: u32, ports: u32, prices: &GrowthPrices) -> Growth {
    let doublings = f64::from(ranks).log2();
    let points = (doublings.ceil() as usize).max(1) * POINTS_PER_DOUBLING;
    let holders: Vec<f64> = (0..=points).map(|point| (doublings * point as f64 / points as f64).exp2()).collect();
    let ways = ways(ranks, ports, prices, &holders);
    let needed_s = if prices.least_changes > 0 { prices.change_s } else { 0.0 };
    let mut chosen: Vec<usize> = ways.iter().map(|ways| ways.len() - 1).collect();
    let mut rest_s = vec![0.0; points + 1];
    let mut next = vec![(0, ways[0][0]); points];
    for from in (0..points).rev() {
        interruption::check();
        let weight = prices.use_s * holders[from];
        let cost = |way: &Way| way.latency_s + weight * way.uses;
        let mut best = (f64::INFINITY, 0, ways[0][0]);
        for (after, &rest_s) in rest_s.iter().enumerate().skip(from + 1) {
            let ratio = if after < points { after - from - 1 } else { points - from };
            let ways = &ways[ratio];
            // Fewer ranks use fewer links, so that the best number of steps only falls.
            let way = &mut chosen[ratio];
            while *way > 0 && cost(&ways[*way - 1]) <= cost(&ways[*way]) {
                *way -= 1;
            }
            // Where one change is needed in any case, a single topology is not the one at the start.
            let changed_s = if (from, after) == (0, points) { needed_s } else { 0.0 };
            let total = cost(&ways[*way]) + prices.change_s + rest_s + changed_s;
            if total < best.0 {
                best = (total, after, ways[*way]);
            }
        }
        rest_s[from] = best.0;
        next[from] = (best.1, best.2);
    }
    let (mut at, mut segments, mut uses) = (0, Vec::new(), f64::from(ranks - 1));
    while at < points {
        let (after, way) = next[at];
        // The ratio of two points of the grid may be slightly above the growth that these hops allow.
        let growth =
            (holders[after] / holders[at]).min(if prices.by_distance { ball(ports, way.hops) } else { f64::INFINITY });
        segments.push(BoundSegment { steps: way.steps, hops: way.hops, growth });
        uses += holders[at] * way.uses;
        at = after;
    }
    let changes = (segments.len() as u32 - 1).max(prices.least_changes);
    Growth { segments, changes, uses }
}

/// For each ratio, the numbers of steps that are best at some weight of uses, fewest first.
fn ways(ranks: u32, ports: u32, prices: &GrowthPrices, ratios: &[f64]) -> Vec<Vec<Way>> {
    let added: Vec<f64> = ratios.iter().map(|ratio| ratio - 1.0).collect();
    let distance: Vec<u32> = ratios.iter().map(|&ratio| least_hops(ports, ratio)).collect();
    let mut all: Vec<Vec<Way>> = vec![Vec::new(); ratios.len()];
    let mut fewer = 0;
    for steps in numbers_of_steps(most_steps(ports, ranks)) {
        // Between two listed numbers: the steps of the fewest, the uses of the most.
        let charged = fewer + 1;
        fewer = steps;
        for (index, usage) in least_usage(ports, steps, &added).into_iter().enumerate() {
            interruption::check();
            let (ways, distance, uses) = (&mut all[index], distance[index], (usage - added[index]).max(0.0));
            let hops = if prices.by_distance { distance.max(charged) } else { charged };
            let latency_s = prices.startup_s * f64::from(charged) + prices.hop_s * f64::from(hops);
            keep_hull(ways, Way { steps: charged, hops, latency_s, uses });
        }
    }
    all
}

/// Adds a way that takes at least as long as those before and uses at most as much, where it is on the lower hull.
fn keep_hull(hull: &mut Vec<Way>, way: Way) {
    if hull.last().is_some_and(|last| way.uses >= last.uses) {
        return;
    }
    while let [.., a, b] = hull[..] {
        // Whether b is nowhere better than both a and the new way.
        if (b.latency_s - a.latency_s) * (b.uses - way.uses) < (way.latency_s - b.latency_s) * (a.uses - b.uses) {
            break;
        }
        hull.pop();
    }
    hull.push(way);
}

/// 1, 2, 3, … to `most`, then by ratio where there are many.
fn numbers_of_steps(most: u32) -> Vec<u32> {
    let mut all = vec![];
    let mut steps = 0;
    while steps < most {
        steps = (steps + 1).max(if steps < 128 { 0 } else { steps + steps / 32 }).min(most);
        all.push(steps);
    }
    all
}
