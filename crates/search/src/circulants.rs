//! All circulant topologies of d ports, and the best of them for the steps of an interval.
//!
//! A circulant joins every rank to those that its d generators are away; generators may be equal, which makes
//! parallel circuits. There are C(n+d−2, d) of them. A lower bound for each comes from the distances of the
//! offsets that the steps ask for: a step's hops are at least the largest, its load at least what its transfers
//! occupy over all circuits. In the order of these bounds flows are solved, until no bound is below what is
//! found: the best circulant is exact under concurrent flow, and few flows are solved.
//!
//! A pattern that is not invariant under Z_n is bounded once more between the two: averaged over Z_n it routes
//! no worse than it does itself, because the circulant looks alike from every rank, and its flow has one source.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::OnceLock;

use fronts::{Front, RoutingNetwork};
use interruption::Interruptible;
use model::{BreadthFirst, Error, Result, Routing, Topology, Traffic, TrafficEntry, Translations, UNREACHABLE};
use rayon::prelude::*;

use crate::PricedStep;
use crate::cutoffs::circulants::MOST_BOUNDS;

/// Circulants of one port less to each of which every generator is added, where there are too many.
const EXTENDED: usize = 64;

/// The circulants of n ranks and d ports, with bounds for every step.
#[derive(Debug)]
pub struct Circulants<'a> {
    ranks: u32,
    ports: u32,
    steps: &'a [PricedStep<'a>],
    patterns: Vec<Pattern<'a>>,
    /// The pattern of each step.
    of_step: Vec<usize>,
    bounds: Bounds,
    exhaustive: bool,
    /// Flows of each circulant, as far as they are solved.
    solved: Vec<OnceLock<Option<Box<Solved>>>>,
}

/// A distinct pattern of the steps.
#[derive(Debug)]
struct Pattern<'a> {
    traffic: &'a Traffic,
    /// Average of the traffic over Z_n, where the traffic is not invariant itself.
    averaged: Option<Traffic>,
    /// Offsets, and what a rank sends over each on average.
    offsets: Vec<(u32, f64)>,
    /// The load of the busiest rank, sent or received.
    node_load: f64,
}

/// Circulants and lower bounds, `[circulant][pattern]`.
#[derive(Debug, Default)]
struct Bounds {
    /// Ascending generators of each circulant.
    generators: Vec<Vec<u32>>,
    /// [`UNREACHABLE`] where some transfer has no path.
    hops: Vec<u32>,
    loads: Vec<f64>,
}

#[derive(Debug)]
struct Solved {
    network: RoutingNetwork,
    /// By pattern; `None` for those that are invariant under Z_n.
    averaged: Vec<OnceLock<Option<Front>>>,
    fronts: Vec<OnceLock<Option<Front>>>,
}

