//! Topologies that are prepared for routing already.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::cutoffs::known_networks::FEWEST_KEPT;
use fronts::RoutingNetwork;
use model::Topology;

/// Prepared topologies that some table still holds, so that all algorithms' tables of the same candidates have links
/// and distances of each once. Passed on by its owner.
#[derive(Debug, Default)]
pub(crate) struct KnownNetworks {
    by_name: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    networks: BTreeMap<String, Vec<Weak<RoutingNetwork>>>,
    /// Topologies that were added since those that nothing holds were let go.
    added: usize,
}

impl KnownNetworks {
    /// Every topology prepared, in order.
    pub(crate) fn all(&self, topologies: &[Topology]) -> Vec<Arc<RoutingNetwork>> {
        let mut known = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        topologies.iter().map(|topology| known.one(topology)).collect()
    }
}

impl Known {
    fn one(&mut self, topology: &Topology) -> Arc<RoutingNetwork> {
        let of_name = self.networks.entry(topology.name().to_string()).or_default();
        let held = of_name.iter().filter_map(Weak::upgrade).find(|network| network.topology() == topology);
        if let Some(network) = held {
            return network;
        }
        let network = Arc::new(RoutingNetwork::new(topology));
        of_name.retain(|network| network.strong_count() > 0);
        of_name.push(Arc::downgrade(&network));
        self.added += 1;
        if self.added > FEWEST_KEPT.max(self.networks.len() / 2) {
            self.networks.retain(|_, of_name| of_name.iter().any(|network| network.strong_count() > 0));
            self.added = 0;
        }
        network
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Shape;

    #[test]
    fn what_is_held_is_prepared_once_and_what_is_not_is_let_go() {
        let build = |spec: &str, gpus| topologies::build(spec, &Shape::new(gpus, &[], 2).unwrap()).unwrap();
        let known = KnownNetworks::default();
        let rings = [build("ring", 8), build("ring", 9), build("ring:one-way", 8)];
        let held = known.all(&rings);
        let again = known.all(&rings);
        for ((network, same), ring) in held.iter().zip(&again).zip(&rings) {
            assert!(Arc::ptr_eq(network, same) && network.topology() == ring);
        }
        drop((held, again));
        let many: Vec<Topology> = (0..=FEWEST_KEPT).map(|index| rings[0].clone().renamed(index.to_string())).collect();
        for topology in &many {
            known.all(std::slice::from_ref(topology));
        }
        assert!(known.by_name.lock().unwrap().networks.len() <= rings.len() + 1);
    }
}
