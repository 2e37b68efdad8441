//! The initial topologies of earlier requests. They join the candidates of later ones, so that one change to such a
//! topology costs no more than the plan that starts on it.

use std::sync::Arc;

use fronts::RoutingNetwork;
use model::{Latest, Shape};
use topologies::candidates;

use crate::cutoffs::known_starts::{MOST_GPUS, MOST_KEPT};
use crate::known_networks::KnownNetworks;

/// Starts on which every GPU reaches every other, by shape, prepared for routing for as long as they are kept.
#[derive(Debug, Default)]
pub(crate) struct KnownStarts {
    made: Latest<(Shape, Starts), MOST_KEPT>,
}

/// Each prepared.
pub(crate) type Starts = Arc<[Arc<RoutingNetwork>]>;

impl KnownStarts {
    /// The known starts of a shape; empty where GPUs are many.
    pub(crate) fn of(&self, shape: &Shape, networks: &KnownNetworks) -> Starts {
        if shape.gpus() > MOST_GPUS {
            return Starts::default();
        }
        if let Some((_, starts)) = self.made.find(|(made_for, _)| made_for == shape) {
            return starts;
        }
        let joins_all = |network: &Arc<RoutingNetwork>| {
            let from = network.topology().symmetry().representatives();
            from.into_iter().all(|src| (0..shape.gpus()).all(|dst| src == dst || network.distance(src, dst).is_some()))
        };
        let starts: Starts = networks.all(&candidates::starts(shape)).into_iter().filter(joins_all).collect();
        self.made.keep((shape.clone(), starts.clone()));
        starts
    }
}