impl<'a> Circulants<'a> {
    /// Bounds for all circulants of `ports` generators and every step, in parallel: O(circulants · n·d), less
    /// where the steps' offsets are near.
    ///
    /// Where there are more than `most`, or more than 2^24 times patterns, as many ports as allow it are taken
    /// exactly, and to each of the 64 circulants of the least bounds every generator is added, port by port; see
    /// [`Circulants::is_exhaustive`].
    ///
    /// # Errors
    /// No steps, no port, a step of another number of ranks, or too many circulants of one port already.
    pub fn new(ranks: u32, ports: u32, steps: &'a [PricedStep<'a>], most: u64) -> Result<Self> {
        if let Some(step) = steps.iter().find(|step| step.traffic.ranks() != ranks) {
            return Err(Error::value(
                "steps",
                format!("a step of {} ranks", step.traffic.ranks()),
                format!("steps of {ranks} ranks"),
            ));
        }
        if steps.is_empty() || ports == 0 {
            return Err(Error::value(
                "steps",
                format!("{} steps on {ports} ports", steps.len()),
                "at least one step and one port",
            ));
        }
        let (mut patterns, mut of_step): (Vec<Pattern>, Vec<usize>) = (Vec::new(), Vec::new());
        for step in steps {
            let known = patterns.iter().position(|pattern| pattern.traffic == step.traffic);
            of_step.push(known.unwrap_or(patterns.len()));
            if known.is_none() {
                patterns.push(Pattern::new(step.traffic)?);
            }
        }
        let limit = most.min(MOST_BOUNDS / patterns.len() as u64);
        let exact = (1..=ports).take_while(|&ports| count(ranks, ports) <= limit).last().ok_or_else(|| {
            Error::value("gpus", ranks, format!("at most {} for {} traffic patterns", limit + 1, patterns.len()))
        })?;
        let mut found = Self {
            ranks,
            ports,
            steps,
            of_step,
            bounds: Bounds::new(multisets(ranks, exact), ranks, &patterns),
            patterns,
            exhaustive: exact == ports,
            solved: Vec::new(),
        };
        for _ in exact..ports {
            found.bounds = Bounds::new(found.with_a_generator_more(), ranks, &found.patterns);
        }
        found.solved = found.bounds.generators.iter().map(|_| OnceLock::new()).collect();
        Ok(found)
    }

    /// The circulants of the least bounds over all steps, each with every generator added.
    fn with_a_generator_more(&self) -> Vec<Vec<u32>> {
        let mut waiting = self.by_bound(0..self.steps.len());
        let promising = std::iter::from_fn(|| waiting.pop()).take(EXTENDED);
        let mut extended = Vec::new();
        for Reverse((_, index)) in promising {
            interruption::check();
            extended.extend((1..self.ranks).map(|added| {
                let mut generators = [&self.bounds.generators[index][..], &[added]].concat();
                generators.sort_unstable();
                generators
            }));
        }
        extended.sort_unstable();
        extended.dedup();
        extended
    }

    /// The steps.
    pub fn steps(&self) -> &'a [PricedStep<'a>] {
        self.steps
    }

    /// Ports per rank d.
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// Whether these are all circulants, so that the best is the best of all.
    pub fn is_exhaustive(&self) -> bool {
        self.exhaustive
    }

    /// The `count` circulants that cost least over the steps of `interval`, and their costs in seconds,
    /// cheapest first; fewer where fewer join all pairs. O(circulants · steps) and the flows
    /// of those whose bound does not exclude them, which are kept for other intervals.
    ///
    /// # Panics
    /// An interval beyond the steps.
    pub fn best(&self, interval: Range<usize>, count: usize) -> Vec<(Topology, f64)> {
        let found = self.best_indices(interval, count);
        found.into_iter().filter_map(|(index, cost_s)| Some((self.topology(index)?.clone(), cost_s))).collect()
    }

    /// The `each` best circulants of every interval of the steps, each once, by generators: what a planner that
    /// chooses by interval may add to its candidates.
    pub fn candidates(&self, each: usize) -> Vec<Topology> {
        let steps = self.steps.len();
        let intervals: Vec<Range<usize>> = (0..steps).flat_map(|i| (i + 1..=steps).map(move |j| i..j)).collect();
        let best = |interval| self.best_indices(interval, each).into_iter().map(|(index, _)| index).collect::<Vec<_>>();
        let mut indices: Vec<usize> = intervals.into_par_iter().interruptible().flat_map_iter(best).collect();
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().filter_map(|index| self.topology(index).cloned()).collect()
    }

    fn best_indices(&self, interval: Range<usize>, count: usize) -> Vec<(usize, f64)> {
        let mut found: Vec<(usize, f64)> = Vec::new();
        let mut waiting = self.by_bound(interval.clone());
        while let Some(Reverse((bound_s, index))) = waiting.pop() {
            interruption::check();
            let worst_s =
                if found.len() < count { f64::INFINITY } else { found.last().map_or(0.0, |&(_, cost_s)| cost_s) };
            if f64::from_bits(bound_s) >= worst_s {
                break;
            }
            let Some(cost_s) = self.cost_below(index, interval.clone(), worst_s) else { continue };
            let at = found.partition_point(|&(other, other_s)| (other_s, other) < (cost_s, index));
            found.insert(at, (index, cost_s));
            found.truncate(count);
        }
        found
    }

    /// Bounds over the steps of `interval`, as bits of numbers that are not negative, and circulants.
    fn by_bound(&self, interval: Range<usize>) -> BinaryHeap<Reverse<(u64, usize)>> {
        let bound_s = |index: usize| interval.clone().map(|step| self.bound_s(index, step)).sum::<Option<f64>>();
        let indices = 0..self.bounds.generators.len();
        indices.filter_map(|index| Some(Reverse((bound_s(index)?.to_bits(), index)))).collect()
    }

    /// No less than this for one step; `None` where some transfer has no path.
    fn bound_s(&self, index: usize, step: usize) -> Option<f64> {
        let at = index * self.patterns.len() + self.of_step[step];
        let hops = self.bounds.hops[at];
        (hops != UNREACHABLE).then(|| self.steps[step].of(hops, self.bounds.loads[at]))
    }

    /// The cost of the circulant over the steps of `interval`, if it is below `limit_s`.
    fn cost_below(&self, index: usize, interval: Range<usize>, limit_s: f64) -> Option<f64> {
        let solved = self.solved(index)?;
        let bound_s = |step: usize| self.bound_s(index, step);
        let averaged_s = |step: usize| match &self.patterns[self.of_step[step]].averaged {
            Some(averaged) => self.flow_s(step, &solved.network, averaged, &solved.averaged),
            None => bound_s(step),
        };
        let flow_s =
            |step| self.flow_s(step, &solved.network, self.patterns[self.of_step[step]].traffic, &solved.fronts);
        // The bounds of the steps are improved one after the other, until they exclude the circulant.
        let mut least_s: f64 = interval.clone().map(bound_s).sum::<Option<f64>>()?;
        for step in interval.clone() {
            least_s += averaged_s(step)? - bound_s(step)?;
            if least_s >= limit_s {
                return None;
            }
        }
        for step in interval.clone() {
            least_s += flow_s(step)? - averaged_s(step)?;
            if least_s >= limit_s {
                return None;
            }
        }
        // Added up as anyone would, without what the differences were rounded by.
        interval.map(flow_s).sum::<Option<f64>>().filter(|&cost_s| cost_s < limit_s)
    }

    /// The cost of a step on the circulant by the flow of its own pattern or of that pattern's average.
    fn flow_s(
        &self,
        step: usize,
        network: &RoutingNetwork,
        traffic: &Traffic,
        known: &[OnceLock<Option<Front>>],
    ) -> Option<f64> {
        let front = known[self.of_step[step]].get_or_init(|| network.front(traffic, Routing::ConcurrentFlow));
        let step = &self.steps[step];
        let point = front.as_ref()?.cheapest(step.hop_s, step.load_s);
        Some(step.of(point.hops, point.load))
    }

    fn topology(&self, index: usize) -> Option<&Topology> {
        Some(self.solved(index)?.network.topology())
    }

    fn solved(&self, index: usize) -> Option<&Solved> {
        let solved = self.solved[index].get_or_init(|| {
            let empty = || self.patterns.iter().map(|_| OnceLock::new()).collect();
            let network = RoutingNetwork::of(Topology::circulant(self.ranks, &self.bounds.generators[index]).ok()?);
            Some(Box::new(Solved { network, averaged: empty(), fronts: empty() }))
        });
        solved.as_deref()
    }
}

