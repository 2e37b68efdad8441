//! Flows of all pairs through the steps of a way, bytes waiting between steps, so that the busiest links carry little.
//!
//! The sum over steps of the largest load is approximated by Φ = Σₖ ‖loadₖ‖_q. Each round takes the pairs one after
//! another: bytes move from the dearest path of a pair to its cheapest, as many as make both equally dear. The price of
//! a link is the derivative of Φ by its bytes. Whole trees of shortest paths in place of pairs (Frank and Wolfe 1956)
//! take several times as many rounds.

use std::time::Instant;

use model::Rank;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::cheapest::Cheapest;
use super::layers::Layers;
use crate::cutoffs::unequal_waiting::{LEAST_HEAVY, LEAST_PART, MOST_SHIFTS, WORTH_MOVING};
use crate::unequal::demand::Demand;
use crate::unequal::pursuit::is_past;

/// A price of each link, relative to that of the busiest, so that of idle paths the shortest is taken.
const IDLE: f64 = 1e-9;
/// Halvings by which the bytes that move are found.
const HALVINGS: usize = 7;
/// Times in a round that the scales of prices are set anew.
const SCALINGS: usize = 16;
/// Loads below this part of the mean cost next to nothing in the first paths.
const OF_MEAN: f64 = 0.3;

/// Bytes of a pair over some links.
#[derive(Debug, Clone)]
pub(super) struct Path {
    /// The last link first.
    pub(super) links: Vec<u32>,
    /// Bytes over m.
    pub(super) share: f64,
}

/// Paths of every pair and what they put on links.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    pub(super) layers: Layers,
    /// Links of a step that a path may pass, at most.
    pub(super) hops: Vec<u32>,
    /// By pair, `[src · n + dst]`.
    pub(super) paths: Vec<Vec<Path>>,
    /// Bytes over m and circuits, by link.
    loads: Vec<f64>,
    prices: Vec<f64>,
    /// By step, one over the largest load, and the factor of the prices of its links.
    scales: Vec<(f64, f64)>,
    least_scale: f64,
    /// By pair, whether it has a part of the busiest rank's bytes that one path may not hold.
    is_heavy: Vec<bool>,
    /// By link, whether the path to which bytes move has it (1), or that from which they move (−1).
    marks: Vec<i8>,
}

impl Flow {
    /// Every pair on one path, source by source, each over what is cheapest by then; `None` where some pair has none.
    pub(super) fn new(demand: &Demand, layers: Layers, hops: Vec<u32>) -> Option<Self> {
        let ranks = layers.ranks;
        let mut flow = Self::empty(demand, layers, hops);
        let mut cheapest = Cheapest::new(ranks, &flow.hops);
        let mut links = Vec::new();
        for src in 0..ranks {
            interruption::check();
            flow.set_prices(2);
            cheapest.search(&flow.layers, &flow.hops, &flow.prices, src as Rank);
            for (dst, &share) in demand.sent_by(src).iter().enumerate() {
                if dst == src || share == 0.0 {
                    continue;
                }
                if cheapest.prices[dst].is_infinite() {
                    return None;
                }
                cheapest.path(&flow.layers, dst as Rank, &mut links);
                flow.put(&links, share);
                flow.paths[src * ranks + dst].push(Path { links: links.clone(), share });
            }
        }
        Some(flow)
    }

    /// The flow over the paths of another matrix, by pair: each takes the same part of its pair as there. Pairs without
    /// any get some, none longer within a step than the longest of these; `None` where that leaves a pair without a path.
    pub(super) fn on_paths(demand: &Demand, layers: Layers, paths: Vec<Vec<Path>>) -> Option<Self> {
        let mut flow = Self { paths, ..Self::empty(demand, layers, Vec::new()) };
        flow.hops = flow.extents().into_iter().map(|(hops, _)| hops).collect();
        flow.laid(demand)
    }

    /// The flow on the same links within `hops` links of each step: paths that are too long are laid anew. `None` where
    /// some pair has no path.
    pub(super) fn moved(&self, demand: &Demand, hops: Vec<u32>) -> Option<Self> {
        Self { hops, ..self.clone() }.laid(demand)
    }

    /// No paths yet.
    fn empty(demand: &Demand, layers: Layers, hops: Vec<u32>) -> Self {
        let (ranks, links) = (layers.ranks, layers.edges.len());
        let total: f64 = demand.pairs().iter().map(|&(src, dst)| demand.share(src, dst)).sum();
        let mean = total * layers.steps() as f64 / links.max(1) as f64;
        let least_scale = (OF_MEAN * mean / layers.steps() as f64).max(f64::MIN_POSITIVE);
        Self {
            hops,
            paths: vec![Vec::new(); ranks * ranks],
            loads: vec![0.0; links],
            prices: vec![0.0; links],
            scales: vec![(1.0, 1.0); layers.steps()],
            least_scale,
            is_heavy: heavy(demand),
            marks: vec![0; links],
            layers,
        }
    }

