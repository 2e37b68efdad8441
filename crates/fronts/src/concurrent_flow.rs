//! Maximum concurrent flow with paths of at most h hops, for every h at which the load falls.
//!
//! For a hop limit h the dual of the path program (Garg and Könemann 2007, §2) is
//! max over prices y ≥ 0, Σ_o y_o = 1, of Σ_a w_a·dist_a(y/capacity, h). Column generation closes both ends:
//! the restricted master gives a routing, whose load is an upper bound, and prices, whose shortest paths of
//! at most h hops give a lower bound and the paths to add. Going up in h keeps the basis warm, and the
//! prices tell the next h at which any path could help, so hop limits between points cost nothing. The master is solved
//! by a simplex, or by a primal-dual method where that would take too long (`effort`).

use model::Routes;

use crate::{
    effort::{Effort, LEAST_COSTLY_ORBITS},
    front::{Front, Point},
    kept_routes::KeptRoutes,
    path_pool::PathPool,
    primal_dual::PrimalDual,
    quotient::{Distance, Quotient},
    restricted_master::RestrictedMaster,
};

/// Pivots between searches for shorter paths: solving to the end on the paths at hand takes more pivots in all.
const PIVOTS_PER_ROUND: usize = 100;
/// The primal-dual method looks for shorter paths when the gap over the paths at hand is this part of the gap over all.
const PART_OF_GAP: f64 = 0.3;

/// The front of the pair, with the routes of its points where it was costly. `hops`: the largest shortest distance of
/// its arcs, all of which have a path.
pub(crate) fn front(quotient: &Quotient, distance: impl Distance, hops: u32, effort: Effort) -> Front {
    let (front, flow, shares) = solve(quotient, distance, hops, None, effort);
    if quotient.adjacency.capacities.len() < LEAST_COSTLY_ORBITS {
        return front;
    }
    front.with_routes(KeptRoutes::new(flow.pool.paths(), &shares))
}

/// The routes of the front's last point with at most `limit` ≥ `hops` hops.
pub(crate) fn routes(
    quotient: &Quotient,
    distance: impl Distance,
    hops: u32,
    limit: u32,
    effort: Effort,
) -> (Routes, Point) {
    let (front, flow, shares) = solve(quotient, distance, hops, Some(limit), effort);
    let last = front.points().len() - 1;
    (KeptRoutes::new(flow.pool.paths(), &shares).routes(last, quotient), front.points()[last])
}

/// (path, share) of every path that a point uses.
type Shares = Vec<(u32, f64)>;

/// The points up to a hop limit, with their shares.
fn solve<D: Distance>(
    quotient: &Quotient,
    distance: D,
    hops: u32,
    limit: Option<u32>,
    effort: Effort,
) -> (Front, ConcurrentFlow<'_, D>, Vec<Shares>) {
    let mut flow = ConcurrentFlow::new(quotient, distance, hops, effort);
    let (point, first) = flow.optimise();
    let (mut front, mut shares) = (Front::single(point), vec![first]);
    while limit.is_none_or(|limit| flow.pool.hops < limit)
        && flow.work() < effort.work_of_front
        && let Some(next) = flow.next_hops().filter(|&next| limit.is_none_or(|limit| next <= limit))
    {
        flow.pool.hops = next;
        let (point, better) = flow.optimise();
        if front.extend(point) {
            shares.push(better);
        }
    }
    (front, flow, shares)
}

/// The method that holds the columns and finds their shares.
enum Method {
    Simplex(Box<RestrictedMaster>),
    PrimalDual(Box<PrimalDual>),
}

struct ConcurrentFlow<'a, D> {
    quotient: &'a Quotient,
    pool: PathPool<'a, D>,
    method: Method,
    /// Load at the current hop limit, in units, and what is left between it and the bound.
    load: f64,
    gap: f64,
    effort: Effort,
}

impl<'a, D: Distance> ConcurrentFlow<'a, D> {
    fn new(quotient: &'a Quotient, distance: D, hops: u32, effort: Effort) -> Self {
        let (pool, columns) = PathPool::new(quotient, distance, hops);
        let rows = quotient.adjacency.capacities.len();
        let method = if effort.pivots == 0 {
            Method::PrimalDual(Box::new(PrimalDual::new(rows, columns)))
        } else {
            Method::Simplex(Box::new(RestrictedMaster::new(rows, columns)))
        };
        Self { quotient, pool, method, load: 0.0, gap: 0.0, effort }
    }