impl<'a> Pattern<'a> {
    fn new(traffic: &'a Traffic) -> Result<Self> {
        let (ranks, cyclic) = (traffic.ranks(), Translations::cyclic(traffic.ranks()));
        let invariant = *traffic.symmetry() == cyclic;
        let (arcs, share) =
            if invariant { (traffic.arcs().to_vec(), 1.0) } else { (traffic.expanded(), f64::from(ranks)) };
        let mut by_offset = vec![0.0; ranks as usize];
        for arc in arcs {
            by_offset[((arc.dst + ranks - arc.src) % ranks) as usize] += arc.weight;
        }
        let offsets: Vec<(u32, f64)> = (0..)
            .zip(by_offset)
            .filter(|&(_, weight)| weight > 0.0)
            .map(|(offset, weight)| (offset, weight / share))
            .collect();
        let averaged =
            || Traffic::new(cyclic, offsets.iter().map(|&(dst, weight)| TrafficEntry { src: 0, dst, weight }));
        let averaged = if invariant { None } else { Some(averaged()?) };
        Ok(Self { traffic, averaged, offsets, node_load: traffic.node_load() })
    }
}

impl Bounds {
    fn new(generators: Vec<Vec<u32>>, ranks: u32, patterns: &[Pattern]) -> Self {
        let mut asked = vec![false; ranks as usize];
        patterns.iter().flat_map(|pattern| &pattern.offsets).for_each(|&(offset, _)| asked[offset as usize] = true);
        let count = asked.iter().filter(|&&asked| asked).count();
        let mut hops = vec![UNREACHABLE; generators.len() * patterns.len()];
        let mut loads = vec![f64::INFINITY; hops.len()];
        let rows = hops.par_chunks_mut(patterns.len()).zip(loads.par_chunks_mut(patterns.len()));
        rows.zip(&generators).interruptible().for_each_init(
            || BreadthFirst::new(ranks as usize),
            |search, ((hops, loads), generators)| {
                let heads = |node: u32| {
                    let wrapped = move |head: u32| if head < ranks { head } else { head - ranks };
                    generators.iter().map(move |generator| wrapped(node + generator))
                };
                let mut left = count;
                let distances = search.search_until(0, heads, |offset| {
                    left -= usize::from(asked[offset as usize]);
                    left == 0
                });
                for ((hops, load), pattern) in hops.iter_mut().zip(loads).zip(patterns) {
                    *hops = 0;
                    let mut occupied = 0.0;
                    for &(offset, weight) in &pattern.offsets {
                        let distance = distances[offset as usize];
                        *hops = distance.max(*hops);
                        occupied += weight * f64::from(distance);
                    }
                    *load = occupied.max(pattern.node_load) / generators.len() as f64;
                }
            },
        );
        Self { generators, hops, loads }
    }
}

/// Number of circulants of `ports` generators: C(n+d−2, d).
fn count(ranks: u32, ports: u32) -> u64 {
    let others = u64::from(ranks.saturating_sub(2));
    (1..=u64::from(ports)).fold(1, |count: u64, port| count.saturating_mul(others + port) / port)
}

/// All multisets of `ports` generators 1 … n−1, each ascending, in lexicographic order.
fn multisets(ranks: u32, ports: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..ports {
        let longer = |shorter: Vec<u32>| {
            let least = shorter.last().copied().unwrap_or(1);
            (least..ranks).map(move |generator| [&shorter[..], &[generator]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}
