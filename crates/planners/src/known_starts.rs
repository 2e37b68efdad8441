//! The initial topologies of earlier requests. They join the candidates of later ones, so that one change to such a
//! topology costs no more than the plan that starts on it.

use std::sync::Arc;

use fronts::RoutingNetwork;
use model::{Latest, Shape, Topology};
use topologies::{Diameter, candidates};

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
        let mut joining = candidates::starts(shape);
        joining.retain(joins_all);
        let starts: Starts = networks.all(&joining).into();
        self.made.keep((shape.clone(), starts.clone()));
        starts
    }
}

/// Whether every GPU reaches every other; also not where that takes long to find.
pub(crate) fn joins_all(topology: &Topology) -> bool {
    matches!(Diameter::of(topology), Some(Diameter::Hops(_)))
}
