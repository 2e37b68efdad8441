//! Bruck's pattern round the dimensions of a torus, all dimensions at once: BRIDGE on subtori.
//!
//! A block's way is a coordinate along every dimension, and it moves by the digits in radix r of these, one digit of
//! one dimension in a step. The buffer has a part for every dimension. In round k = 0, 1, … each part does digit k of
//! every dimension that has one, part p from dimension p on, so that the parts are along different dimensions, and
//! distances r^k are the same for all. ReduceScatter and All-to-All take the rounds from distance 1 on, AllGather
//! mirrors the ReduceScatter in time and keeps its directions, as `bruck-doubling` does in one dimension.
//!
//! With D dimensions of the same size a step has D peers, Σ_j ⌈log_r n_j⌉ steps in all, as many as along a line of
//! powers of two, and distances end at the last power of r below the longest dimension.
//! BRIDGE §5, *reconfigurable multidimensional networks*; parts that begin along different dimensions: De Sensi et al.
//! (NSDI 24), §4.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Op, Rank, Result, Schedule, Shape, Step, Transfer, Translations};

use super::bruck::{Bruck, radix, weights};
use crate::halves;
use crate::{Algorithm, Extent, Options, coordinates, refusals};

/// Bruck's pattern round the dimensions of a torus.
pub(crate) struct BruckTorus;

/// A digit that a part of the buffer moves by in one step.
struct Turn {
    dim: usize,
    /// r^k.
    weight: u32,
    /// By dimension, the weight of its first digit that is not done yet, or more than its size.
    undone: Vec<u64>,
}

/// The digits of part `part` in their order: round k has digit k of every dimension that has one.
fn turns(dims: &[u32], radix: u32, part: usize) -> Vec<Turn> {
    let digits: Vec<Vec<u32>> = dims.iter().map(|&size| weights(size, radix)).collect();
    let rounds = digits.iter().map(Vec::len).max().unwrap_or(0);
    let mut undone = vec![1u64; dims.len()];
    let mut turns = Vec::new();
    for round in 0..rounds {
        for dim in (0..dims.len()).map(|j| (part + j) % dims.len()) {
            if let Some(&weight) = digits[dim].get(round) {
                turns.push(Turn { dim, weight, undone: undone.clone() });
                undone[dim] *= u64::from(radix);
            }
        }
    }
    turns
}

/// The peers ahead along a dimension of `size`: z·weight, z = 1 … r−1.
fn distances(size: u32, radix: u32, weight: u32) -> impl Iterator<Item = u32> {
    (1..radix).filter_map(move |z| z.checked_mul(weight)).take_while(move |&distance| distance < size)
}

/// Ranks `distance` ahead of rank 0 along `dim`.
fn ahead(shape: &Shape, dim: usize, distance: u32) -> Rank {
    let coordinates: Vec<u32> = (0..shape.dims().len()).map(|j| if j == dim { distance } else { 0 }).collect();
    shape.rank(&coordinates)
}

impl Turn {
    /// The blocks of a ReduceScatter that go `distance` ahead from rank 0, by their owners; those of an AllGather,
    /// mirrored in time and space, where it `gathers`.
    fn owners(&self, shape: &Shape, radix: u32, distance: u32, gathers: bool) -> Vec<Rank> {
        let along = shape.dims().iter().zip(&self.undone).enumerate();
        let choices: Vec<Vec<u32>> = along
            .map(|(j, (&size, &undone))| {
                let (from, stride) = match j == self.dim {
                    true => (distance, undone * u64::from(radix)),
                    false => (0, undone),
                };
                // Lower digits are zero by then.
                let away = (from..size).step_by(stride.min(u64::from(size)) as usize);
                away.map(|away| if gathers { (size - (away - from)) % size } else { away }).collect()
            })
            .collect();
        coordinates::product(shape, &choices)
    }

    /// The blocks that rank 0 sends in this step of a ReduceScatter or an AllGather: their owners, by peer.
    fn halved(&self, shape: &Shape, radix: u32, gathers: bool) -> Vec<(Rank, Vec<Rank>)> {
        let distances = distances(shape.dims()[self.dim], radix, self.weight);
        let sent = |distance| (ahead(shape, self.dim, distance), self.owners(shape, radix, distance, gathers));
        distances.map(sent).collect()
    }

