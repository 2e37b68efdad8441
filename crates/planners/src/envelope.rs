//! The least of linear functions at many points, by few searches.
//!
//! A planner that takes the least of a fixed set of sums, each linear in α, δ, β·m and α_r, is a concave function T of
//! these four. Where one of the sums is as little as T at all corners of a box, it is so at every point of the box:
//! T there is at least the weighted mean of T at the corners, which is the sum's value, and at most that value. More
//! generally where two sums p, q attain T at the corners: the part of the box with p ≤ q is a polytope, whose corners
//! are corners of the box and points of its edges with p = q. Where T is p at all of these, it is p all over the part,
//! and likewise q on the other.
//!
//! So a search at few corners serves all points of a box; other boxes are halved at the median of their points. (For
//! one parameter this is Eisner and Severance 1976.)
//!
//! A point gets what a search of its own finds. Its time is priced as a plan's is, not taken from the linear function;
//! where several sums are the least but for rounding, or changes are free, so that which of the equally fast plans is
//! taken depends on the search, it is searched. Boxes are looked at generation by generation, in the order of the
//! points, so that the number of threads does not show.

use std::collections::BTreeMap;

use interruption::Interruptible;
use model::Result;
use rayon::prelude::*;

use crate::sequence_cost::SequenceCost;
use crate::{Choice, LinearCost, OperatingPoint, ties};

/// Sums that differ relatively by less are both the least.
const ROUNDING: f64 = 1e-13;

/// Points priced at once.
const PRICED_AT_ONCE: usize = 4096;

/// A choice that is the fastest in some part of the space.
#[derive(Clone)]
pub struct Piece {
    /// Completion time of the plan as a function of the operating point.
    pub plane: LinearCost,
    /// A choice that takes this time, found at a point where it is the fastest.
    pub choice: Choice,
    cost: SequenceCost,
}

/// The fastest choices, and at which points each is the fastest.
pub struct Envelope {
    /// All pieces that were found.
    pub pieces: Vec<Piece>,
    /// Index of each point's piece.
    pub of_point: Vec<usize>,
    /// Number of searches that were made.
    pub searches: usize,
    /// Completion time of the points that were searched themselves, s; NaN elsewhere.
    searched_s: Vec<f64>,
}

impl Envelope {
    /// The least at every point, where `search` takes the least of a fixed set of sums.
    ///
    /// # Errors
    /// The first that `search` returns.
    pub fn of(points: &[OperatingPoint], search: impl Fn(&OperatingPoint) -> Result<Choice> + Sync) -> Result<Self> {
        let mut known = PieceSearch {
            search,
            places: BTreeMap::new(),
            index: BTreeMap::new(),
            pieces: Vec::new(),
            searched: Vec::new(),
        };
        let mut of_point = vec![0; points.len()];
        let is_free = |point: &usize| points[*point].reconfiguration_delay_s == 0.0;
        let (free, charged): (Vec<usize>, Vec<usize>) = (0..points.len()).partition(is_free);
        known.search_points(points, &free, &mut of_point)?;
        let mut regions = vec![charged];
        regions.retain(|region| !region.is_empty());
        while !regions.is_empty() {
            regions = known.settle(points, regions, &mut of_point)?;
        }
        let mut searched_s = vec![f64::NAN; points.len()];
        for &point in &known.searched {
            searched_s[point] = known.searched_s(&points[point]);
        }
        Ok(Self { pieces: known.pieces, of_point, searches: known.places.len(), searched_s })
    }

    /// Completion time (s) and number of reconfigurations at every point; `points` are the envelope's own.
    pub fn times(&self, points: &[OperatingPoint]) -> Vec<(f64, u32)> {
        let mut priced = vec![Vec::new(); self.pieces.len()];
        for (point, searched_s) in self.searched_s.iter().enumerate() {
            if searched_s.is_nan() {
                priced[self.of_point[point]].push(point);
            }
        }
        let parts: Vec<(usize, &[usize])> = priced
            .iter()
            .enumerate()
            .flat_map(|(piece, of)| of.chunks(PRICED_AT_ONCE).map(move |some| (piece, some)))
            .collect();
        let price = |&(piece, some): &(usize, &[usize])| {
            let some: Vec<&OperatingPoint> = some.iter().map(|&point| &points[point]).collect();
            self.pieces[piece].cost.times_s(&some)
        };
        let times_s: Vec<Vec<f64>> = parts.par_iter().interruptible().map(price).collect();
        let mut total_s = self.searched_s.clone();
        for ((_, some), times_s) in parts.iter().zip(times_s) {
            some.iter().zip(times_s).for_each(|(&point, time_s)| total_s[point] = time_s);
        }
        let changes: Vec<u32> = self.pieces.iter().map(|piece| piece.choice.reconfigurations() as u32).collect();
        total_s.into_iter().zip(&self.of_point).map(|(time_s, &piece)| (time_s, changes[piece])).collect()
    }
}

