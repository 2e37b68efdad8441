//! The topologies that a fabric can hold: its optical layer, and what of it works.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Error, Fabric, Link, OpticalLayer, Result, Shape, Topology};
use optics::Optics;

/// The optical layer and the faults of one fabric, with what they were asked already: routing circuits through a mesh
/// takes its time.
pub struct OpticalLimits {
    layer: Option<(OpticalLayer, Optics)>,
    shape: Shape,
    asked: Mutex<BTreeMap<Vec<Link>, Option<Error>>>,
}

impl OpticalLimits {
    /// Why the circuits of a topology cannot be held at once; `None` where they can.
    pub(crate) fn refusal(&self, topology: &Topology) -> Option<Error> {
        if let Err(refusal) = self.shape.check_faults(topology) {
            return Some(refusal);
        }
        let lock = || self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let circuits = topology.expanded();
        if let Some(known) = lock().get(&circuits) {
            return known.clone();
        }
        let held = match &self.layer {
            None => Ok(()),
            Some((layer, optics)) => match layer.shared() {
                None => optics.admits(&self.shape, topology),
                Some(shared) => shared
                    .joint(topology)
                    .and_then(|joint| joint.iter().try_for_each(|all| optics.admits(&shared.shape, all))),
            },
        };
        let refusal = held.err();
        lock().insert(circuits, refusal.clone());
        refusal
    }

    /// Topologies that are worth a planner's while in addition to those that any fabric has, as specifications.
    pub fn topologies(&self) -> Vec<String> {
        match &self.layer {
            Some((layer, optics)) if layer.shared().is_none() => optics.topologies(&self.shape),
            _ => Vec::new(),
        }
    }
}

/// The limits of the fabrics that a cache serves; mostly of one.
#[derive(Default)]
pub(crate) struct KnownLimits(Mutex<Vec<Arc<OpticalLimits>>>);

impl KnownLimits {
    /// The limits of a fabric; `None` if it has no limits.
    ///
    /// # Errors
    /// An optical layer of no known kind, or one that does not go with the GPUs.
    pub(crate) fn of(&self, fabric: &Fabric) -> Result<Option<Arc<OpticalLimits>>> {
        if fabric.optics.is_none() && fabric.shape.faults().is_empty() {
            return Ok(None);
        }
        let of = |known: &&Arc<OpticalLimits>| known.layer.as_ref().map(|(layer, _)| layer) == fabric.optics.as_ref();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter().find(|known| of(known) && known.shape == fabric.shape) {
            return Ok(Some(known.clone()));
        }
        let layer = fabric.optics.as_ref().map(|layer| {
            let optics = Optics::parse(layer.spelling())?;
            optics.port_map(layer.shared().map_or(&fabric.shape, |shared| &shared.shape))?;
            Ok((layer.clone(), optics))
        });
        let (layer, shape, asked) = (layer.transpose()?, fabric.shape.clone(), Mutex::default());
        let limits = Arc::new(OpticalLimits { layer, shape, asked });
        all.push(limits.clone());
        Ok(Some(limits))
    }
}

impl std::fmt::Debug for KnownLimits {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("KnownLimits")
    }
}
