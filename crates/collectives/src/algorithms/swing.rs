//! Swing: recursive halving whose partners swing between the two directions of a ring or torus.
//!
//! Along a ring, in step s = 0, 1, … an even rank r exchanges with r + ρ_s and an odd one with r − ρ_s, where
//! ρ_s = Σ_{i≤s} (−2)^i, so that distances are 1, 1, 3, 5, 11, …. A rank sends the blocks of the ranks that its
//! partner reaches in the steps that remain: m/2 first, at distance 1. AllGather is the reverse.
//!
//! On 2-D and 3-D tori all 2D ports work at once: the buffer has 2D parts, part p starts along dimension
//! p mod D and goes round the dimensions, leaving out finished ones; parts D … 2D−1 are *mirrored*: they
//! use the opposite direction everywhere.
//! De Sensi, Bonato, Saam & Hoefler, Swing: Short-cutting rings for higher bandwidth allreduce (NSDI 24),
//! §3 and, for tori, §4; `bine-butterfly` has the same partners in the opposite order (HARVEST §6.1).

use std::collections::BTreeMap;

use model::{Chunks, Collective, Op, Rank, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::halves::{self, HALVES};
use crate::{Algorithm, Extent, Options, coordinates, refusals};

/// Swing on a ring or torus.
pub(crate) struct Swing;

/// ρ_s = (1 − (−2)^(s+1)) / 3.
fn swing(step: u32) -> i64 {
    (1 - (-2i64).pow(step + 1)) / 3
}

/// Partner of `coordinate` in step `step` along a dimension of `size` ranks.
pub(super) fn partner(coordinate: u32, step: u32, size: u32, mirrored: bool) -> u32 {
    let forward = coordinate.is_multiple_of(2) != mirrored;
    let distance = if forward { swing(step) } else { -swing(step) };
    (i64::from(coordinate) + distance).rem_euclid(i64::from(size)) as u32
}

/// Along one dimension, the coordinates reached in the steps from `s` on: `[s][parity]`, from the
/// coordinates 0 and 1.
struct Reach {
    size: u32,
    from: Vec<[Vec<u32>; 2]>,
}

impl Reach {
    fn new(size: u32, mirrored: bool) -> Self {
        let steps = size.ilog2();
        let mut reach = Self { size, from: vec![[vec![0], vec![1]]; steps as usize + 1] };
        for step in (0..steps).rev() {
            let joined = [0, 1].map(|start| {
                let mut all = reach.of(start, step + 1);
                all.extend(reach.of(partner(start, step, size, mirrored), step + 1));
                all
            });
            reach.from[step as usize] = joined;
        }
        reach
    }

    /// Translations by even numbers keep the pattern, so two starts serve all.
    fn of(&self, coordinate: u32, step: u32) -> Vec<u32> {
        let parity = coordinate % 2;
        let shift = coordinate - parity;
        self.from[step as usize][parity as usize].iter().map(|c| (c + shift) % self.size).collect()
    }
}

/// A part of the buffer, with the dimension of its next step and the steps done along each.
struct Part {
    index: u32,
    mirrored: bool,
    turn: usize,
    done: Vec<u32>,
    reach: Vec<Reach>,
}

impl Part {
    fn new(shape: &Shape, index: u32, mirrored: bool) -> Self {
        let dims = shape.dims();
        let reach = dims.iter().map(|&size| Reach::new(size, mirrored)).collect();
        Self { index, mirrored, turn: index as usize % dims.len(), done: vec![0; dims.len()], reach }
    }

    /// The dimension of the next step.
    fn advance(&mut self, shape: &Shape) -> usize {
        let dims = shape.dims();
        while self.done[self.turn] == dims[self.turn].ilog2() {
            self.turn = (self.turn + 1) % dims.len();
        }
        let dim = self.turn;
        self.done[dim] += 1;
        self.turn = (dim + 1) % dims.len();
        dim
    }

    /// After [`Part::advance`] to `dim`: the partner of the rank at `coordinates`, and the chunks that go there.
    fn exchange(&self, shape: &Shape, mut coordinates: Vec<u32>, dim: usize, chunks: &Chunks) -> (Rank, Vec<u32>) {
        coordinates[dim] = partner(coordinates[dim], self.done[dim] - 1, shape.dims()[dim], self.mirrored);
        let choices: Vec<Vec<u32>> =
            (0..coordinates.len()).map(|j| self.reach[j].of(coordinates[j], self.done[j])).collect();
        let sent =
            coordinates::product(shape, &choices).into_iter().map(|owner| chunks.owned(owner, self.index)).collect();
        (shape.rank(&coordinates), sent)
    }
}

/// Swing on the grid of `shape`, with a part for every dimension and, if `mirrored`, a second one that
/// uses the opposite directions.
pub(crate) fn schedule(name: &str, collective: Collective, shape: &Shape, mirrored: bool) -> Result<Schedule> {
    let dimensions = shape.dims().len() as u32;
    let count = if mirrored { 2 * dimensions } else { dimensions };
    let chunks = Chunks::even(Collective::ReduceScatter, shape.gpus(), count)?;
    let symmetry = Translations::grid(shape.dims(), &vec![2; shape.dims().len()]);
    let mut parts: Vec<Part> = (0..count).map(|index| Part::new(shape, index, index >= dimensions)).collect();
    let mut steps = Vec::new();
    for _ in 0..shape.gpus().ilog2() {
        let mut exchanged: BTreeMap<(Rank, Rank), Vec<u32>> = BTreeMap::new();
        for part in &mut parts {
            let dim = part.advance(shape);
            for src in symmetry.representatives() {
                let (dst, sent) = part.exchange(shape, shape.coordinates(src), dim, &chunks);
                exchanged.entry((src, dst)).or_default().extend(sent);
            }
        }
        let transfers = exchanged.into_iter().map(|((src, dst), chunks)| Transfer { src, dst, op: Op::Reduce, chunks });
        steps.push(Step::new(symmetry.clone(), transfers, &chunks)?);
    }
    halves::mirror(collective, Schedule::new(name, chunks, steps)?)
}

/// The size of [`schedule`] as it is kept: every part's exchanges from every representative.
pub(crate) fn extent(collective: Collective, shape: &Shape, mirrored: bool) -> Extent {
    let dims = shape.dims();
    let parts = if mirrored { 2 * dims.len() } else { dims.len() } as u64;
    let (steps, from) = (u64::from(shape.gpus().ilog2()), 1 << dims.len());
    let transfers = steps * parts * from;
    // Even translations along the first dimension are the only ones of the ranks in a line.
    let common = u64::from(dims[0] / 2).max(1);
    let orbits = u64::from(shape.gpus()) / common;
    let arcs = transfers * (orbits / from).max(1);
    Extent { steps, patterns: steps, transfers, chunks: parts * from * (u64::from(shape.gpus()) - 1), arcs, orbits }
        .of_half(collective)
}

impl Algorithm for Swing {
    fn name(&self) -> &'static str {
        "swing"
    }

    fn summary(&self) -> &'static str {
        "partners swing between directions at distances 1, 1, 3, 5, 11; tori use all ports, mirrored"
    }

    fn source(&self) -> &'static str {
        "De Sensi et al., NSDI 2024"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "1 to 3 dimensions, each a power of two"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        extent(collective, shape, shape.dims().len() > 1)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::dimensions(self.name(), shape, 1..=3, "1 to 3 dimensions")?;
        refusals::dimensions_powers_of_two(self.name(), shape)
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        schedule(self.name(), collective, shape, shape.dims().len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NSDI 24, §3: ρ = 1, −1, 3, −5, 11, −21.
    #[test]
    fn partners_swing_at_the_published_distances() {
        assert_eq!((0..6).map(swing).collect::<Vec<_>>(), [1, -1, 3, -5, 11, -21]);
        let shape = Shape::new(64, &[], 2).unwrap();
        let built = Swing.build(Collective::ReduceScatter, &shape, &Options::default()).unwrap();
        let from_zero: Vec<u32> = built.steps().iter().map(|step| step.transfers()[0].dst).collect();
        assert_eq!(from_zero, [1, 63, 3, 59, 11, 43]);
        let shares: Vec<f64> = built.steps().iter().map(Step::share).collect();
        assert_eq!(shares, (1..=6).map(|i| 0.5f64.powi(i)).collect::<Vec<_>>());
    }

    /// NSDI 24, §4: every part starts along another dimension or in the other direction.
    #[test]
    fn a_torus_uses_all_ports_in_the_first_step() {
        for (dims, degree) in [(vec![8, 8], 4), (vec![4, 4, 4], 6)] {
            let shape = Shape::new(64, &dims, degree).unwrap();
            let built = Swing.build(Collective::AllReduce, &shape, &Options::default()).unwrap();
            let first = built.steps()[0].traffic();
            assert_eq!(first.degree(), degree);
            assert_eq!(built.steps()[0].share(), 0.5 / f64::from(degree));
            for arc in first.expanded() {
                let (a, b) = (shape.coordinates(arc.src), shape.coordinates(arc.dst));
                let moved: u32 = (0..dims.len()).map(|j| (a[j] + dims[j] - b[j]) % dims[j]).map(|d| d.min(1)).sum();
                assert_eq!(moved, 1, "{a:?} → {b:?} leaves its row");
            }
        }
    }

    #[test]
    fn shorter_dimensions_are_left_out_once_done() {
        let shape = Shape::new(32, &[2, 16], 4).unwrap();
        let mut part = Part::new(&shape, 0, false);
        let turns: Vec<usize> = (0..5).map(|_| part.advance(&shape)).collect();
        assert_eq!(turns, [0, 1, 1, 1, 1]);
    }
}