    /// The flow with the same parts of every pair on its paths, but for those that are too long, which are laid anew.
    fn laid(self, demand: &Demand) -> Option<Self> {
        let ranks = self.layers.ranks;
        let mut flow = self;
        flow.loads.fill(0.0);
        let mut open: Vec<Vec<(usize, f64)>> = vec![Vec::new(); ranks];
        for (src, open) in open.iter_mut().enumerate() {
            for dst in (0..ranks).filter(|dst| *dst != src) {
                let (pair, share) = (src * ranks + dst, demand.share(src as Rank, dst as Rank));
                let paths = std::mem::take(&mut flow.paths[pair]);
                let before: f64 = paths.iter().map(|path| path.share).sum();
                let mut left = share;
                for path in paths {
                    if share == 0.0 || !flow.fits(&path) {
                        continue;
                    }
                    let part = (path.share / before * share).min(left);
                    left -= part;
                    flow.put(&path.links, part);
                    flow.paths[pair].push(Path { share: part, ..path });
                }
                if left > 1e-9 * share {
                    open.push((dst, left));
                }
            }
        }
        let mut cheapest = Cheapest::new(ranks, &flow.hops);
        let mut links = Vec::new();
        for (src, open) in open.into_iter().enumerate().filter(|(_, open)| !open.is_empty()) {
            interruption::check();
            flow.set_prices(4);
            cheapest.search(&flow.layers, &flow.hops, &flow.prices, src as Rank);
            for (dst, share) in open {
                if cheapest.prices[dst].is_infinite() {
                    return None;
                }
                cheapest.path(&flow.layers, dst as Rank, &mut links);
                flow.put(&links, share);
                flow.paths[src * ranks + dst].push(Path { links: links.clone(), share });
            }
        }
        Some(flow)
    }

    /// Whether a path keeps the limits on hops.
    fn fits(&self, path: &Path) -> bool {
        let steps = path.links.chunk_by(|a, b| self.step(*a) == self.step(*b));
        steps.into_iter().all(|links| links.len() as u32 <= self.hops[self.step(links[0])])
    }

    fn step(&self, link: u32) -> usize {
        self.layers.edges[link as usize].step as usize
    }

    fn put(&mut self, links: &[u32], share: f64) {
        for &link in links {
            self.loads[link as usize] += share * self.layers.edges[link as usize].per_byte;
        }
    }

    /// The price of a byte more on a link of that load.
    fn price(&self, link: usize, load: f64, doublings: u32) -> f64 {
        let edge = &self.layers.edges[link];
        let (scale, factor) = self.scales[edge.step as usize];
        factor * (power_less_one(load * scale, doublings) + IDLE) * edge.per_byte
    }

    fn set_prices(&mut self, doublings: u32) {
        for step in 0..self.layers.steps() {
            let links = self.layers.of_step(step);
            let largest = self.loads[links.clone()].iter().copied().fold(self.least_scale, f64::max);
            let relative = self.loads[links].iter().map(|load| load / largest);
            let sum: f64 = relative.map(|load| power_less_one(load, doublings) * load).sum();
            let power = f64::from(1u32 << doublings);
            self.scales[step] = (1.0 / largest, sum.max(1.0).powf((1.0 - power) / power));
        }
        for link in 0..self.prices.len() {
            self.prices[link] = self.price(link, self.loads[link], doublings);
        }
    }

    /// Rounds, one for each power q = 2^`doublings`, the sources of each in an order of its own; as many as there is
    /// time for.
    pub(super) fn improve(&mut self, powers: &[u32], until: Option<Instant>, random: &mut ChaCha8Rng) {
        let ranks = self.layers.ranks;
        let mut cheapest = Cheapest::new(ranks, &self.hops);
        let mut order: Vec<usize> = (0..ranks).collect();
        let mut links = Vec::new();
        for &doublings in powers {
            order.shuffle(random);
            for (place, &src) in order.iter().enumerate() {
                interruption::check();
                // Prices follow every shift; the scales of steps change little from source to source.
                if place % ranks.div_ceil(SCALINGS) == 0 {
                    if is_past(until) {
                        self.add_up();
                        return;
                    }
                    self.set_prices(doublings);
                }
                cheapest.search(&self.layers, &self.hops, &self.prices, src as Rank);
                for dst in 0..ranks {
                    let pair = src * ranks + dst;
                    if self.paths[pair].is_empty() {
                        continue;
                    }
                    cheapest.path(&self.layers, dst as Rank, &mut links);
                    let mut has_moved = self.shift(pair, &links, doublings);
                    // The bytes of a heavy pair need many paths.
                    for _ in 1..if self.is_heavy[pair] { MOST_SHIFTS } else { 1 } {
                        if !has_moved {
                            break;
                        }
                        cheapest.search(&self.layers, &self.hops, &self.prices, src as Rank);
                        cheapest.path(&self.layers, dst as Rank, &mut links);
                        has_moved = self.shift(pair, &links, doublings);
                    }
                }
            }
            self.add_up();
        }
    }

