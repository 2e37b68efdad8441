//! Bruck's pattern both ways round: half of every block goes forward, half backward, in the same steps.
//!
//! One half is `bruck-doubling` (`bruck`, for All-to-All), the other its mirror image, u → u − z·r^k. Two-way
//! circuits are loaded evenly, as if they had twice the bandwidth.
//! BRIDGE §5, *multiport capabilities*.

use model::{Chunks, Collective, Result, Schedule, Shape, Step, Transfer};

use super::bruck::{Bruck, radix};
use super::bruck_doubling;
use crate::{Algorithm, Extent, Options, refusals};

/// Bruck's pattern in both directions at once, half of every block each.
pub(crate) struct BruckMirrored;

/// `one_way` for the first part of every block, and its image under u → −u for the second.
fn mirrored(name: &str, one_way: &Schedule) -> Result<Schedule> {
    let n = one_way.ranks();
    let chunks = Chunks::even(one_way.collective(), n, 2)?;
    let reflect = |rank: u32| (n - rank) % n;
    let reflect_block = |block: u32| match one_way.collective() {
        Collective::AllToAll => reflect(block / n) * n + reflect(block % n),
        _ => reflect(block),
    };
    let both_ways = |transfer: &Transfer| {
        let forward = transfer.chunks.iter().map(|block| 2 * block);
        let backward = transfer.chunks.iter().map(|&block| 2 * reflect_block(block) + 1);
        let (src, dst, op) = (transfer.src, transfer.dst, transfer.op);
        let image = (reflect(src), reflect(dst));
        if image == (src, dst) {
            return vec![Transfer { src, dst, op, chunks: forward.chain(backward).collect() }];
        }
        let backward = Transfer { src: image.0, dst: image.1, op, chunks: backward.collect() };
        vec![Transfer { src, dst, op, chunks: forward.collect() }, backward]
    };
    let step = |step: &Step| Step::new(step.symmetry().clone(), step.transfers().iter().flat_map(both_ways), &chunks);
    Schedule::new(name, chunks.clone(), one_way.steps().iter().map(step).collect::<Result<_>>()?)
}

impl Algorithm for BruckMirrored {
    fn name(&self) -> &'static str {
        "bruck-mirrored"
    }

    fn summary(&self) -> &'static str {
        "half of every block by bruck-doubling (all-to-all: bruck), half by its mirror image, --radix r"
    }

    fn source(&self) -> &'static str {
        "BRIDGE §5"
    }

    fn collectives(&self) -> &'static [Collective] {
        Bruck.collectives()
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2 (all-to-all: n <= 5792), radix >= 2"
    }

    fn extent(&self, collective: Collective, shape: &Shape, options: &Options) -> Extent {
        let one_way = match collective {
            Collective::AllToAll => Bruck.extent(collective, shape, options),
            _ => bruck_doubling::extent(collective, shape.gpus(), radix(shape, options)),
        };
        Extent { steps: one_way.steps, patterns: one_way.patterns, ..one_way * 2 }
    }

    fn check(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::radix(options)?;
        if collective == Collective::AllToAll { refusals::parts_of_pairs(self.name(), shape, 2) } else { Ok(()) }
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let one_way = match collective {
            Collective::AllToAll => Bruck.construct(collective, shape, options)?,
            _ => bruck_doubling::schedule(self.name(), collective, shape.gpus(), radix(shape, options))?,
        };
        mirrored(self.name(), &one_way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_looks_the_same_in_both_directions_and_moves_what_one_way_moves() {
        for n in [2, 3, 8, 12, 17] {
            let shape = Shape::new(n, &[], 2).unwrap();
            let key = |arc: model::TrafficEntry| (arc.src, arc.dst, arc.weight.to_bits());
            for &collective in BruckMirrored.collectives() {
                let built = BruckMirrored.build(collective, &shape, &Options::default()).unwrap();
                for step in built.steps() {
                    let plain: Vec<_> = step.traffic().expanded().into_iter().map(key).collect();
                    let reflect = |rank: u32| (n - rank) % n;
                    let mut image: Vec<_> = plain.iter().map(|&(s, d, w)| (reflect(s), reflect(d), w)).collect();
                    image.sort_unstable();
                    assert_eq!(plain, image, "{n} {collective:?}");
                }
                let one_way = match collective {
                    Collective::AllToAll => Bruck.build(collective, &shape, &Options::default()).unwrap(),
                    _ => bruck_doubling::schedule("one way", collective, n, 2).unwrap(),
                };
                assert!((built.sent_share() - one_way.sent_share()).abs() < 1e-12, "{n} {collective:?}");
            }
        }
    }
}
