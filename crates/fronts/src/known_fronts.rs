//! Fronts under concurrent flow that were solved already, for whoever asks for the same pair again: compositions,
//! circulants and starts of many requests have topologies and patterns in common.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::{Routing, Topology, Traffic};

use crate::cutoffs::known_fronts::{MOST_IN_ALL, MOST_OF_ONE};
use crate::{Front, LoadBound, RoutingNetwork};

/// Fronts and bounds by pair, the oldest of which make room for new ones. Passed on by their owner.
#[derive(Debug, Default)]
pub struct KnownFronts {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_hash: HashMap<u64, Vec<Pair>>,
    /// Hashes of the pairs, the oldest first.
    order: VecDeque<u64>,
    /// Links and arcs of all pairs.
    size: usize,
}

#[derive(Debug)]
struct Pair {
    topology: Topology,
    traffic: Traffic,
    solved: Arc<Solved>,
}

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
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).order.len()
    }

    /// What is known of a pair; `None` of one that is too large to be kept.
    fn solved(&self, topology: &Topology, traffic: &Traffic) -> Option<Arc<Solved>> {
        let size = topology.links().len() + traffic.arcs().len();
        if size > MOST_OF_ONE {
            return None;
        }
        let hash = hash_of(topology, traffic);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pair) =
            kept.by_hash.get(&hash).and_then(|pairs| pairs.iter().find(|pair| pair.is(topology, traffic)))
        {
            return Some(pair.solved.clone());
        }
        while kept.size + size > MOST_IN_ALL && kept.drop_oldest() {}
        let solved = Arc::<Solved>::default();
        let pair = Pair { topology: topology.clone(), traffic: traffic.clone(), solved: solved.clone() };
        kept.by_hash.entry(hash).or_default().push(pair);
        kept.order.push_back(hash);
        kept.size += size;
        Some(solved)
    }
}

impl Kept {
    /// Forgets the pair that has been kept for the longest; `false` where there is none.
    fn drop_oldest(&mut self) -> bool {
        let Some(hash) = self.order.pop_front() else { return false };
        if let Some(pairs) = self.by_hash.get_mut(&hash) {
            self.size -= pairs.remove(0).size();
            if pairs.is_empty() {
                self.by_hash.remove(&hash);
            }
        }
        true
    }
}

impl Pair {
    /// Whether it is of these links and this traffic, by the same representatives: their solver does the same to the bit.
    fn is(&self, topology: &Topology, traffic: &Traffic) -> bool {
        self.topology.symmetry() == topology.symmetry()
            && self.topology.links() == topology.links()
            && self.traffic == *traffic
    }

    fn size(&self) -> usize {
        self.topology.links().len() + self.traffic.arcs().len()
    }
}

fn hash_of(topology: &Topology, traffic: &Traffic) -> u64 {
    let mut hasher = DefaultHasher::new();
    topology.links().hash(&mut hasher);
    for arc in traffic.arcs() {
        (arc.src, arc.dst, arc.weight.to_bits()).hash(&mut hasher);
    }
    hasher.finish()
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
        let pairs: usize = known.kept.lock().unwrap().by_hash.values().map(Vec::len).sum();
        assert_eq!(pairs, networks.len() * 3);
    }

    #[test]
    fn the_oldest_make_room() {
        let mut kept = Kept::default();
        let (topology, traffic) = (network(&[1]).topology().clone(), exchange(1.0));
        for hash in [7, 7, 8] {
            let pair = Pair { topology: topology.clone(), traffic: traffic.clone(), solved: Arc::default() };
            kept.size += pair.size();
            kept.by_hash.entry(hash).or_default().push(pair);
            kept.order.push_back(hash);
        }
        assert!(kept.drop_oldest());
        assert_eq!((kept.by_hash[&7].len(), kept.by_hash[&8].len()), (1, 1));
        assert!(kept.drop_oldest() && kept.drop_oldest() && !kept.drop_oldest());
        assert_eq!((kept.by_hash.len(), kept.size), (0, 0));
    }
}
