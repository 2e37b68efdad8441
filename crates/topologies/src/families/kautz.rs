//! Generalised Kautz graphs.

use model::{Result, Shape, Topology};

use crate::explicit_links::enumerated;
use crate::family::Family;
use crate::parameters::Parameters;

/// Rank u is joined to −(d·u + j) mod n for j = 1 … d: at most ⌈log_d n⌉ hops between any two.
pub(crate) struct Kautz;

impl Family for Kautz {
    fn name(&self) -> &'static str {
        "kautz"
    }

    fn summary(&self) -> &'static str {
        "generalised Kautz graph of degree d ≥ 2, any n: ranks u to −(d·u + j), j = 1…d; \
         circuits from a rank to itself are left out"
    }

    fn source(&self) -> &'static str {
        "Imase and Itoh, A design for directed graphs with minimum diameter, IEEE Trans. Comp. 1983; \
         To reconfigure or not to reconfigure, fig. 9; HARVEST §6.1"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters { family: self.name(), text: parameters, accepts: "kautz, without parameters" };
        parameters.none()?;
        let (gpus, ports) = (shape.gpus(), shape.ports());
        if ports < 2 {
            return Err(parameters.refuse_shape("it needs 2 ports per GPU or more and the fabric has 1"));
        }
        enumerated(self.name().into(), shape, &parameters, |rank| {
            (1..=ports).map(move |j| (gpus - (ports * rank + j) % gpus) % gpus)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_true_kautz_graph_uses_every_port() {
        // K(d, k) has d^k + d^(k−1) vertices and no loops.
        for (d, k) in [(2u32, 2u32), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2)] {
            let n = d.pow(k) + d.pow(k - 1);
            let kautz = Kautz.build(&Shape::new(n, &[], d).unwrap(), "").unwrap();
            assert_eq!(kautz.circuits(), u64::from(n * d));
            assert!(kautz.expanded().iter().all(|link| link.count == 1));
        }
    }

    #[test]
    fn symmetry_has_the_order_that_the_formula_gives() {
        // Moving u by t moves its successors by −d·t, which is t where (d+1)·t ≡ 0.
        for (n, d, order) in [(12, 2, 3), (64, 3, 4), (60, 4, 5), (64, 2, 1)] {
            let kautz = Kautz.build(&Shape::new(n, &[], d).unwrap(), "").unwrap();
            assert!(kautz.symmetry().order().is_multiple_of(order), "n {n}, d {d}: {:?}", kautz.symmetry());
        }
    }

    #[test]
    fn one_port_and_parameters_are_refused() {
        assert!(Kautz.build(&Shape::new(8, &[], 1).unwrap(), "").is_err());
        assert!(Kautz.build(&Shape::new(8, &[], 2).unwrap(), "2").is_err());
        let error = Kautz.build(&Shape::new(65_536, &[], 1024).unwrap(), "").unwrap_err().to_string();
        assert!(error.contains("links"), "{error}");
    }
}