    /// The blocks that rank 0 sends in this step of an All-to-All: their sources and destinations, by peer.
    fn indexed(&self, shape: &Shape, radix: u32) -> Vec<(Rank, Vec<(Rank, Rank)>)> {
        let mut sent = vec![Vec::new(); radix as usize];
        for offset in 0..shape.gpus() {
            let offset = shape.coordinates(offset);
            let z = offset[self.dim] / self.weight % radix;
            // Lower digits are done, so at rank 0 this block's source lies that far behind.
            let sizes = shape.dims().iter();
            let done = offset.iter().zip(&self.undone).map(|(&o, &undone)| (u64::from(o) % undone) as u32);
            let src: Vec<u32> = sizes.clone().zip(done).map(|(&size, done)| (size - done) % size).collect();
            let dst: Vec<u32> = src.iter().zip(&offset).zip(sizes).map(|((&s, &o), &size)| (s + o) % size).collect();
            sent[z as usize].push((shape.rank(&src), shape.rank(&dst)));
        }
        let moving = sent.into_iter().zip(0..).skip(1).filter(|(blocks, _)| !blocks.is_empty());
        moving.map(|(blocks, z)| (ahead(shape, self.dim, z * self.weight), blocks)).collect()
    }
}

/// The steps of `collective`, a ReduceScatter, an AllGather or an All-to-All, in a part for each dimension.
fn schedule(name: &str, collective: Collective, shape: &Shape, radix: u32) -> Result<Schedule> {
    let dims = shape.dims();
    let parts = dims.len();
    let chunks = Chunks::even(collective, shape.gpus(), parts as u32)?;
    let op = if collective == Collective::ReduceScatter { Op::Reduce } else { Op::Copy };
    let gathers = collective == Collective::AllGather;
    let by_part: Vec<Vec<Turn>> = (0..parts).map(|part| turns(dims, radix, part)).collect();
    let mut steps = Vec::with_capacity(by_part[0].len());
    for step in 0..by_part[0].len() {
        let mut sent: BTreeMap<Rank, Vec<u32>> = BTreeMap::new();
        for (turns, part) in by_part.iter().zip(0..) {
            let turn = &turns[step];
            if collective == Collective::AllToAll {
                for (peer, blocks) in turn.indexed(shape, radix) {
                    sent.entry(peer).or_default().extend(blocks.iter().map(|&(src, dst)| chunks.pair(src, dst, part)));
                }
            } else {
                for (peer, owners) in turn.halved(shape, radix, gathers) {
                    sent.entry(peer).or_default().extend(owners.iter().map(|&owner| chunks.owned(owner, part)));
                }
            }
        }
        let transfers = sent.into_iter().map(|(dst, chunks)| Transfer { src: 0, dst, op, chunks });
        steps.push(Step::new(Translations::grid(dims, &vec![1; parts]), transfers, &chunks)?);
    }
    if gathers {
        steps.reverse();
    }
    Schedule::new(name, chunks, steps)
}

