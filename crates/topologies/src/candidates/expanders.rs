//! Expanders.

use model::{Result, Shape, Topology, Traffic};

use crate::candidate_family::{CandidateFamily, those_that_fit};
use crate::cutoffs::candidates_expanders::MOST_RANKS;

/// Topologies of small diameter and no bias: one at random, one by rule.
pub(crate) struct Expanders;

impl CandidateFamily for Expanders {
    fn name(&self) -> &'static str {
        "expanders"
    }

    fn summary(&self) -> &'static str {
        "a random lift of the seed and the generalised Kautz graph; none with one port, with two GPUs or above 4096"
    }

    fn source(&self) -> &'static str {
        "HARVEST appendix A"
    }

    fn build(&self, shape: &Shape, _patterns: &[&Traffic], seed: u64) -> Result<Vec<Topology>> {
        // A single port makes rings only, and between two GPUs there is one topology.
        if shape.ports() < 2 || !(3..=MOST_RANKS).contains(&shape.gpus()) {
            return Ok(Vec::new());
        }
        those_that_fit([format!("random-lift:{seed}"), "kautz".into()], shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_two_where_they_make_sense() {
        let names = |gpus, ports| -> Vec<String> {
            let shape = Shape::new(gpus, &[], ports).unwrap();
            let topologies = Expanders.build(&shape, &[], 7).unwrap();
            topologies.iter().map(|topology| topology.name().into()).collect()
        };
        assert_eq!(names(64, 2), ["random-lift:7", "kautz"]);
        assert!(names(64, 1).is_empty());
        assert!(names(2, 4).is_empty());
        assert!(names(4097, 4).is_empty());
    }
}
