//! Generalised de Bruijn graphs.

use model::{Result, Shape, Topology};

use crate::explicit_links::enumerated;
use crate::family::Family;
use crate::parameters::Parameters;

/// Rank u is joined to d·u + j mod n for j = 0 … d−1: at most ⌈log_d n⌉ hops between any two.
pub(crate) struct DeBruijn;

impl Family for DeBruijn {
    fn name(&self) -> &'static str {
        "de-bruijn"
    }

    fn summary(&self) -> &'static str {
        "generalised de Bruijn graph of degree d ≥ 2, any n: ranks u to d·u + j, j = 0…d−1; \
         circuits from a rank to itself are left out"
    }

    fn source(&self) -> &'static str {
        "Reddy, Pradhan and Kuhl, Directed graphs with minimal diameter and maximal connectivity, 1980; \
         Imase and Itoh, Design to minimize diameter on building-block network, IEEE Trans. Comp. 1981"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters { family: self.name(), text: parameters, accepts: "de-bruijn, without parameters" };
        parameters.none()?;
        let (gpus, ports) = (shape.gpus(), shape.ports());
        if ports < 2 {
            return Err(parameters.refuse_shape("it needs 2 ports per GPU or more and the fabric has 1"));
        }
        enumerated(self.name().into(), shape, &parameters, |rank| (0..ports).map(move |j| (ports * rank + j) % gpus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_true_de_bruijn_graph_shifts_words() {
        // B(2, 4): a word of 4 bits leads to the words that drop its first bit and append one.
        let graph = DeBruijn.build(&Shape::new(16, &[], 2).unwrap(), "").unwrap();
        for link in graph.expanded() {
            assert_eq!(link.dst >> 1, link.src & 0b111);
        }
        // All 32 but the two from 0000 and 1111 to themselves.
        assert_eq!(graph.circuits(), 30);
    }

    #[test]
    fn one_port_and_parameters_are_refused() {
        assert!(DeBruijn.build(&Shape::new(8, &[], 1).unwrap(), "").is_err());
        assert!(DeBruijn.build(&Shape::new(8, &[], 2).unwrap(), "x").is_err());
    }
}