/// The state of the search.
struct PieceSearch<S> {
    search: S,
    /// The result at each place that was searched, by the bits of its coordinates.
    places: BTreeMap<[u64; 4], Found>,
    /// Pieces by plane and by what they are called.
    index: BTreeMap<([u64; 5], &'static str, String, usize), usize>,
    pieces: Vec<Piece>,
    /// Points that were searched themselves.
    searched: Vec<usize>,
}

/// The result of a search.
struct Found {
    at: OperatingPoint,
    piece: usize,
    total_s: f64,
}

impl<S: Fn(&OperatingPoint) -> Result<Choice> + Sync> PieceSearch<S> {
    /// Says on which piece the points of these regions are, as far as it is clear, and cuts the other regions.
    fn settle(
        &mut self,
        points: &[OperatingPoint],
        regions: Vec<Vec<usize>>,
        of_point: &mut [usize],
    ) -> Result<Vec<Vec<usize>>> {
        let extents: Vec<Extent> = regions.iter().map(|region| Extent::around(points, region)).collect();
        self.search_all(extents.iter().flat_map(Extent::corners))?;
        // Regions on two pieces wait for the searches on their edges.
        let mut doubtful = Vec::new();
        // Points that are searched themselves: where pieces tie, and the corners, which were.
        let mut alone = Vec::new();
        let mut on_two = Vec::new();
        for (region, around) in regions.into_iter().zip(extents) {
            interruption::check();
            let found = self.at_corners(&around);
            if let Some(piece) = self.on_one(&around, &found) {
                for point in region {
                    of_point[point] = piece;
                    if self.is_tied(piece, &found, &points[point]) || around.has_corner(&points[point]) {
                        alone.push(point);
                    }
                }
            } else if let [one, other] = found[..] {
                on_two.push((self.edges_between(&around, one, other), [one, other], region, around));
            } else {
                doubtful.push((region, around));
            }
        }
        self.search_all(on_two.iter().flat_map(|(edges, ..)| edges.iter().copied()))?;
        for (edges, [one, other], region, around) in on_two {
            interruption::check();
            if edges.iter().all(|at| self.is_least(one, at) && self.is_least(other, at)) {
                for point in region {
                    let piece = self.lesser(one, other, &points[point]);
                    of_point[point] = piece;
                    if self.is_tied(piece, &[one, other], &points[point]) || around.has_corner(&points[point]) {
                        alone.push(point);
                    }
                }
            } else {
                doubtful.push((region, around));
            }
        }
        self.search_points(points, &alone, of_point)?;
        Ok(doubtful.into_iter().flat_map(|(region, around)| self.cut(points, region, &around)).collect())
    }

    /// Searches points themselves.
    fn search_points(&mut self, points: &[OperatingPoint], some: &[usize], of_point: &mut [usize]) -> Result<()> {
        self.search_all(some.iter().map(|&point| points[point]))?;
        some.iter().for_each(|&point| of_point[point] = self.found(&points[point]));
        self.searched.extend_from_slice(some);
        Ok(())
    }

    /// Searches the places that were not searched before, side by side.
    fn search_all(&mut self, places: impl Iterator<Item = OperatingPoint>) -> Result<()> {
        let mut new: BTreeMap<[u64; 4], OperatingPoint> = BTreeMap::new();
        for place in places {
            let key = key(&place);
            if !self.places.contains_key(&key) {
                new.entry(key).or_insert(place);
            }
        }
        let search = &self.search;
        let one = |(key, place): (&[u64; 4], &OperatingPoint)| {
            let choice = search(place)?;
            let (plane, cost) = (LinearCost::of(&choice)?, SequenceCost::of(&choice)?);
            Ok((*key, *place, Piece { plane, choice, cost }))
        };
        let found: Vec<([u64; 4], OperatingPoint, Piece)> =
            new.par_iter().interruptible().map(one).collect::<Result<_>>()?;
        for (key, at, piece) in found {
            let choice = &piece.choice;
            let total_s = choice.total_s;
            let algorithm = choice.problem.schedule().algorithm().to_string();
            let name = (piece.plane.bits(), choice.planner, algorithm, choice.reconfigurations());
            let next = self.pieces.len();
            let index = *self.index.entry(name).or_insert(next);
            if index == next {
                self.pieces.push(piece);
            }
            self.places.insert(key, Found { at, piece: index, total_s });
        }
        Ok(())
    }

