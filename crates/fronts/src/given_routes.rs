//! Routes that were made together with the topology: what they attain.

use model::{Routes, Routing, Traffic};

use crate::RoutingNetwork;
use crate::front::{Front, Point};
use crate::kept_routes::KeptRoutes;

impl RoutingNetwork {
    /// The front of one point that `routes` attain, with these as its routes; `None` where they are not paths of the
    /// topology for exactly the arcs of `traffic`, or where translations of the pair make one arc of several.
    /// O(total length of all paths · log).
    pub fn front_of_routes(&self, traffic: &Traffic, routes: &Routes) -> Option<Front> {
        let (quotient, _) = self.pair(traffic)?;
        if quotient.symmetry.order() != 1 || quotient.arcs.len() != routes.arcs.len() {
            return None;
        }
        let capacities = &quotient.adjacency.capacities;
        let mut loads = vec![0.0; capacities.len()];
        let mut hops = 0;
        for (arc, routed) in interruption::checked(&quotient.arcs).zip(&routes.arcs) {
            if (arc.src, arc.dst) != (routed.src, routed.dst) {
                return None;
            }
            for path in &routed.paths {
                hops = hops.max(path.nodes.len() as u32 - 1);
                for pair in path.nodes.windows(2) {
                    let link = quotient.adjacency.out(pair[0]).iter().find(|link| link.dst == pair[1])?.orbit as usize;
                    loads[link] += arc.weight * path.share / capacities[link];
                }
            }
        }
        let load = loads.into_iter().fold(0.0, f64::max);
        let lower = self.estimate(traffic, Routing::ConcurrentFlow)?.load.min(load);
        Some(Front::single(Point { hops, load, lower }).with_routes(KeptRoutes::of(routes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, RoutedEntry, RoutedPath, Topology, TrafficEntry, Translations};

    /// Two ways of one and of two hops: by hand, 0 → 2 has three quarters directly and a quarter by way of 1.
    #[test]
    fn the_load_is_that_of_the_busiest_link() {
        let links = [(0, 1, 1), (1, 2, 1), (0, 2, 2), (2, 0, 1)].map(|(src, dst, count)| Link { src, dst, count });
        let network = RoutingNetwork::new(&Topology::new("triangle", Translations::trivial(3), links).unwrap());
        let arcs = [(0, 1, 0.5), (0, 2, 1.0)].map(|(src, dst, weight)| TrafficEntry { src, dst, weight });
        let traffic = Traffic::new(Translations::trivial(3), arcs).unwrap();
        let path = |share, nodes: &[u32]| RoutedPath { share, nodes: nodes.to_vec() };
        let arcs = vec![
            RoutedEntry { src: 0, dst: 1, paths: vec![path(1.0, &[0, 1])] },
            RoutedEntry { src: 0, dst: 2, paths: vec![path(0.75, &[0, 2]), path(0.25, &[0, 1, 2])] },
        ];
        let routes = Routes { symmetry: Translations::trivial(3), arcs };
        let front = network.front_of_routes(&traffic, &routes).unwrap();
        let [point] = front.points() else { panic!("{front:?}") };
        assert_eq!((point.hops, point.load), (2, 0.75));
        let kept = network.routes_behind(&front, &traffic, Routing::ConcurrentFlow, 2).unwrap();
        assert_eq!(kept.0, routes);
        let fewer = Routes { arcs: routes.arcs[..1].to_vec(), ..routes };
        assert!(network.front_of_routes(&traffic, &fewer).is_none());
    }
}
