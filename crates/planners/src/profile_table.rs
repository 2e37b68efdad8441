//! Profiles of every (step pattern, candidate topology) pair, computed when first needed and kept.
//!
//! Nothing here depends on α, β, δ, α_r or m.

use std::sync::{Arc, OnceLock};

use fronts::{Estimate, Front, LoadBound, Point, RoutingNetwork, mirrored_routes};
use interruption::Interruptible;
use model::{Difference, Error, Result, Routes, Routing, Schedule, Topology, Traffic};
use rayon::prelude::*;

use crate::OpticalLimits;
pub(crate) use crate::cutoffs::profile_table::LEAST_MIRRORED_WORK;
use crate::cutoffs::profile_table::MOST_WORK;
use crate::known_networks::KnownNetworks;
use crate::patterns::Patterns;

/// A schedule's distinct step patterns against candidate topologies.
pub struct ProfileTable {
    schedule: Schedule,
    routing: Routing,
    /// Whether fronts under concurrent flow are quick ones ([`RoutingNetwork::quick_front`]).
    pub(crate) has_quick_flows: bool,
    /// Whether routes were given ([`ProfileTable::give_routes`]): no others are looked for.
    has_given_routes: bool,
    patterns: Arc<Patterns>,
    /// By pattern, the first that is its mirror image or itself.
    images: OnceLock<Vec<usize>>,
    /// Shared with the tables of planners that keep some of the candidates.
    networks: Vec<Arc<RoutingNetwork>>,
    /// The topologies that the optical layer can hold; anything where there are no limits.
    limits: Option<Arc<OpticalLimits>>,
    /// By candidate, why the optical layer cannot hold it, or it is left out.
    pub(crate) refusals: Vec<OnceLock<Option<Error>>>,
    estimates: OnceLock<AllEstimates>,
    bounds: Kept<Option<LoadBound>>,
    fronts: Kept<Option<Front>>,
    /// Work on all fronts of a candidate above which each is given a part of it.
    pub(crate) most_work: u64,
    /// By candidate, what is spent on each of its fronts ([`RoutingNetwork::front_within`]); without limit where
    /// `None`.
    pub(crate) work_of_each: Vec<OnceLock<Option<u64>>>,
    /// The points of one hop.
    one_hop: Kept<Option<Point>>,
    pub(crate) differences: OnceLock<Vec<Difference>>,
    pub(crate) background_changes: OnceLock<Vec<(usize, usize, Difference)>>,
}

/// By candidate, then by pattern: most candidates are never looked at closely.
type Kept<T> = Vec<OnceLock<Box<[OnceLock<T>]>>>;

/// Row-major `[pattern][candidate]`.
struct AllEstimates {
    hops: Vec<f64>,
    loads: Vec<f64>,
    exact: Vec<bool>,
}

/// Lower bounds on hops and load, by candidate; infinite where some transfer has no path.
#[derive(Debug, Clone, Copy)]
pub struct Estimates<'a> {
    /// Hops of the longest path, at least.
    pub hops: &'a [f64],
    /// Load of the busiest link, at least.
    pub loads: &'a [f64],
    /// Whether both are attained together.
    pub exact: &'a [bool],
}

impl ProfileTable {
    /// Prepares the candidates; the results of (pattern, candidate) pairs are computed later.
    ///
    /// # Errors
    /// No candidates, or one of another size than the schedule's.
    pub fn new(
        schedule: Schedule,
        candidates: &[Topology],
        routing: Routing,
        limits: Option<Arc<OpticalLimits>>,
    ) -> Result<Self> {
        Self::sharing(&KnownNetworks::default(), schedule, candidates, routing, limits)
    }

    /// [`ProfileTable::new`], where candidates that other tables hold are prepared once for all of them.
    ///
    /// # Errors
    /// The errors of [`ProfileTable::new`].
    pub(crate) fn sharing(
        known: &KnownNetworks,
        schedule: Schedule,
        candidates: &[Topology],
        routing: Routing,
        limits: Option<Arc<OpticalLimits>>,
    ) -> Result<Self> {
        if candidates.is_empty() {
            return Err(Error::value("candidates", "an empty list", "at least one topology"));
        }
        if let Some(other) = candidates.iter().find(|topology| topology.ranks() != schedule.ranks()) {
            return Err(Error::value(
                "candidates",
                format!("`{}` of {} GPUs", other.name(), other.ranks()),
                format!("topologies of {} GPUs", schedule.ranks()),
            ));
        }
        let networks = known.all(candidates);
        let patterns = Arc::new(Patterns::of(&schedule));
        Ok(Self::on_networks(schedule, patterns, networks, routing, limits))
    }

