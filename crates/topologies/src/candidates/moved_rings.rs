//! The two-way ring with its destinations moved.

use model::{Result, Shape, Topology, Traffic};

use crate::candidate_family::{CandidateFamily, those_that_fit};
use crate::ring_offsets;

/// Circuits u → u + s + 1 and u → u + s − 1 for every s.
pub(crate) struct MovedRings;

/// Ports of a two-way ring.
const PORTS: u32 = 2;

impl CandidateFamily for MovedRings {
    fn name(&self) -> &'static str {
        "moved-rings"
    }

    fn summary(&self) -> &'static str {
        "with two ports, the two-way ring with all destinations moved s places on (circuits u → u + s ± 1), for every \
        s \
         that is an offset of `shifted-rings`"
    }

    fn source(&self) -> &'static str {
        "HARVEST's published code"
    }

    fn build(&self, shape: &Shape, patterns: &[&Traffic], _seed: u64) -> Result<Vec<Topology>> {
        let (gpus, offsets) = (shape.gpus(), ring_offsets::of(shape.gpus(), patterns));
        // Next to 0 or n, one of the two circuits would lead back to its rank.
        let moved = offsets.into_iter().filter(|&offset| shape.ports() == PORTS && 1 < offset && offset + 1 < gpus);
        those_that_fit(moved.map(|offset| format!("circulant:{},{}", offset - 1, offset + 1)), shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(gpus: u32, ports: u32) -> Vec<String> {
        let built = MovedRings.build(&Shape::new(gpus, &[], ports).unwrap(), &[], 0).unwrap();
        built.iter().map(|topology| topology.name().to_string()).collect()
    }

    #[test]
    fn every_place_is_there_whose_circuits_lead_elsewhere() {
        assert_eq!(names(8, 2), ["circulant:1,3", "circulant:2,4", "circulant:3,5", "circulant:4,6", "circulant:5,7"]);
        assert!(names(8, 1).is_empty() && names(8, 3).is_empty() && names(3, 2).is_empty());
    }
}