    /// The piece that was found at a place that was searched.
    fn found(&self, place: &OperatingPoint) -> usize {
        self.places[&key(place)].piece
    }

    /// The time that a search of the point itself found, s; NaN where it was not searched.
    fn searched_s(&self, point: &OperatingPoint) -> f64 {
        self.places.get(&key(point)).filter(|found| found.at == *point).map_or(f64::NAN, |found| found.total_s)
    }

    /// Whether another of some pieces is as little as `piece` at a point but for rounding.
    fn is_tied(&self, piece: usize, some: &[usize], at: &OperatingPoint) -> bool {
        let time_s = self.time_s(piece, at);
        some.iter().any(|&other| other != piece && ties::within(self.time_s(other, at), time_s))
    }

    fn time_s(&self, piece: usize, place: &OperatingPoint) -> f64 {
        self.pieces[piece].plane.time_s(place.coordinates())
    }

    /// Whether a piece is the least at a place that was searched.
    fn is_least(&self, piece: usize, place: &OperatingPoint) -> bool {
        self.time_s(piece, place) <= self.time_s(self.found(place), place) * (1.0 + ROUNDING)
    }

    /// The piece that takes less at a point; of equals the one of fewer changes.
    fn lesser(&self, one: usize, other: usize, at: &OperatingPoint) -> usize {
        let rank = |piece: usize| (self.time_s(piece, at), self.pieces[piece].plane.changes());
        if rank(other) < rank(one) { other } else { one }
    }

