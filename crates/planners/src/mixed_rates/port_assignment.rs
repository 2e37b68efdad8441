//! The circuits of a topology dealt out to ports of different rates.

use model::{PortRates, Result, Shape, Topology};

use super::edge_colouring::matchings;
use crate::cutoffs::mixed_rates::MOST_DEALINGS;

/// The topology as the start of a fabric of this shape has it: where ports have different rates, with its first
/// circuits on the fastest ports, in the order of its links; where pairs of GPUs have different rates, at these rates.
///
/// # Errors
/// More circuits at a GPU than it has ports, where these have different rates.
pub fn as_it_starts(topology: Topology, shape: &Shape) -> Result<Topology> {
    let Some(rates) = shape.rates() else { return Ok(shape.rated(topology)) };
    topology.check_ports(shape.ports())?;
    let by_link = matchings(&topology, &(0..topology.links().len()).collect::<Vec<_>>());
    let classes = fastest(rates, topology.degree());
    dealt(&topology, rates, &by_link, &classes)
}

/// Ways to deal out the circuits, each once: its matchings on the ports in every order, as far as there are few, and
/// the links with the most `bytes`, by link, on the fastest ports.
///
/// # Errors
/// More circuits at a GPU than it has ports.
pub(super) fn all(topology: &Topology, rates: &PortRates, bytes: &[f64]) -> Result<Vec<Topology>> {
    let mut order: Vec<usize> = (0..topology.links().len()).collect();
    order.sort_by(|&a, &b| bytes[b].total_cmp(&bytes[a]).then(a.cmp(&b)));
    let by_link = matchings(topology, &order);
    let mut classes = fastest(rates, topology.degree());
    let mut ways: Vec<Topology> = Vec::new();
    for _ in 0..MOST_DEALINGS {
        interruption::check();
        let way = dealt(topology, rates, &by_link, &classes)?;
        if !ways.iter().any(|known| known.same_links(&way)) {
            ways.push(way);
        }
        if !next_order(&mut classes) {
            break;
        }
    }
    Ok(ways)
}

/// The class of ports of each of so many matchings, on the fastest ports.
fn fastest(rates: &PortRates, degree: u32) -> Vec<usize> {
    let classes = rates.classes();
    let ports = classes.iter().enumerate().flat_map(|(class, of)| std::iter::repeat_n(class, of.ports.len()));
    ports.take(degree as usize).collect()
}

/// The topology whose circuits are in matchings `by_link`, each on ports of a class.
fn dealt(topology: &Topology, rates: &PortRates, by_link: &[Vec<usize>], classes: &[usize]) -> Result<Topology> {
    let number = rates.classes().len();
    let links = topology.links();
    topology.clone().on_ports(rates, |link| {
        let mut circuits = vec![0; number];
        let at = links.partition_point(|other| (other.src, other.dst) < (link.src, link.dst));
        by_link[at].iter().for_each(|&matching| circuits[classes[matching]] += 1);
        circuits
    })
}

/// The next order in the order of words; false where this is the last one.
fn next_order(classes: &mut [usize]) -> bool {
    let Some(at) = (1..classes.len()).rev().find(|&at| classes[at - 1] < classes[at]) else { return false };
    let larger = (at..classes.len()).rev().find(|&place| classes[place] > classes[at - 1]).unwrap_or(at);
    classes.swap(at - 1, larger);
    classes[at..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Translations};

    fn rates(bps: &[f64]) -> PortRates {
        PortRates::new("bandwidth", bps, bps.len() as u32).unwrap().unwrap()
    }

    #[test]
    fn orders_are_those_of_words() {
        let mut classes = vec![0, 0, 1, 1];
        let mut count = 1;
        while next_order(&mut classes) {
            count += 1;
        }
        assert_eq!((count, classes), (6, vec![1, 1, 0, 0]));
    }

    #[test]
    fn two_ways_round_a_ring_are_two_ways_to_deal() {
        let ring =
            Topology::new("ring", Translations::cyclic(5), [1, 4].map(|dst| Link { src: 0, dst, count: 1 })).unwrap();
        let capacities = |way: &Topology| way.links().iter().map(|link| way.capacity(link)).collect::<Vec<_>>();
        let ways = all(&ring, &rates(&[8.0, 2.0]), &[1.0, 3.0]).unwrap();
        assert_eq!(ways.iter().map(capacities).collect::<Vec<_>>(), [vec![0.25, 1.0], vec![1.0, 0.25]]);
        let shape = |bps: &[f64]| Shape::new(5, &[], bps.len() as u32).unwrap().with_rates(Some(rates(bps)));
        assert_eq!(capacities(&as_it_starts(ring.clone(), &shape(&[2.0, 8.0, 8.0])).unwrap()), [1.0, 1.0]);
        assert_eq!(capacities(&as_it_starts(ring, &shape(&[2.0, 8.0])).unwrap()), [1.0, 0.25]);
        assert!(as_it_starts(Topology::circulant(5, &[1, 2, 3]).unwrap(), &shape(&[8.0, 2.0])).is_err());
    }
}
