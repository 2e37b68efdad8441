//! The static topologies that HARVEST is compared with.

use model::{Result, Shape, Topology, Traffic};

use super::shifted_tori;
use crate::candidate_family::{CandidateFamily, those_that_fit};
use crate::parameters::by;

/// The family that the static planner chooses from where nothing is asked for.
pub const STATIC_BASELINES: &str = "static-baselines";

/// Ring, tori and generalised Kautz graph.
pub(crate) struct StaticBaselines;

impl CandidateFamily for StaticBaselines {
    fn name(&self) -> &'static str {
        STATIC_BASELINES
    }

    fn summary(&self) -> &'static str {
        "the ring, the torus of the grid (for ranks in a line: the most cubic 2-D and 3-D tori) and the \
         generalised Kautz graph, as far as the ports allow"
    }

    fn source(&self) -> &'static str {
        "HARVEST §6.1"
    }

    fn build(&self, shape: &Shape, _patterns: &[&Traffic], _seed: u64) -> Result<Vec<Topology>> {
        let tori = shifted_tori::grids(shape).into_iter().map(|dims| match shape.dims().len() {
            1 => format!("torus:{}", by(&dims)),
            _ => "torus".into(),
        });
        // Between two GPUs there is one topology.
        let kautz = (shape.gpus() > 2).then(|| "kautz".into());
        those_that_fit(std::iter::once("ring".into()).chain(tori).chain(kautz), shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_decide_which_there_are() {
        let names = |gpus, dims: &[u32], ports| -> Vec<String> {
            let shape = Shape::new(gpus, dims, ports).unwrap();
            let topologies = StaticBaselines.build(&shape, &[], 0).unwrap();
            topologies.iter().map(|topology| topology.name().into()).collect()
        };
        assert_eq!(names(64, &[], 1), ["ring"]);
        assert_eq!(names(64, &[], 6), ["ring", "torus:8x8", "torus:4x4x4", "kautz"]);
        assert_eq!(names(64, &[4, 4, 4], 6), ["ring", "torus", "kautz"]);
        assert_eq!(names(7, &[], 2), ["ring", "kautz"]);
    }
}
