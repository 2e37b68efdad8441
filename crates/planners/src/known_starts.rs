//! Topologies that fabrics start on, so that no start is worth more than one change to it.

use std::sync::{Arc, Mutex, PoisonError};

use model::Shape;
use profile::RoutingNetwork;
use topologies::candidates;

use crate::known_networks::KnownNetworks;

/// GPUs up to which they are looked at.
const MOST_GPUS: u32 = 16;

/// Shapes whose starts are kept.
const MOST_KEPT: usize = 16;

/// Starts on which every GPU reaches every other, by shape, prepared for routing for as long as they are kept.
#[derive(Debug, Default)]
pub(crate) struct KnownStarts {
    made: Mutex<Vec<(Shape, Starts)>>,
}

/// Each prepared.
pub(crate) type Starts = Arc<[Arc<RoutingNetwork>]>;

impl KnownStarts {
    /// Those of a shape; none where GPUs are many.
    pub(crate) fn of(&self, shape: &Shape, networks: &KnownNetworks) -> Starts {
        if shape.gpus() > MOST_GPUS {
            return Starts::default();
        }
        let lock = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, starts)) = lock().iter().find(|(made_for, _)| made_for == shape) {
            return starts.clone();
        }
        let joins_all = |network: &Arc<RoutingNetwork>| {
            let from = network.topology().symmetry().representatives();
            from.into_iter().all(|src| (0..shape.gpus()).all(|dst| src == dst || network.distance(src, dst).is_some()))
        };
        let starts: Starts = networks.all(&candidates::starts(shape)).into_iter().filter(joins_all).collect();
        let mut made = lock();
        if made.len() == MOST_KEPT {
            made.remove(0);
        }
        made.push((shape.clone(), starts.clone()));
        starts
    }
}
