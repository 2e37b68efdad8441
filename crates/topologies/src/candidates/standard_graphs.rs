//! Graphs that need no parameter and that no other family holds.

use model::{Result, Shape, Topology, Traffic};

use crate::candidate_family::{CandidateFamily, those_that_fit};

/// Grid, hypercube and complete graph.
pub(crate) struct StandardGraphs;

impl CandidateFamily for StandardGraphs {
    fn name(&self) -> &'static str {
        "standard-graphs"
    }

    fn summary(&self) -> &'static str {
        "the grid, the hypercube and the complete graph, as far as the ports allow"
    }

    fn source(&self) -> &'static str {
        "PCCL §5 (grids), Foster 1995, ch. 11 (hypercube)"
    }

    fn build(&self, shape: &Shape, _patterns: &[&Traffic], _seed: u64) -> Result<Vec<Topology>> {
        those_that_fit(["grid", "hypercube", "complete"].map(String::from), shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_decide_which_there_are() {
        let names = |gpus, dims: &[u32], ports| -> Vec<String> {
            let shape = Shape::new(gpus, dims, ports).unwrap();
            let topologies = StandardGraphs.build(&shape, &[], 0).unwrap();
            topologies.iter().map(|topology| topology.name().into()).collect()
        };
        assert!(names(64, &[], 1).is_empty());
        assert_eq!(names(64, &[4, 4, 4], 6), ["grid", "hypercube"]);
        assert_eq!(names(5, &[], 4), ["grid", "complete"]);
        assert_eq!(names(4, &[], 3), ["grid", "hypercube", "complete"]);
    }
}
