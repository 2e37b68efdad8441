//! Rings of ranks an offset apart.

use model::{Result, Shape, Topology};

use super::ring::rings;
use crate::family::Family;
use crate::parameters::{Parameters, remainder};

/// The family in which each rank is joined to the one an offset away: gcd(offset, n) separate rings, one per residue
/// class.
pub(crate) struct ShiftedRing;

impl Family for ShiftedRing {
    fn name(&self) -> &'static str {
        "shifted-ring"
    }

    fn summary(&self) -> &'static str {
        "rings of ranks an offset apart, one per residue class when it shares a factor with n; ports as for ring"
    }

    fn source(&self) -> &'static str {
        "HARVEST §5.1 (observation 4) and appendix A; the subrings of BRIDGE"
    }

    fn parameters(&self) -> &'static str {
        ":OFFSET[,one-way|,two-way]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "shifted-ring:OFFSET[,one-way|,two-way], OFFSET a whole number that is not a multiple of \
                      the number of GPUs",
        };
        let (rest, way) = parameters.split_way();
        let offsets = rest.offsets(|index| (index == 0).then_some(shape.gpus())).map_err(|_| parameters.refuse())?;
        let offset = offsets[0];
        let way_text = way.map_or(String::new(), |way| format!(",{}", way.name()));
        let name = format!("{}:{offset}{way_text}", self.name());
        rings(name, shape, remainder(offset, shape.gpus()), way, &parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::algo::kosaraju_scc;
    use petgraph::graphmap::DiGraphMap;

    #[test]
    fn there_is_one_ring_per_residue_class() {
        for n in [2u32, 7, 12, 16] {
            for offset in 1..n {
                let shape = Shape::new(n, &[], 1).unwrap();
                let topology = ShiftedRing.build(&shape, &offset.to_string()).unwrap();
                let links = topology.expanded();
                let graph: DiGraphMap<u32, ()> = links.iter().map(|link| (link.src, link.dst)).collect();
                let classes = (1..=n).filter(|k| n.is_multiple_of(*k) && offset.is_multiple_of(*k)).max().unwrap();
                assert_eq!(kosaraju_scc(&graph).len() as u32, classes, "n {n}, offset {offset}");
            }
        }
    }

    #[test]
    fn opposite_offsets_are_the_same_two_way_rings() {
        let shape = Shape::new(16, &[], 4).unwrap();
        let (there, back) = (ShiftedRing.build(&shape, "3").unwrap(), ShiftedRing.build(&shape, "-3").unwrap());
        assert!(there.same_links(&back));
        assert_eq!(back.name(), "shifted-ring:-3");
        let one_way = ShiftedRing.build(&shape, "3,one-way").unwrap();
        assert_eq!((one_way.name(), one_way.links()[0].count), ("shifted-ring:3,one-way", 4));
    }

    #[test]
    fn offsets_that_go_nowhere_are_refused() {
        let shape = Shape::new(16, &[], 1).unwrap();
        for wrong in ["", "0", "16", "-32", "1,2", "x", "3,both", "1.5", ","] {
            let error = ShiftedRing.build(&shape, wrong).unwrap_err().to_string();
            assert!(error.starts_with("topology: `shifted-ring") && error.contains("OFFSET"), "{error}");
        }
    }
}
