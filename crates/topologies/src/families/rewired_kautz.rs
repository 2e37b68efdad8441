//! Generalised Kautz graphs without idle ports.

use model::{Result, Shape, Topology};

use crate::explicit_links::enumerated_with_joined_loops;
use crate::family::Family;
use crate::parameters::Parameters;

/// The generalised Kautz graph, where the ranks that would have a circuit to themselves have one to the last such rank
/// instead; the one before leaves fewer rounds of chunks than the next.
pub(crate) struct RewiredKautz;

impl Family for RewiredKautz {
    fn name(&self) -> &'static str {
        "rewired-kautz"
    }

    fn summary(&self) -> &'static str {
        "generalised Kautz graph of degree d ≥ 2, d < n: ranks with a circuit to themselves have one to the last such rank \
         before them instead"
    }

    fn source(&self) -> &'static str {
        "Imase and Itoh, A design for directed graphs with minimum diameter, IEEE Trans. Comp. 1983; joining the ranks with \
         loops in a ring: Lightloom"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters =
            Parameters { family: self.name(), text: parameters, accepts: "rewired-kautz, without parameters" };
        parameters.none()?;
        let (gpus, ports) = (shape.gpus(), shape.ports());
        if ports < 2 || ports >= gpus {
            return Err(parameters.refuse_shape("it needs 2 ports per GPU or more, and fewer than GPUs"));
        }
        let successors = |rank| (1..=ports).map(move |j| (gpus - (ports * rank + j) % gpus) % gpus);
        enumerated_with_joined_loops(self.name().into(), shape, &parameters, successors, -1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::Rank;

    use super::*;
    use crate::build;

    /// Circuits by their ends.
    fn circuits(topology: &Topology) -> BTreeMap<(Rank, Rank), u32> {
        topology.expanded().iter().map(|link| ((link.src, link.dst), link.count)).collect()
    }

    #[test]
    fn every_port_is_used_and_every_circuit_of_the_kautz_graph_is_there() {
        for ports in 2..7u32 {
            for gpus in ports + 1..90 {
                let shape = Shape::new(gpus, &[], ports).unwrap();
                let (kautz, rewired) = (build("kautz", &shape).unwrap(), build("rewired-kautz", &shape).unwrap());
                let all = circuits(&rewired);
                assert!(
                    circuits(&kautz).iter().all(|(ends, count)| all.get(ends) >= Some(count)),
                    "n {gpus}, d {ports}"
                );
                // A rank with a loop of its own and no other to be joined with keeps a port idle.
                let idle = u64::from(gpus * ports) - kautz.circuits();
                let left = if idle == 1 { 1 } else { 0 };
                assert_eq!(rewired.circuits(), u64::from(gpus * ports) - left, "n {gpus}, d {ports}");
            }
        }
    }

    #[test]
    fn one_port_as_many_ports_as_gpus_and_parameters_are_refused() {
        for (gpus, ports, parameters) in [(8, 1, ""), (4, 4, ""), (8, 2, "x")] {
            assert!(RewiredKautz.build(&Shape::new(gpus, &[], ports).unwrap(), parameters).is_err());
        }
    }
}
