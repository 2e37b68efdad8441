//! The circuits of communications at islands.

use std::sync::{Arc, PoisonError};

use model::Topology;

use super::{Layer, Load, NodeLoad, Place, sum};
use crate::library::Library;
use crate::problem::{Problem, Use};

impl Layer {
    /// The circuits of a communication; `None` for computations.
    pub(crate) fn load_of(&self, library: &Library<'_>, problem: &Problem<'_>, node: usize) -> Option<Arc<NodeLoad>> {
        let (used, place) = (problem.uses[node].as_ref()?, self.place_of[node]?);
        let holders = problem.holders(node);
        let width = if used.entry.direct { used.ports.1 - used.ports.0 } else { 0 };
        let key = (place, holders.len(), used.entry.plan, used.entry.first.0, width);
        let known = || self.known.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        Some(known().unwrap_or_else(|| {
            let made = Arc::new(self.count(library, &self.places[place], holders, used));
            self.known.write().unwrap_or_else(PoisonError::into_inner).insert(key, made.clone());
            made
        }))
    }

    fn count(&self, library: &Library<'_>, place: &Place, holders: &[usize], used: &Use) -> NodeLoad {
        if used.entry.direct {
            let left: Vec<Load> = holders.iter().map(|&class| self.of_messages(place, class, used)).collect();
            return NodeLoad { most: sum(self.nothing(), &left), left };
        }
        let of = |topology: &Topology| -> Vec<Load> {
            let circuits = topology.expanded();
            holders.iter().map(|&class| self.of_topology(place, class, &circuits)).collect()
        };
        let left = library.group_topology(used.entry.last).map(of).unwrap_or_default();
        let mut most = sum(self.nothing(), &left);
        for topology in used.entry.plan.into_iter().flat_map(|plan| library.plans[plan].topologies.iter()) {
            let at_once = sum(self.nothing(), &of(topology));
            most.iter_mut().zip(at_once).for_each(|(most, circuits)| *most = (*most).max(circuits));
        }
        NodeLoad { most, left }
    }

    /// Circuits of messages at the ranks of a class.
    fn of_messages(&self, place: &Place, class: usize, used: &Use) -> Load {
        let mut load = self.nothing();
        for &(source, destination) in &place.pairs {
            let ends = [source, destination].map(|rank| self.island(rank));
            for (end, rank) in [source, destination].into_iter().enumerate() {
                if ends[0] != ends[1] && self.members[class].contains(&rank) {
                    load[end * self.sites() + ends[end]] += used.ports.1 - used.ports.0;
                }
            }
        }
        load
    }

    /// Circuits of a topology of groups at the ranks of a class.
    fn of_topology(&self, place: &Place, class: usize, circuits: &[model::Link]) -> Load {
        let mut load = self.nothing();
        for group in place.groups.iter().filter(|group| group.iter().any(|rank| self.members[class].contains(rank))) {
            for link in circuits {
                let ranks = [link.src, link.dst].map(|at| group[at as usize]);
                let ends = ranks.map(|rank| self.island(rank));
                for end in 0..2 {
                    if ends[0] != ends[1] && self.members[class].contains(&ranks[end]) {
                        load[end * self.sites() + ends[end]] += link.count;
                    }
                }
            }
        }
        load
    }
}
