//! Swing on a two-way ring with two ports: half the buffer by Swing, half by its mirror image.
//!
//! Both halves move in the same steps, in opposite directions, so that a ring is loaded evenly.
//! De Sensi et al., NSDI 24, §4 with one dimension; HARVEST's one-dimensional experiments.

use model::{Collective, Result, Schedule, Shape};

use super::swing;
use crate::halves::HALVES;
use crate::{Algorithm, Extent, Options, refusals};

/// Swing and its mirror image, half of the buffer each.
pub(crate) struct SwingMirrored;

impl Algorithm for SwingMirrored {
    fn name(&self) -> &'static str {
        "swing-mirrored"
    }

    fn summary(&self) -> &'static str {
        "half the buffer by Swing, half by its mirror image, for two-way rings"
    }

    fn source(&self) -> &'static str {
        "De Sensi et al., NSDI 2024, §4"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "one dimension, n a power of two"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        swing::extent(collective, shape, true)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::dimensions(self.name(), shape, 1..=1, "one dimension (on tori `swing` mirrors by itself)")?;
        refusals::power_of_two(self.name(), shape)
    }

    fn construct(&self, collective: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        swing::schedule(self.name(), collective, shape, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern and its mirror image together look the same in both directions.
    #[test]
    fn traffic_is_symmetric_under_reflection() {
        let shape = Shape::new(32, &[], 2).unwrap();
        let built = SwingMirrored.build(Collective::AllReduce, &shape, &Options::default()).unwrap();
        for step in built.steps() {
            let key = |arc: model::TrafficEntry| (arc.src, arc.dst, arc.weight.to_bits());
            let plain: Vec<_> = step.traffic().expanded().into_iter().map(key).collect();
            let reflect = |rank: u32| (32 - rank) % 32;
            let mut mirrored: Vec<_> = plain.iter().map(|&(s, d, w)| (reflect(s), reflect(d), w)).collect();
            mirrored.sort_unstable();
            assert_eq!(plain, mirrored);
        }
    }
}