    /// [`ProfileTable::new`] for candidates of the schedule's size that are prepared for routing.
    pub(crate) fn on_networks(
        schedule: Schedule,
        patterns: Arc<Patterns>,
        networks: Vec<Arc<RoutingNetwork>>,
        routing: Routing,
        limits: Option<Arc<OpticalLimits>>,
    ) -> Self {
        let refusals = networks.iter().map(|_| OnceLock::new()).collect();
        let bounds = networks.iter().map(|_| OnceLock::new()).collect();
        let fronts = networks.iter().map(|_| OnceLock::new()).collect();
        let work_of_each = networks.iter().map(|_| OnceLock::new()).collect();
        let one_hop = networks.iter().map(|_| OnceLock::new()).collect();
        Self {
            schedule,
            routing,
            has_quick_flows: false,
            has_given_routes: false,
            patterns,
            images: OnceLock::new(),
            networks,
            limits,
            refusals,
            estimates: OnceLock::new(),
            bounds,
            fronts,
            most_work: MOST_WORK,
            work_of_each,
            one_hop,
            differences: OnceLock::new(),
            background_changes: OnceLock::new(),
        }
    }

    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// How traffic is routed.
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.patterns.of_step.len()
    }

    /// Number of candidates.
    pub fn candidates(&self) -> usize {
        self.networks.len()
    }

    /// The candidate of that index.
    pub fn candidate(&self, index: usize) -> &Topology {
        self.networks[index].topology()
    }

    /// Why no transfer has a path on a candidate: the optical layer cannot hold it, or it is left out.
    pub fn refusal(&self, index: usize) -> Option<&Error> {
        let of_layer = || self.limits.as_ref().and_then(|limits| limits.refusal(self.candidate(index)));
        self.refusals[index].get_or_init(of_layer).as_ref()
    }

    /// The candidate of that index, prepared for routing.
    pub fn network(&self, index: usize) -> &Arc<RoutingNetwork> {
        &self.networks[index]
    }

    /// The candidate with these links.
    pub fn position(&self, topology: &Topology) -> Option<usize> {
        self.networks.iter().position(|network| network.topology().same_links(topology))
    }

    /// Distinct step patterns, in the order of their first use.
    pub fn patterns(&self) -> impl ExactSizeIterator<Item = &Traffic> {
        (0..self.patterns.first_steps.len()).map(|pattern| self.pattern(pattern))
    }

    /// The patterns of a schedule; known already where it is a copy of this one's.
    pub(crate) fn patterns_of(&self, other: &Schedule) -> Arc<Patterns> {
        if self.schedule.shares_steps(other) { self.patterns.clone() } else { Arc::new(Patterns::of(other)) }
    }

    fn pattern(&self, pattern: usize) -> &Traffic {
        self.schedule.steps()[self.patterns.first_steps[pattern]].traffic()
    }

    /// Index of a step's pattern.
    pub fn pattern_of_step(&self, step: usize) -> usize {
        self.patterns.of_step[step]
    }

    /// Estimates without flows of one pattern on every candidate. The first call estimates all pairs, each in O(arcs of
    /// the pattern under the symmetry that it shares with the candidate).
    pub fn estimates(&self, pattern: usize) -> Estimates<'_> {
        let all = self.estimates.get_or_init(|| self.estimate_all());
        let row = pattern * self.networks.len()..(pattern + 1) * self.networks.len();
        Estimates { hops: &all.hops[row.clone()], loads: &all.loads[row.clone()], exact: &all.exact[row] }
    }

    fn estimate_all(&self) -> AllEstimates {
        if self.limits.is_some() {
            (0..self.networks.len()).into_par_iter().interruptible().for_each(|candidate| {
                self.refusal(candidate);
            });
        }
        let pairs = self.patterns.first_steps.len() * self.networks.len();
        let (hops, loads) = (vec![f64::INFINITY; pairs], vec![f64::INFINITY; pairs]);
        let mut all = AllEstimates { hops, loads, exact: vec![true; pairs] };
        let both = (0..self.patterns.first_steps.len()).flat_map(|p| (0..self.networks.len()).map(move |c| (p, c)));
        for (pair, (pattern, candidate)) in both.enumerate() {
            interruption::check();
            if let Some(Estimate { hops, load, exact }) = self.estimate(pattern, candidate) {
                all.hops[pair] = f64::from(hops);
                all.loads[pair] = load;
                all.exact[pair] = exact;
            }
        }
        all
    }

    /// The estimate without flows of one pair, which is not kept; `None` when some transfer has no path.
    pub fn estimate(&self, pattern: usize, candidate: usize) -> Option<Estimate> {
        let held = self.refusal(candidate).is_none();
        held.then(|| self.networks[candidate].estimate(self.pattern(pattern), self.routing)).flatten()
    }

    /// The routes of the last point of a pair's front with at most `hops` hops, and that point; `None` if there is no
    /// such point.
    pub(crate) fn routes(&self, pattern: usize, candidate: usize, hops: u32) -> Option<(Routes, Point)> {
        if self.refusal(candidate).is_some() {
            return None;
        }
        let network = &self.networks[candidate];
        // Over own links there is nothing to find.
        if hops == 1 && !self.has_given_routes {
            return network.routes(self.pattern(pattern), self.routing, hops);
        }
        let (solved, front) = (self.solved_for(pattern, candidate), self.front(pattern, candidate)?);
        let (routes, point) = network.routes_behind(front, self.pattern(solved), self.routing, hops)?;
        Some((if solved == pattern { routes } else { mirrored_routes(routes) }, point))
    }

    /// The pattern whose flow stands for that of a pair: where the flow takes long and the topology is its own mirror
    /// image, the first of two patterns that are each other's.
    pub(crate) fn solved_for(&self, pattern: usize, candidate: usize) -> usize {
        let is_quick = self.has_given_routes || self.front_work(pattern, candidate) < LEAST_MIRRORED_WORK;
        if is_quick || !self.networks[candidate].is_its_mirror_image() {
            return pattern;
        }
        self.images.get_or_init(|| self.patterns.images(&self.schedule))[pattern]
    }

    /// About how many nanoseconds the pair's front takes ([`RoutingNetwork::front_work`]).
    pub(crate) fn front_work(&self, pattern: usize, candidate: usize) -> u64 {
        self.networks[candidate].front_work(self.pattern(pattern), self.routing)
    }

    /// The pair's front, computed on first use; `None` when some transfer has no path.
    pub fn front(&self, pattern: usize, candidate: usize) -> Option<&Front> {
        let pattern = self.solved_for(pattern, candidate);
        self.kept(&self.fronts, pattern, candidate)
            .get_or_init(|| {
                let (network, traffic) = (&self.networks[candidate], self.pattern(pattern));
                if self.refusal(candidate).is_some() {
                    return None;
                }
                match (self.routing, self.work_of_front(candidate)) {
                    (Routing::ConcurrentFlow, _) if self.has_quick_flows => network.quick_front(traffic),
                    (Routing::ConcurrentFlow, Some(work)) => network.front_within(traffic, work),
                    _ => network.front(traffic, self.routing),
                }
            })
            .as_ref()
    }

    /// The point of the pair's front that is cheapest at these seconds a hop and a unit of load; `None` when some
    /// transfer has no path. The front is not solved where its first point is known to be that.
    pub fn cheapest(&self, pattern: usize, candidate: usize, hop_s: f64, load_s: f64) -> Option<Point> {
        let first = self.cheapest_of_one_hop(pattern, candidate, hop_s, load_s);
        first.or_else(|| self.front(pattern, candidate).map(|front| front.cheapest(hop_s, load_s)))
    }

    /// The cheapest point where that is known to be the one of one hop: every transfer has a link of its own, and a hop
    /// more costs more than any routing saves. `None` elsewhere, and where the front costs as little.
    fn cheapest_of_one_hop(&self, pattern: usize, candidate: usize, hop_s: f64, load_s: f64) -> Option<Point> {
        let has_no_flow = self.routing != Routing::ConcurrentFlow || self.has_given_routes;
        if has_no_flow || self.refusal(candidate).is_some() {
            return None;
        }
        let least = self.estimate(pattern, candidate).filter(|least| least.hops == 1)?;
        let traffic = self.pattern(pattern);
        let routed = || self.networks[candidate].routes(traffic, self.routing, 1).map(|(_, point)| point);
        let point = (*self.kept(&self.one_hop, pattern, candidate).get_or_init(routed))?;
        ((point.load - least.load) * load_s < hop_s).then_some(point)
    }

    /// A bound sharper than the pair's estimate, computed on first use; `None` where its front costs as little.
    pub fn load_bound(&self, pattern: usize, candidate: usize) -> Option<&LoadBound> {
        let pattern = self.solved_for(pattern, candidate);
        self.kept(&self.bounds, pattern, candidate)
            .get_or_init(|| {
                // Where fronts are limited, a bound takes longer than they do.
                let takes_long = || self.work_of_front(candidate).is_some();
                let pays = !self.has_quick_flows && self.refusal(candidate).is_none() && !takes_long();
                pays.then(|| self.networks[candidate].load_bound(self.pattern(pattern), self.routing)).flatten()
            })
            .as_ref()
    }

    /// Computes the bounds of these (pattern, candidate) pairs that are not known yet, side by side.
    pub fn compute_bounds(&self, pairs: impl Iterator<Item = (usize, usize)>) {
        let pairs = pairs.map(|(pattern, candidate)| (self.solved_for(pattern, candidate), candidate));
        let unknown = pairs.filter(|&(pattern, candidate)| self.kept(&self.bounds, pattern, candidate).get().is_none());
        side_by_side(unknown.collect(), |(pattern, candidate)| {
            self.load_bound(pattern, candidate);
        });
    }

    /// Computes what [`ProfileTable::cheapest`] needs for these patterns, candidates, and seconds a hop and a unit of
    /// load, side by side.
    pub(crate) fn compute_cheapest(&self, points: impl Iterator<Item = (usize, usize, f64, f64)>) {
        let is_open = |&(pattern, candidate, hop_s, load_s): &(usize, usize, f64, f64)| {
            self.cheapest_of_one_hop(pattern, candidate, hop_s, load_s).is_none()
        };
        self.compute_fronts(points.filter(is_open).map(|(pattern, candidate, ..)| (pattern, candidate)));
    }

    /// Computes the fronts of these (pattern, candidate) pairs that are not known yet, side by side.
    pub fn compute_fronts(&self, pairs: impl Iterator<Item = (usize, usize)>) {
        let pairs = pairs.map(|(pattern, candidate)| (self.solved_for(pattern, candidate), candidate));
        let unknown = pairs.filter(|&(pattern, candidate)| self.kept(&self.fronts, pattern, candidate).get().is_none());
        side_by_side(unknown.collect(), |(pattern, candidate)| {
            self.front(pattern, candidate);
        });
    }

    /// Takes `front` as that of a pair, in place of one that would be looked for; no others are from now on.
    pub(crate) fn keep_front(&mut self, pattern: usize, candidate: usize, front: Option<Front>) {
        self.has_given_routes = true;
        self.kept(&self.fronts, pattern, candidate).get_or_init(|| front);
    }

    /// The pair's front where it is known.
    pub(crate) fn known_front(&self, pattern: usize, candidate: usize) -> Option<&Front> {
        self.kept(&self.fronts, pattern, candidate).get()?.as_ref()
    }

    /// Whether routes were given with the topologies, so that no others are looked for.
    pub(crate) fn has_given_routes(&self) -> bool {
        self.has_given_routes
    }

    /// The place where a pair's result is kept.
    fn kept<'a, T>(&self, by_candidate: &'a Kept<T>, pattern: usize, candidate: usize) -> &'a OnceLock<T> {
        let empty = || self.patterns.first_steps.iter().map(|_| OnceLock::new()).collect();
        &by_candidate[candidate].get_or_init(empty)[pattern]
    }
}

fn side_by_side(mut pairs: Vec<(usize, usize)>, compute: impl Fn((usize, usize)) + Send + Sync) {
    pairs.sort_unstable();
    pairs.dedup();
    // A single one is computed when it is asked for.
    if pairs.len() > 1 {
        pairs.into_par_iter().interruptible().for_each(compute);
    }
}
