//! Generalised de Bruijn graphs without idle ports.

use model::{Result, Shape, Topology};

use crate::explicit_links::enumerated_with_joined_loops;
use crate::family::Family;
use crate::parameters::Parameters;

/// The generalised de Bruijn graph, where the ranks that would have a circuit to themselves have one to the next such
/// rank instead, so that every rank uses all its ports.
pub(crate) struct RewiredDeBruijn;

impl Family for RewiredDeBruijn {
    fn name(&self) -> &'static str {
        "rewired-de-bruijn"
    }

    fn summary(&self) -> &'static str {
        "generalised de Bruijn graph of degree d ≥ 2, d ≤ n: ranks with a circuit to themselves, such as 0 and n − 1, have \
         one to the next such rank instead"
    }

    fn source(&self) -> &'static str {
        "Imase and Itoh, Design to minimize diameter on building-block network, IEEE Trans. Comp. 1981; joining the ranks \
         with loops in a ring: Lightloom"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters =
            Parameters { family: self.name(), text: parameters, accepts: "rewired-de-bruijn, without parameters" };
        parameters.none()?;
        let (gpus, ports) = (shape.gpus(), shape.ports());
        if ports < 2 || ports > gpus {
            return Err(parameters.refuse_shape("it needs 2 ports per GPU or more, and no more than GPUs"));
        }
        let successors = |rank| (0..ports).map(move |j| (ports * rank + j) % gpus);
        enumerated_with_joined_loops(self.name().into(), shape, &parameters, successors, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BreadthFirst, Rank};

    #[test]
    fn every_port_is_used_and_the_diameter_stays_that_of_the_de_bruijn_graph() {
        for ports in 2..7u32 {
            for gpus in ports.max(2)..90 {
                let graph = RewiredDeBruijn.build(&Shape::new(gpus, &[], ports).unwrap(), "").unwrap();
                let (mut out, mut into) = (vec![0; gpus as usize], vec![0; gpus as usize]);
                let mut heads: Vec<Vec<Rank>> = vec![Vec::new(); gpus as usize];
                for link in graph.expanded() {
                    out[link.src as usize] += link.count;
                    into[link.dst as usize] += link.count;
                    heads[link.src as usize].push(link.dst);
                }
                assert!(out.iter().chain(&into).all(|&circuits| circuits == ports), "n {gpus}, d {ports}");
                // ⌈log_d n⌉: the least h with d^h ≥ n.
                let most = (0u32..).find(|&hops| u64::from(ports).pow(hops) >= u64::from(gpus)).unwrap();
                let mut search = BreadthFirst::new(gpus as usize);
                for src in 0..gpus {
                    let distances = search.search(src, |at| heads[at as usize].iter().copied());
                    assert!(distances.iter().all(|&hops| hops <= most), "n {gpus}, d {ports}");
                }
            }
        }
    }

    #[test]
    fn of_eight_ranks_with_two_ports_the_first_and_the_last_are_joined() {
        let graph = RewiredDeBruijn.build(&Shape::new(8, &[], 2).unwrap(), "").unwrap();
        let heads = |rank: Rank| -> Vec<Rank> {
            graph.expanded().iter().filter(|link| link.src == rank).map(|link| link.dst).collect()
        };
        assert_eq!((heads(0), heads(7), heads(3)), (vec![1, 7], vec![0, 6], vec![6, 7]));
    }

    #[test]
    fn one_port_more_ports_than_gpus_and_parameters_are_refused() {
        for (gpus, ports, parameters) in [(8, 1, ""), (3, 4, ""), (8, 2, "x")] {
            assert!(RewiredDeBruijn.build(&Shape::new(gpus, &[], ports).unwrap(), parameters).is_err());
        }
    }
}