impl Algorithm for BruckTorus {
    fn name(&self) -> &'static str {
        "bruck-torus"
    }

    fn summary(&self) -> &'static str {
        "Bruck's pattern along all dimensions of a torus at once, distance 1 first, a part of the data each, --radix r"
    }

    fn source(&self) -> &'static str {
        "BRIDGE §5"
    }

    fn collectives(&self) -> &'static [Collective] {
        Bruck.collectives()
    }

    fn requirement(&self) -> &'static str {
        "--dims with 2 or 3 dimensions (all-to-all: n <= 5792 with 2, 4729 with 3), radix >= 2"
    }

    fn extent(&self, collective: Collective, shape: &Shape, options: &Options) -> Extent {
        let (dims, radix, n) = (shape.dims(), radix(shape, options), u64::from(shape.gpus()));
        let parts = dims.len() as u64;
        let digits =
            || dims.iter().flat_map(|&size| weights(size, radix).into_iter().map(move |weight| (size, weight)));
        let steps = digits().count() as u64;
        let peers: u64 = digits().map(|(size, weight)| u64::from((radix - 1).min((size - 1) / weight))).sum();
        let stays = |size: u64, weight: u64| {
            let turn = weight * u64::from(radix);
            size / turn * weight + (size % turn).min(weight)
        };
        let chunks = match collective {
            Collective::AllToAll => digits()
                .map(|(size, weight)| (u64::from(size), u64::from(weight)))
                .map(|(size, weight)| n / size * (size - stays(size, weight)))
                .sum(),
            _ => n - 1,
        };
        // Translations along the first dimension are the only ones of the ranks in a line.
        let (transfers, orbits) = (parts * peers, n / u64::from(dims[0]));
        let half =
            Extent { steps, patterns: steps, transfers, chunks: parts * chunks, arcs: transfers * orbits, orbits };
        half.of_half(collective)
    }

    fn check(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::radix(options)?;
        refusals::dimensions(self.name(), shape, 2..=3, "2 or 3 dimensions")?;
        let parts = shape.dims().len() as u32;
        if collective == Collective::AllToAll { refusals::parts_of_pairs(self.name(), shape, parts) } else { Ok(()) }
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let half = |collective| schedule(self.name(), collective, shape, radix(shape, options));
        if collective == Collective::AllToAll {
            return half(collective);
        }
        halves::compose(collective, || half(Collective::ReduceScatter), || half(Collective::AllGather))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::bruck_doubling;

    fn build(collective: Collective, dims: &[u32], radix: u32) -> Schedule {
        let options = Options { radix: Some(radix), ..Options::default() };
        BruckTorus.build(collective, &Shape::new(dims.iter().product(), dims, 1).unwrap(), &options).unwrap()
    }

    fn peers_and_blocks(schedule: &Schedule) -> Vec<Vec<(u32, usize)>> {
        let of_step = |step: &Step| step.transfers().iter().map(|t| (t.dst, t.chunks.len())).collect();
        schedule.steps().iter().map(of_step).collect()
    }

    /// One dimension is Bruck's pattern on a line, chunk by chunk.
    #[test]
    fn one_dimension_is_the_line() {
        for n in 2..=20 {
            for radix in 2..=4 {
                let shape = Shape::new(n, &[], 1).unwrap();
                let options = Options { radix: Some(radix), ..Options::default() };
                for collective in [Collective::ReduceScatter, Collective::AllGather] {
                    let line = bruck_doubling::schedule("line", collective, n, radix.min(n)).unwrap();
                    assert_eq!(schedule("line", collective, &shape, radix.min(n)).unwrap().steps(), line.steps());
                }
                let line = Bruck.build(Collective::AllToAll, &shape, &options).unwrap();
                let found = schedule("line", Collective::AllToAll, &shape, radix.min(n)).unwrap();
                assert_eq!(found.steps(), line.steps(), "{n} {radix}");
            }
        }
    }

    /// By hand, 4×4: rank 0 sends along rows to 1 and 2, along columns to 4 and 8. Part 0 begins with the columns:
    /// of its 16 blocks those go first whose row is odd, 8, then of the 8 others those whose column is odd, 4.
    #[test]
    fn parts_take_the_dimensions_in_turns() {
        let reduce = build(Collective::ReduceScatter, &[4, 4], 2);
        assert_eq!(peers_and_blocks(&reduce), [[(1, 8), (4, 8)], [(1, 4), (4, 4)], [(2, 2), (8, 2)], [(2, 1), (8, 1)]]);
        let all_to_all = build(Collective::AllToAll, &[4, 4], 2);
        assert_eq!(
            peers_and_blocks(&all_to_all),
            [[(1, 8), (4, 8)], [(1, 8), (4, 8)], [(2, 8), (8, 8)], [(2, 8), (8, 8)]]
        );
        // 2×8: columns have one digit only, so the last two steps are along rows for both parts.
        let unequal = build(Collective::ReduceScatter, &[2, 8], 2);
        assert_eq!(
            peers_and_blocks(&unequal),
            [vec![(1, 8), (8, 8)], vec![(1, 4), (8, 4)], vec![(2, 4)], vec![(4, 2)]]
        );
    }

    #[test]
    fn gathering_has_the_steps_of_reducing_in_reverse() {
        for dims in [&[2, 3][..], &[4, 4], &[3, 5], &[2, 3, 4], &[4, 4, 4]] {
            for radix in 2..=4 {
                let mut reduce = peers_and_blocks(&build(Collective::ReduceScatter, dims, radix));
                reduce.reverse();
                assert_eq!(peers_and_blocks(&build(Collective::AllGather, dims, radix)), reduce, "{dims:?} {radix}");
            }
        }
    }

    /// All parts are at the same digit, so one torus of rings r^k apart serves a round.
    #[test]
    fn a_round_has_one_distance() {
        for dims in [&[2, 8][..], &[2, 4, 16], &[16, 4, 2], &[5, 9, 2], &[3, 3, 3]] {
            let by_part: Vec<Vec<u32>> =
                (0..dims.len()).map(|part| turns(dims, 2, part).iter().map(|turn| turn.weight).collect()).collect();
            assert!(by_part.iter().all(|weights| *weights == by_part[0] && weights.is_sorted()), "{dims:?}");
        }
    }
}
