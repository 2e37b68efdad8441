//! Circulant graphs.

use model::{Link, Result, Shape, Topology, Translations};

use super::Family;
use crate::parameters::{Parameters, listed, remainder};

/// Each rank is joined to those that the generators are away from it.
pub(crate) struct Circulant;

impl Family for Circulant {
    fn name(&self) -> &'static str {
        "circulant"
    }

    fn summary(&self) -> &'static str {
        "one circuit per generator from each rank to rank + generator; repeat one for parallel circuits"
    }

    fn source(&self) -> &'static str {
        "To reconfigure or not to reconfigure, degree-k base topologies (fig. 8)"
    }

    fn parameters(&self) -> &'static str {
        ":G1,G2,..."
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let gpus = shape.gpus();
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "circulant:G1,G2,..., whole numbers that are not multiples of the number of GPUs",
        };
        let generators = parameters.offsets(|_| Some(gpus))?;
        let links = generators.iter().map(|&generator| Link { src: 0, dst: remainder(generator, gpus), count: 1 });
        let name = format!("{}:{}", self.name(), listed(&generators));
        Topology::new(name, Translations::cyclic(gpus), links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_are_taken_modulo_n_and_may_repeat() {
        let shape = Shape::new(10, &[], 4).unwrap();
        let topology = Circulant.build(&shape, "1, -1,11,5").unwrap();
        assert_eq!(topology.name(), "circulant:1,-1,11,5");
        let links: Vec<_> = topology.links().iter().map(|link| (link.dst, link.count)).collect();
        assert_eq!(links, [(1, 2), (5, 1), (9, 1)]);
    }

    #[test]
    fn a_generator_that_goes_nowhere_is_refused() {
        let shape = Shape::new(10, &[], 4).unwrap();
        for wrong in ["", "1,0", "20", "1,,2", "one"] {
            assert!(Circulant.build(&shape, wrong).is_err(), "{wrong}");
        }
    }
}
