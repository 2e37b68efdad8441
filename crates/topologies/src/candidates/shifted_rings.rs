//! Shifted rings of every offset.

use model::{Result, Shape, Topology, Traffic};

use crate::candidate_family::{CandidateFamily, those_that_fit};
use crate::{families, ring_offsets};

/// The rings of every offset, or of those worth a look, in the forms that ports allow.
pub(crate) struct ShiftedRings;

impl CandidateFamily for ShiftedRings {
    fn name(&self) -> &'static str {
        "shifted-rings"
    }

    fn summary(&self) -> &'static str {
        "rings of every offset: with one port n − 1 of them, with more the two-way rings and \
         the one-way rings of all ports; above 1024 GPUs, or 512 of which no two are alike in the steps, only the \
         offsets of the steps, powers of two and divisors"
    }

    fn source(&self) -> &'static str {
        "HARVEST appendix A"
    }

    fn build(&self, shape: &Shape, patterns: &[&Traffic], _seed: u64) -> Result<Vec<Topology>> {
        let offsets = ring_offsets::of(shape.gpus(), patterns);
        // With an even number of ports an offset and its opposite are the same two-way rings; an odd port
        // left over goes forward and tells them apart.
        let even = shape.ports().is_multiple_of(2);
        let last = if even { shape.gpus() / 2 } else { shape.gpus() };
        let both_ways = offsets.iter().take_while(|offset| **offset <= last).map(|&offset| spec(offset, ""));
        let one_way = offsets.iter().filter(|_| shape.ports() > 1).map(|&offset| spec(offset, "one-way"));
        those_that_fit(both_ways.chain(one_way), shape)
    }
}

/// Rings of offsets up to 3, in the forms that ports allow; the others of as many ranks are much like them.
pub(super) fn of_small_offsets(shape: &Shape) -> Vec<Topology> {
    let specs = (1..=3).flat_map(|offset| ["", "one-way"].map(|way| spec(offset, way)));
    specs.filter_map(|spec| families::build(&spec, shape).ok()).collect()
}

/// The ring itself goes by its own name.
fn spec(offset: u32, way: &str) -> String {
    match (offset, way) {
        (1, "") => "ring".into(),
        (1, way) => format!("ring:{way}"),
        (offset, "") => format!("shifted-ring:{offset}"),
        (offset, way) => format!("shifted-ring:{offset},{way}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(gpus: u32, ports: u32) -> Vec<String> {
        let shape = Shape::new(gpus, &[], ports).unwrap();
        let topologies = crate::dedupe::dedupe(ShiftedRings.build(&shape, &[], 0).unwrap());
        topologies.iter().map(|topology| topology.name().to_string()).collect()
    }

    #[test]
    fn one_port_has_every_offset_once() {
        assert_eq!(names(5, 1), ["ring", "shifted-ring:2", "shifted-ring:3", "shifted-ring:4"]);
        assert_eq!(names(64, 1).len(), 63);
    }

    #[test]
    fn more_ports_have_both_forms() {
        // The offset n/2 is the same in both.
        assert_eq!(names(4, 2), ["ring", "shifted-ring:2", "ring:one-way", "shifted-ring:3,one-way"]);
        assert_eq!(names(64, 2).len(), 32 + 62);
        // With three ports 2 + 1 differs from 1 + 2.
        assert_eq!(names(64, 3).len(), 63 + 62);
        assert_eq!(names(2, 2), ["ring"]);
    }
}