    /// The least load at the current hop limit, and the shares of the paths that attain it.
    fn optimise(&mut self) -> (Point, Shares) {
        let solved = match &mut self.method {
            Method::Simplex(_) => self.by_simplex(),
            Method::PrimalDual(_) => None,
        };
        let (load, lower, shares) = solved.unwrap_or_else(|| self.by_primal_dual());
        (self.load, self.gap) = (load, (load - lower).max(0.0));
        let (hops, unit) = (self.pool.hops, self.pool.unit());
        (Point { hops, load: load * unit, lower: lower.min(load) * unit }, shares)
    }

    /// Load, bound and shares; `None` where that takes too many pivots.
    fn by_simplex(&mut self) -> Option<(f64, f64, Shares)> {
        let Method::Simplex(master) = &mut self.method else { return None };
        let mut tolerance = self.effort.gap * self.pool.weights().iter().sum::<f64>();
        while master.pivots() < self.effort.pivots {
            let solved = master.solve(tolerance, PIVOTS_PER_ROUND);
            let shares = master.shares();
            let load = master.loads(&shares).into_iter().fold(0.0, f64::max);
            tolerance = self.effort.gap * load / self.quotient.arcs.len() as f64;
            let prices = master.prices();
            let keys = (0..self.quotient.arcs.len()).map(|arc| master.key_length(arc, &prices)).collect();
            let (lengths, keys) = per_weight(&prices, keys, self.quotient, &self.pool);
            let (lower, columns) = self.pool.price(&lengths, &keys, tolerance);
            if (solved && columns.is_empty()) || load - lower <= self.effort.gap * load {
                columns.into_iter().for_each(|column| master.add(column));
                return Some((load, lower, shares));
            }
            columns.into_iter().for_each(|column| master.add(column));
        }
        let rows = self.quotient.adjacency.capacities.len();
        let mut columns = master.take_columns().into_iter();
        let mut method = PrimalDual::new(rows, columns.by_ref().take(self.quotient.arcs.len()).collect());
        columns.for_each(|column| method.add(column));
        self.method = Method::PrimalDual(Box::new(method));
        None
    }

    /// Load, bound and shares, as near each other as the effort allows.
    fn by_primal_dual(&mut self) -> (f64, f64, Shares) {
        let (mut load, mut lower, mut best) = (f64::INFINITY, 0.0, Vec::new());
        let Method::PrimalDual(method) = &mut self.method else { return (load, lower, Vec::new()) };
        let (gap, end) = (self.effort.gap, method.work() + self.pool.searched() + self.effort.work);
        let start = self.pool.spread();
        lower = f64::max(lower, start.bound);
        start.columns.into_iter().for_each(|column| method.add(column));
        method.start_from(&start.shares, start.prices);
        let mut target = f64::INFINITY;
        loop {
            let left = end.saturating_sub(method.work() + self.pool.searched());
            let sides = method.improve(target, left);
            if sides.load < load {
                (load, best) = (sides.load, method.shares());
            }
            let (lengths, keys) = per_weight(method.prices(), method.shortest(), self.quotient, &self.pool);
            let (bound, columns) = self.pool.price(&lengths, &keys, 0.0);
            lower = lower.max(bound);
            let converged = columns.is_empty() && sides.load - sides.bound <= gap * load;
            let is_new = !columns.is_empty();
            columns.into_iter().for_each(|column| method.add(column));
            if is_new {
                method.join();
            }
            if load - lower <= gap * load || left == 0 || converged {
                break;
            }
            target = (PART_OF_GAP * (load - lower)).max(gap * load / 2.0);
        }
        (load, lower, (0..).zip(best).filter(|&(_, share)| share > 0.0).collect())
    }

    /// The work of the primal-dual method and of all searches so far.
    fn work(&self) -> usize {
        let method = match &self.method {
            Method::Simplex(_) => 0,
            Method::PrimalDual(method) => method.work(),
        };
        method + self.pool.searched()
    }

