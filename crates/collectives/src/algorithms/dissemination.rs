//! AllReduce in ⌈log_r n⌉ steps: in step k every rank sends all that it has added up to the ranks z·r^k ahead.
//!
//! After step k a rank has the sum over the r^(k+1) ranks up to itself. The whole buffer moves in every step,
//! so it is the least in latency and for small buffers only. Windows would overlap, and terms count twice,
//! unless n is a power of r.
//! Hensgen, Finkel & Manber, Two algorithms for barrier synchronization (IJPP 1988), for the pattern;
//! the latency-optimal AllReduce of BRIDGE §5.

use model::{Chunks, Collective, Error, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use super::bruck::{radix, weights};
use crate::{Algorithm, Extent, Options, refusals};

/// The dissemination AllReduce of any radix.
pub(crate) struct Dissemination;

impl Algorithm for Dissemination {
    fn name(&self) -> &'static str {
        "dissemination"
    }

    fn summary(&self) -> &'static str {
        "log_r n steps with the whole buffer in each, to the ranks z*r^k ahead, --radix r"
    }

    fn source(&self) -> &'static str {
        "Hensgen, Finkel & Manber, IJPP 1988; BRIDGE §5"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::AllReduce]
    }

    fn requirement(&self) -> &'static str {
        "n a power of the radix"
    }

    fn extent(&self, _: Collective, shape: &Shape, options: &Options) -> Extent {
        let (n, radix) = (shape.gpus(), radix(shape, options));
        let steps = weights(n, radix).len() as u64;
        let transfers = steps * u64::from(radix - 1);
        Extent { steps, patterns: steps, transfers, chunks: transfers * u64::from(n), arcs: transfers, orbits: 1 }
    }

    fn check(&self, _: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::radix(options)?;
        let (n, radix) = (shape.gpus(), radix(shape, options));
        let above = std::iter::successors(Some(1u32), |power| power.checked_mul(radix)).find(|&power| power >= n);
        if above == Some(n) {
            return Ok(());
        }
        let reason = format!("it takes a number of GPUs that is a power of the radix, {radix}, not {n}");
        Err(Error::refused("algorithm", self.name(), reason))
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let (n, radix) = (shape.gpus(), radix(shape, options));
        let chunks = Chunks::even(collective, n, 1)?;
        let step = |weight: u32| {
            let transfers = (1..radix).map(|z| Transfer {
                src: 0,
                dst: z * weight,
                op: Op::Reduce,
                chunks: (0..chunks.count()).collect(),
            });
            Step::new(Translations::cyclic(n), transfers, &chunks)
        };
        let steps = weights(n, radix).into_iter().map(step).collect::<Result<_>>()?;
        Schedule::new(self.name(), chunks, steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_buffer_moves_in_every_step() {
        let options = Options { radix: Some(4), ..Options::default() };
        let built = Dissemination.build(Collective::AllReduce, &Shape::new(64, &[], 3).unwrap(), &options).unwrap();
        let peers = |step: &Step| step.transfers().iter().map(|transfer| transfer.dst).collect::<Vec<_>>();
        assert_eq!(built.steps().iter().map(peers).collect::<Vec<_>>(), [[1, 2, 3], [4, 8, 12], [16, 32, 48]]);
        assert!(built.steps().iter().all(|step| step.share() == 1.0));
    }

    #[test]
    fn windows_that_overlap_are_refused() {
        let options = |radix| Options { radix: Some(radix), ..Options::default() };
        for (n, radix, accepted) in [(64, 4, true), (32, 4, false), (27, 3, true), (12, 12, true), (12, 40, true)] {
            let verdict =
                Dissemination.accepts(Collective::AllReduce, &Shape::new(n, &[], 1).unwrap(), &options(radix));
            assert_eq!(verdict.is_ok(), accepted, "{n} {radix}");
        }
    }
}