    /// The pieces that were found at the corners, by index.
    fn at_corners(&self, around: &Extent) -> Vec<usize> {
        let mut found: Vec<usize> = around.corners().map(|corner| self.found(&corner)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The piece that is the least at all corners; among several, the piece with the fewest changes.
    fn on_one(&self, around: &Extent, found: &[usize]) -> Option<usize> {
        if let [piece] = found {
            return Some(*piece);
        }
        let all = found.iter().copied().filter(|&piece| around.corners().all(|corner| self.is_least(piece, &corner)));
        all.min_by(|&a, &b| self.pieces[a].plane.changes().total_cmp(&self.pieces[b].plane.changes()))
    }

    /// The points on the edges of the region `around` at which the pieces `one` and `other` take equally long.
    fn edges_between(&self, around: &Extent, one: usize, other: usize) -> Vec<OperatingPoint> {
        let apart_s = |at: &OperatingPoint| self.time_s(one, at) - self.time_s(other, at);
        let crossing = |(from, to, dimension): (OperatingPoint, OperatingPoint, usize)| {
            let (from_s, to_s) = (apart_s(&from), apart_s(&to));
            let crosses = (from_s < 0.0 && to_s > 0.0) || (from_s > 0.0 && to_s < 0.0);
            crosses.then(|| between(&from, &to, dimension, from_s / (from_s - to_s)))
        };
        around.edges().filter_map(crossing).collect()
    }

    /// Two halves of the region, or its single points where it has hardly more of them than corners.
    fn cut(&self, points: &[OperatingPoint], region: Vec<usize>, around: &Extent) -> Vec<Vec<usize>> {
        if region.len() <= 2 << around.varying.len() {
            return region.into_iter().map(|point| vec![point]).collect();
        }
        let Some(dimension) = self.most_changing(around) else { return vec![region] };
        let value = |point: usize| points[point].coordinate(dimension);
        let mut values: Vec<f64> = region.iter().map(|&point| value(point)).collect();
        let middle = values.len() / 2;
        let median = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
        let least = around.low.coordinate(dimension);
        // Both halves have points: the least value is on one side, the largest on the other.
        let is_low = |point: &usize| if median > least { value(*point) < median } else { value(*point) <= least };
        let (low, high) = region.into_iter().partition(is_low);
        vec![low, high]
    }

    /// The dimension along which most edges lead from one piece to another; of several the one that spans most orders
    /// of magnitude.
    fn most_changing(&self, around: &Extent) -> Option<usize> {
        let [low, high] = around.ends;
        let rank = |dimension: usize| {
            let along = around.edges().filter(|edge| edge.2 == dimension);
            let changing = along.filter(|(from, to, _)| self.found(from) != self.found(to)).count();
            (changing, high[dimension] / low[dimension])
        };
        let ranks = around.varying.iter().map(|&dimension| (rank(dimension), dimension));
        let most = ranks.reduce(|most, other| if other.0 > most.0 { other } else { most });
        most.map(|(_, dimension)| dimension)
    }
}

/// The least box around some points, in the coordinates α, δ, β·m and α_r.
struct Extent {
    low: OperatingPoint,
    high: OperatingPoint,
    /// The coordinates of both.
    ends: [[f64; 4]; 2],
    /// Dimensions in which it extends.
    varying: Vec<usize>,
}

impl Extent {
    /// The extent of a region, which has points.
    fn around(points: &[OperatingPoint], region: &[usize]) -> Self {
        let (mut low, mut high) = (points[region[0]], points[region[0]]);
        let (mut from, mut to) = (low.coordinates(), high.coordinates());
        for &point in region {
            let here = &points[point];
            for (dimension, value) in here.coordinates().into_iter().enumerate() {
                if value < from[dimension] {
                    replace(&mut low, here, dimension);
                    from[dimension] = value;
                } else if value > to[dimension] {
                    replace(&mut high, here, dimension);
                    to[dimension] = value;
                }
            }
        }
        let varying = (0..from.len()).filter(|&dimension| from[dimension] < to[dimension]).collect();
        Self { low, high, ends: [from, to], varying }
    }

    /// Corner of that index: bit i tells on which end of the i-th varying dimension it is.
    fn corner(&self, index: usize) -> OperatingPoint {
        let mut corner = self.low;
        for (bit, &dimension) in self.varying.iter().enumerate() {
            if index >> bit & 1 == 1 {
                replace(&mut corner, &self.high, dimension);
            }
        }
        corner
    }

    fn corners(&self) -> impl Iterator<Item = OperatingPoint> + '_ {
        (0..1 << self.varying.len()).map(|index| self.corner(index))
    }

    /// Whether a point of the region is one of its corners.
    fn has_corner(&self, at: &OperatingPoint) -> bool {
        let ([low, high], here) = (self.ends, at.coordinates());
        self.varying.iter().all(|&dimension| here[dimension] == low[dimension] || here[dimension] == high[dimension])
    }

    /// The ends of every edge, and the dimension in which they differ.
    fn edges(&self) -> impl Iterator<Item = (OperatingPoint, OperatingPoint, usize)> + '_ {
        self.varying.iter().enumerate().flat_map(move |(bit, &dimension)| {
            let from = (0..1 << self.varying.len()).filter(move |index| index >> bit & 1 == 0);
            from.map(move |index| (self.corner(index), self.corner(index | 1 << bit), dimension))
        })
    }
}

/// Takes one coordinate from another place: β·m by its size and its bandwidth.
fn replace(place: &mut OperatingPoint, other: &OperatingPoint, dimension: usize) {
    match dimension {
        0 => place.startup_s = other.startup_s,
        1 => place.hop_delay_s = other.hop_delay_s,
        2 => (place.size_bytes, place.bandwidth_bps) = (other.size_bytes, other.bandwidth_bps),
        _ => place.reconfiguration_delay_s = other.reconfiguration_delay_s,
    }
}

/// The place between two that differ in one coordinate, at a fraction of the way; for β·m by its bandwidth.
fn between(from: &OperatingPoint, to: &OperatingPoint, dimension: usize, fraction: f64) -> OperatingPoint {
    let value = |at: &OperatingPoint| at.coordinate(dimension);
    let middle = value(from) + (value(to) - value(from)) * fraction;
    let mut place = *from;
    match dimension {
        0 => place.startup_s = middle,
        1 => place.hop_delay_s = middle,
        2 => place.bandwidth_bps = 8.0 * place.size_bytes as f64 / middle,
        _ => place.reconfiguration_delay_s = middle,
    }
    place
}

fn key(place: &OperatingPoint) -> [u64; 4] {
    place.coordinates().map(f64::to_bits)
}
