//! Hypercubes.

use model::{Link, Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::Parameters;

/// The family in which each rank is joined to the ranks whose number differs in one bit.
pub(crate) struct Hypercube;

impl Family for Hypercube {
    fn name(&self) -> &'static str {
        "hypercube"
    }

    fn summary(&self) -> &'static str {
        "n = 2^k ranks, joined where their numbers differ in one bit; k ports, or a multiple for parallel circuits"
    }

    fn source(&self) -> &'static str {
        "Foster, Designing and Building Parallel Programs, 1995, ch. 11; PCCL §5 (DEX All-to-All)"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters { family: self.name(), text: parameters, accepts: "hypercube, without parameters" };
        parameters.none()?;
        let (gpus, ports) = (shape.gpus(), shape.ports());
        if !gpus.is_power_of_two() {
            return Err(parameters.refuse_shape(format!("it needs a power of two of GPUs, not {gpus}")));
        }
        let bits = gpus.ilog2();
        if ports < bits {
            return Err(parameters.refuse_shape(format!("it needs {bits} ports per GPU and the fabric has {ports}")));
        }
        let links = (0..bits).map(|bit| Link { src: 0, dst: 1 << bit, count: ports / bits });
        Topology::new(self.name(), Translations::xor(gpus), links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_ranks_differ_in_one_bit() {
        for bits in 1..8u32 {
            let shape = Shape::new(1 << bits, &[], 2 * bits + 1).unwrap();
            let cube = Hypercube.build(&shape, "").unwrap();
            let count = if bits == 1 { 3 } else { 2 };
            assert!(cube.expanded().iter().all(|link| (link.src ^ link.dst).count_ones() == 1 && link.count == count));
            assert_eq!(cube.expanded().len() as u32, bits << bits);
            assert!(cube.symmetry().is_transitive());
        }
    }

    #[test]
    fn other_sizes_and_too_few_ports_are_refused() {
        assert!(Hypercube.build(&Shape::new(12, &[], 8).unwrap(), "").is_err());
        assert!(Hypercube.build(&Shape::new(16, &[], 3).unwrap(), "").is_err());
        assert!(Hypercube.build(&Shape::new(16, &[], 4).unwrap(), "4").is_err());
    }
}