    fn next_hops(&mut self) -> Option<u32> {
        let (prices, keys) = match &self.method {
            Method::Simplex(master) => {
                let prices = master.prices();
                let keys = (0..self.quotient.arcs.len()).map(|arc| master.key_length(arc, &prices)).collect();
                (prices, keys)
            }
            Method::PrimalDual(method) => (method.prices().to_vec(), method.shortest()),
        };
        let (lengths, keys) = per_weight(&prices, keys, self.quotient, &self.pool);
        let least_gain = self.gap.max(self.effort.gap * self.load);
        self.pool.next_hops(&lengths, &keys, self.load, least_gain, self.effort.hops_ahead)
    }
}

/// Lengths of links under prices of their orbits, and lengths of paths of the arcs, both per weight.
fn per_weight(
    prices: &[f64],
    keys: Vec<f64>,
    quotient: &Quotient,
    pool: &PathPool<'_, impl Distance>,
) -> (Vec<f64>, Vec<f64>) {
    let links = prices.iter().zip(&quotient.adjacency.capacities);
    let keys = keys.into_iter().zip(pool.weights());
    (links.map(|(price, capacity)| price / capacity).collect(), keys.map(|(key, weight)| key / weight).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{RoutingNetwork, quotient::Adjacency};
    use model::{Link, Topology, Traffic, TrafficEntry, Translations};
    use proptest::prelude::*;

    const SIMPLEX: Effort =
        Effort { gap: 1e-10, pivots: usize::MAX, work: 0, work_of_front: usize::MAX, hops_ahead: u32::MAX };
    const PRIMAL_DUAL: Effort =
        Effort { gap: 1e-9, pivots: 0, work: 1 << 24, work_of_front: usize::MAX, hops_ahead: u32::MAX };
    const ALMOST_NOTHING: Effort =
        Effort { gap: 1e-10, pivots: 0, work: 1, work_of_front: usize::MAX, hops_ahead: u32::MAX };

    proptest! {
        #[test]
        fn both_methods_find_the_same_front(
            ranks in 3u32..10, ring in prop::bool::ANY,
            links in prop::collection::vec((0u32..10, 0u32..10, 1u32..4), 0..40),
            arcs in prop::collection::vec((0u32..10, 0u32..10, 1u32..5), 1..16),
        ) {
            let group = if ring { Translations::cyclic(ranks) } else { Translations::trivial(ranks) };
            // With a ring all pairs have a path.
            let links = links.iter().map(|&(a, b, count)| Link { src: a % ranks, dst: b % ranks, count });
            let links = links.chain((0..ranks).map(|rank| Link { src: rank, dst: (rank + 1) % ranks, count: 1 }));
            let topology = Topology::new("random", group.clone(), links.filter(|link| link.src != link.dst)).unwrap();
            let arcs = arcs.iter().map(|&(a, b, w)| TrafficEntry { src: a % ranks, dst: b % ranks, weight: f64::from(w) });
            let Ok(traffic) = Traffic::new(group.clone(), arcs.filter(|arc| arc.src != arc.dst)) else { return Ok(()) };
            if traffic.arcs().is_empty() { return Ok(()) }
            let own = Arc::new(Adjacency::new(&topology));
            let quotient = Quotient::new(&topology, &own, &traffic);
            let network = RoutingNetwork::new(&topology);
            let distance = |src, dst| network.distance(src, dst);
            let hops = PathPool::new(&quotient, distance, ranks).0.paths().iter().map(|(_, nodes)| nodes.len() as u32 - 1).max().unwrap();
            let exact = front(&quotient, distance, hops, SIMPLEX);
            let other = front(&quotient, distance, hops, PRIMAL_DUAL);
            let rough = front(&quotient, distance, hops, ALMOST_NOTHING);
            for point in exact.points() {
                // Points that lower the load by less than the tolerance may be left out.
                let same = other.points().iter().rfind(|other| other.hops <= point.hops).unwrap();
                prop_assert!((same.load - point.load).abs() <= 1e-8 * point.load, "{same:?} and {point:?}");
                prop_assert!(same.lower <= point.load * (1.0 + 1e-12));
            }
            for point in rough.points() {
                let best = exact.points().iter().rfind(|exact| exact.hops <= point.hops).unwrap();
                prop_assert!(point.lower <= best.load * (1.0 + 1e-12) && best.load <= point.load * (1.0 + 1e-12));
            }
        }
    }
}
