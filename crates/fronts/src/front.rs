//! Points of hops against load, and the front that they form.

use std::sync::Arc;

use model::Routes;

use crate::{kept_routes::KeptRoutes, quotient::Quotient};

/// Loads closer than this, relative to the larger, count as equal on a front.
pub(crate) const RELATIVE_TOLERANCE: f64 = 1e-9;

/// A routing of the traffic, by what it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Links on the longest path in use.
    pub hops: u32,
    /// Traffic on the busiest link over its circuits; 1 is a transfer of weight 1 on one circuit.
    pub load: f64,
    /// Lower bound on the load of routings of the same kind with paths of at most `hops` links. Equal to
    /// `load` where that is exact by construction, else within the gap that the solver closed (1e-9
    /// relative unless it met its limit on work or those of double precision).
    pub lower: f64,
}

/// The numbers of a pair that are known without routing it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The largest shortest distance over all arcs: the least hops of any routing.
    pub hops: u32,
    /// A lower bound on the load of any routing.
    pub load: f64,
    /// Whether a routing attains `hops` and `load` together, and all three kinds of routing do.
    pub exact: bool,
}

/// Lower bounds that take a few rounds of shortest paths instead of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadBound {
    /// The largest shortest distance over all arcs: the least hops of any routing.
    pub hops: u32,
    /// Lower bound on the load of routings with paths of at most `hops` links.
    pub at_hops: f64,
    /// Lower bound on the load of any routing; at most `at_hops`.
    pub beyond: f64,
}

impl LoadBound {
    /// The cost that no point of the front is below, `hop_cost` and `load_cost` as in [`Front::cheapest`]: either the
    /// hops are the least, or there is one more at least.
    pub fn cheapest(&self, hop_cost: f64, load_cost: f64) -> f64 {
        let shortest = hop_cost * f64::from(self.hops) + load_cost * self.at_hops;
        let longer = hop_cost * f64::from(self.hops + 1) + load_cost * self.beyond;
        shortest.min(longer)
    }
}

/// The Pareto front of a (topology, traffic) pair under one routing: more hops, less load. Equal where all points are.
#[derive(Debug, Clone)]
pub struct Front {
    points: Vec<Point>,
    /// The paths behind the points, where they took long to find.
    routes: Option<Arc<KeptRoutes>>,
}

impl PartialEq for Front {
    fn eq(&self, other: &Self) -> bool {
        self.points == other.points
    }
}

impl Front {
    pub(crate) fn single(point: Point) -> Self {
        Self { points: vec![point], routes: None }
    }

    /// This front, with the paths behind its points.
    pub(crate) fn with_routes(self, routes: KeptRoutes) -> Self {
        Self { routes: Some(Arc::new(routes)), ..self }
    }

    /// The paths of the last point of at most `hops` hops, where they were kept, and that point.
    pub(crate) fn kept_routes(&self, hops: u32, quotient: &Quotient) -> Option<(Routes, Point)> {
        let last = self.points.iter().rposition(|point| point.hops <= hops)?;
        Some((self.routes.as_ref()?.routes(last, quotient), self.points[last]))
    }

    /// Paths of the last point of at most `hops` hops, by representative arcs, where they were kept.
    pub fn kept_paths(&self, hops: u32) -> Option<usize> {
        let last = self.points.iter().rposition(|point| point.hops <= hops)?;
        Some(self.routes.as_ref()?.paths(last))
    }

    /// Adds a point of more hops than all before, unless its load is no lower. Tells whether it was added.
    pub(crate) fn extend(&mut self, point: Point) -> bool {
        let lower = self.points.last().is_none_or(|last| point.load < last.load * (1.0 - RELATIVE_TOLERANCE));
        if lower {
            self.points.push(point);
        }
        lower
    }

    /// The points, hops strictly ascending, load strictly descending; at least one.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The point that costs least, the one of fewest hops among equals.
    ///
    /// `hop_cost` is what a hop costs (δ, in seconds), `load_cost` what a unit of load costs (β·m_i, in
    /// seconds). O(points).
    pub fn cheapest(&self, hop_cost: f64, load_cost: f64) -> Point {
        let cost = |point: &Point| hop_cost * f64::from(point.hops) + load_cost * point.load;
        let mut best = self.points[0];
        for point in &self.points[1..] {
            if cost(point) < cost(&best) {
                best = *point;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn front_of(loads: &[f64]) -> Front {
        let point = |(hops, &load): (usize, &f64)| Point { hops: hops as u32 + 1, load, lower: load };
        let mut points = loads.iter().enumerate().map(point);
        let mut front = Front::single(points.next().unwrap());
        for point in points {
            front.extend(point);
        }
        front
    }

    proptest! {
        #[test]
        fn points_rise_in_hops_and_fall_in_load(loads in prop::collection::vec(0.1f64..10.0, 1..20)) {
            let front = front_of(&loads);
            for pair in front.points().windows(2) {
                prop_assert!(pair[0].hops < pair[1].hops);
                prop_assert!(pair[1].load < pair[0].load);
            }
            prop_assert_eq!(front.points().last().unwrap().load, loads.iter().copied().fold(f64::MAX, f64::min));
        }

        #[test]
        fn the_cheapest_point_is_no_dearer_than_any(
            loads in prop::collection::vec(0.1f64..10.0, 1..20), hop_cost in 0.0f64..2.0, load_cost in 0.0f64..2.0,
        ) {
            let front = front_of(&loads);
            let cost = |point: &Point| hop_cost * f64::from(point.hops) + load_cost * point.load;
            let best = front.cheapest(hop_cost, load_cost);
            for point in front.points() {
                prop_assert!(cost(&best) <= cost(point));
            }
        }
    }

    #[test]
    fn ties_go_to_fewest_hops() {
        let front = front_of(&[3.0, 2.0, 1.0]);
        assert_eq!(front.cheapest(1.0, 1.0).hops, 1);
        assert_eq!(front.cheapest(0.0, 0.0).hops, 1);
        assert_eq!(front.cheapest(0.0, 1.0).hops, 3);
        assert_eq!(front.cheapest(1.0, 0.0).hops, 1);
    }
}
