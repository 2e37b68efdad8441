//! Fronts under concurrent flow that were solved already, for whoever asks for the same pair again: compositions,
//! circulants and starts of many requests have topologies and patterns in common.

use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use model::{Routing, Topology, Traffic};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, OptionsBuilder, Weighter};

use crate::cutoffs::known_fronts::{MOST_IN_ALL, MOST_OF_ONE};
use crate::{Front, LoadBound, RoutingNetwork};

/// Fronts and bounds by pair; those that are asked for seldom make room for new ones. Passed on by their owner.
#[derive(Debug)]
pub struct KnownFronts {
    kept: Cache<Pair, Arc<Solved>, Size>,
}

impl Default for KnownFronts {
    fn default() -> Self {
        let mut options = OptionsBuilder::new();
        // One shard, so that the largest pair fits in on a machine of many cores, too.
        let options =
            options.shards(1).estimated_items_capacity(MOST_IN_ALL / MOST_OF_ONE).weight_capacity(MOST_IN_ALL as u64);
        #[expect(clippy::unwrap_used, reason = "both capacities are stated")]
        let options = options.build().unwrap();
        Self { kept: Cache::with_options(options, Size, DefaultHashBuilder::default(), DefaultLifecycle::default()) }
    }
}

/// The key of a solution.
#[derive(Debug, Clone)]
struct Pair {
    topology: Topology,
    traffic: Traffic,
}

/// A [`Pair`] to be looked up.
struct Asked<'a>(&'a Topology, &'a Traffic);

/// Links and arcs of a pair.
#[derive(Debug, Clone)]
struct Size;

#[derive(Debug, Default)]
struct Solved {
    front: OnceLock<Option<Front>>,
    bound: OnceLock<Option<LoadBound>>,
}

impl KnownFronts {
    /// [`RoutingNetwork::front`] under concurrent flow. Who asks for a front that another thread solves waits for it.
    pub fn front(&self, network: &RoutingNetwork, traffic: &Traffic) -> Option<Front> {
        self.front_on(network.topology(), traffic, || network)
    }

    /// [`KnownFronts::front`] of a topology, which `network` prepares for routing where the front is not known.
    pub fn front_on<'a>(
        &self,
        topology: &Topology,
        traffic: &Traffic,
        network: impl Fn() -> &'a RoutingNetwork,
    ) -> Option<Front> {
        let solve = || network().front(traffic, Routing::ConcurrentFlow);
        self.solved(topology, traffic).map_or_else(solve, |solved| solved.front.get_or_init(solve).clone())
    }

    /// [`RoutingNetwork::load_bound`] under concurrent flow.
    pub fn load_bound(&self, network: &RoutingNetwork, traffic: &Traffic) -> Option<LoadBound> {
        let solve = || network.load_bound(traffic, Routing::ConcurrentFlow);
        self.solved(network.topology(), traffic).map_or_else(solve, |solved| *solved.bound.get_or_init(solve))
    }

    /// The number of pairs that are kept.
    pub fn count(&self) -> usize {
        self.kept.len()
    }

    /// The cell of a pair's solution; `None` for a pair that is too large to be kept.
    fn solved(&self, topology: &Topology, traffic: &Traffic) -> Option<Arc<Solved>> {
        if size(topology, traffic) > MOST_OF_ONE {
            return None;
        }
        if let Some(solved) = self.kept.get(&Asked(topology, traffic)) {
            return Some(solved);
        }
        let pair = Pair { topology: topology.clone(), traffic: traffic.clone() };
        self.kept.get_or_insert_with(&pair, || Ok::<_, Infallible>(Arc::default())).ok()
    }
}

fn size(topology: &Topology, traffic: &Traffic) -> usize {
    topology.links().len() + traffic.arcs().len()
}

impl Weighter<Pair, Arc<Solved>> for Size {
    fn weight(&self, pair: &Pair, _: &Arc<Solved>) -> u64 {
        size(&pair.topology, &pair.traffic) as u64
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        Asked(&self.topology, &self.traffic).equivalent(other)
    }
}

// Weights of traffic are numbers, never NaN.
impl Eq for Pair {}

impl Hash for Pair {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Asked(&self.topology, &self.traffic).hash(state);
    }
}

impl Hash for Asked<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.links().hash(state);
        for arc in self.1.arcs() {
            (arc.src, arc.dst, arc.weight.to_bits()).hash(state);
        }
    }
}

impl Equivalent<Pair> for Asked<'_> {
    /// Whether links, traffic and their representatives are the same, so that the solver gives the same to the bit.
    fn equivalent(&self, pair: &Pair) -> bool {
        self.0.symmetry() == pair.topology.symmetry()
            && self.0.links() == pair.topology.links()
            && self.0.same_rates(&pair.topology)
            && *self.1 == pair.traffic
    }
}

#[cfg(test)]
mod tests {
    use model::{TrafficEntry, Translations};

    use super::*;

    fn exchange(weight: f64) -> Traffic {
        let group = Translations::cyclic(16);
        Traffic::new(group, (1..16).map(|dst| TrafficEntry { src: 0, dst, weight: if dst < 8 { 1.0 } else { weight } }))
            .unwrap()
    }

    fn network(generators: &[u32]) -> RoutingNetwork {
        RoutingNetwork::of(Topology::circulant(16, generators).unwrap())
    }

    #[test]
    fn what_is_known_is_what_is_solved() {
        let known = KnownFronts::default();
        let networks = [&[1, 15][..], &[1], &[1, 5], &[2, 4]].map(network);
        for _ in 0..2 {
            for network in &networks {
                for weight in [1.0, 0.5, 0.25] {
                    let traffic = exchange(weight);
                    let solved = network.front(&traffic, Routing::ConcurrentFlow);
                    assert_eq!(known.front(network, &traffic), solved);
                    assert_eq!(
                        known.load_bound(network, &traffic),
                        network.load_bound(&traffic, Routing::ConcurrentFlow)
                    );
                }
            }
        }
        assert_eq!(known.count(), networks.len() * 3);
    }

    #[test]
    fn they_make_room_for_new_ones() {
        let known = KnownFronts::default();
        let network = network(&[1]);
        let arcs = exchange(1.0).arcs().len() + network.topology().links().len();
        for weight in 1..=2 * MOST_IN_ALL / arcs {
            known.solved(network.topology(), &exchange(1.0 / weight as f64));
        }
        assert!(known.kept.weight() <= MOST_IN_ALL as u64);
        assert!(known.kept.weight() > MOST_IN_ALL as u64 / 2);
    }
}