    /// Moves bytes of a pair from its dearest path to the cheapest of all, `found` among them, and tells whether any
    /// moved.
    fn shift(&mut self, pair: usize, found: &[u32], doublings: u32) -> bool {
        let priced = |links: &[u32]| links.iter().map(|&link| self.prices[link as usize]).sum::<f64>();
        let mut least = priced(found);
        let mut paths = std::mem::take(&mut self.paths[pair]);
        let (mut dearest, mut most, mut to) = (0, f64::NEG_INFINITY, None);
        for (place, path) in paths.iter().enumerate() {
            let price = priced(&path.links);
            if price > most {
                (dearest, most) = (place, price);
            }
            if price <= least * (1.0 + 1e-12) {
                (least, to) = (price, Some(place));
            }
        }
        if to == Some(dearest) || most - least < WORTH_MOVING * most {
            self.paths[pair] = paths;
            return false;
        }
        let to = to.unwrap_or_else(|| {
            paths.push(Path { links: found.to_vec(), share: 0.0 });
            paths.len() - 1
        });
        let pair_share: f64 = paths.iter().map(|path| path.share).sum();
        let all = paths[dearest].share;
        let mut moved = self.best_part(&paths[dearest].links, &paths[to].links, all, doublings) * all;
        if all - moved < LEAST_PART * pair_share {
            moved = all;
        } else if paths[to].share + moved < LEAST_PART * pair_share {
            moved = 0.0;
        }
        for (place, share) in [(dearest, -moved), (to, moved)] {
            paths[place].share += share;
            for &link in &paths[place].links {
                let link = link as usize;
                self.loads[link] = (self.loads[link] + share * self.layers.edges[link].per_byte).max(0.0);
                self.prices[link] = self.price(link, self.loads[link], doublings);
            }
        }
        // All of a path has moved, or nothing to the new one.
        if moved == all {
            paths.swap_remove(dearest);
        } else if paths[to].share == 0.0 {
            paths.swap_remove(to);
        }
        self.paths[pair] = paths;
        moved > 0.0
    }

    /// The part of `share` bytes that makes both paths equally dear.
    fn best_part(&mut self, from: &[u32], to: &[u32], share: f64, doublings: u32) -> f64 {
        to.iter().for_each(|&link| self.marks[link as usize] += 1);
        from.iter().for_each(|&link| self.marks[link as usize] -= 1);
        let (mut low, mut part) = (0.0, 1.0);
        let mut width = 1.0;
        for halving in 0..HALVINGS {
            let bytes = part * share;
            let load =
                |link: usize, sign: f64| (self.loads[link] + sign * bytes * self.layers.edges[link].per_byte).max(0.0);
            let gained = to.iter().map(|&link| link as usize).filter(|&link| self.marks[link] > 0);
            let gained: f64 = gained.map(|link| self.price(link, load(link, 1.0), doublings)).sum();
            let lost = from.iter().map(|&link| link as usize).filter(|&link| self.marks[link] < 0);
            let lost: f64 = lost.map(|link| self.price(link, load(link, -1.0), doublings)).sum();
            if gained <= lost {
                low = part;
                if halving == 0 {
                    break;
                }
            }
            width *= 0.5;
            part = low + width;
        }
        from.iter().chain(to).for_each(|&link| self.marks[link as usize] = 0);
        low
    }

    /// The loads added up again, without what rounding left.
    fn add_up(&mut self) {
        self.loads.fill(0.0);
        for path in self.paths.iter().flatten() {
            for &link in &path.links {
                self.loads[link as usize] += path.share * self.layers.edges[link as usize].per_byte;
            }
        }
    }

    /// By step, the links of the longest path in use, and the largest load over m.
    pub(super) fn extents(&self) -> Vec<(u32, f64)> {
        let mut extents = vec![(0, 0.0); self.layers.steps()];
        for (link, &load) in self.loads.iter().enumerate() {
            let extent: &mut (u32, f64) = &mut extents[self.layers.edges[link].step as usize];
            extent.1 = extent.1.max(load);
        }
        for path in self.paths.iter().flatten() {
            for links in path.links.chunk_by(|a, b| self.step(*a) == self.step(*b)) {
                let extent = &mut extents[self.step(links[0])];
                extent.0 = extent.0.max(links.len() as u32);
            }
        }
        extents
    }
}

/// By pair, whether it has a large part of what the busiest rank sends or receives.
fn heavy(demand: &Demand) -> Vec<bool> {
    let ranks = demand.ranks();
    let least = LEAST_HEAVY * demand.busiest();
    (0..ranks * ranks).map(|pair| demand.share((pair / ranks) as Rank, (pair % ranks) as Rank) >= least).collect()
}

/// x^(q − 1) for q = 2^`doublings`: x · x² · x⁴ · …
fn power_less_one(mut base: f64, doublings: u32) -> f64 {
    let mut product = 1.0;
    for _ in 0..doublings {
        product *= base;
        base *= base;
    }
    product
}
