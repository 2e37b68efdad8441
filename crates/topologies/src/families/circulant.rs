//! Circulant graphs.

use model::{Link, Result, Shape, Topology, Translations, show_generators};

use crate::family::Family;
use crate::parameters::{Parameters, remainder};

/// The family in which each rank has circuits to the ranks that are a generator ahead of it.
pub(crate) struct Circulant;

impl Family for Circulant {
    fn name(&self) -> &'static str {
        "circulant"
    }

    fn summary(&self) -> &'static str {
        "one circuit per generator from each rank to rank + generator; G^2 is two in parallel"
    }

    fn source(&self) -> &'static str {
        "To reconfigure or not to reconfigure, degree-k base topologies (fig. 8)"
    }

    fn parameters(&self) -> &'static str {
        ":G1,G2^TIMES,..."
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let gpus = shape.gpus();
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "circulant:G1,G2,..., whole numbers that are not multiples of the number of GPUs, G^2 for two in \
                      parallel",
        };
        let generators = parameters.generators(gpus)?;
        let links = generators.iter().map(|&generator| Link { src: 0, dst: remainder(generator, gpus), count: 1 });
        let name = format!("{}:{}", self.name(), show_generators(generators.iter().copied()));
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
        let parallel = Circulant.build(&shape, "3 ^2, 3,1").unwrap();
        assert_eq!(parallel.name(), "circulant:3^3,1");
        assert_eq!(parallel.circuits(), 40);
        let links: Vec<_> = topology.links().iter().map(|link| (link.dst, link.count)).collect();
        assert_eq!(links, [(1, 2), (5, 1), (9, 1)]);
    }

    #[test]
    fn a_generator_that_goes_nowhere_is_refused() {
        let shape = Shape::new(10, &[], 4).unwrap();
        for wrong in ["", "1,0", "20", "1,,2", "one", "1^0", "1^", "1^-2", "1^99999999999", "1^5000", "1^2^2"] {
            assert!(Circulant.build(&shape, wrong).is_err(), "{wrong}");
        }
    }
}
