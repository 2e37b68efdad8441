//! The topologies that the optical layer of a fabric can hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Error, Fabric, Link, OpticalLayer, Result, Shape, Topology};
use optics::Optics;

/// The optical layer of one fabric, with what it was asked already: routing circuits through a mesh takes its time.
pub struct OpticalLimits {
    layer: OpticalLayer,
    optics: Optics,
    shape: Shape,
    asked: Mutex<BTreeMap<Vec<Link>, Option<Error>>>,
}

impl OpticalLimits {
    /// Why the circuits of a topology cannot be held at once; `None` where they can.
    pub(crate) fn refusal(&self, topology: &Topology) -> Option<Error> {
        let lock = || self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let circuits = topology.expanded();
        if let Some(known) = lock().get(&circuits) {
            return known.clone();
        }
        let refusal = match self.layer.shared() {
            None => self.optics.admits(&self.shape, topology).err(),
            Some(shared) => shared
                .joint(topology)
                .and_then(|joint| joint.iter().try_for_each(|all| self.optics.admits(&shared.shape, all)))
                .err(),
        };
        lock().insert(circuits, refusal.clone());
        refusal
    }

    /// Topologies that are worth a planner's while in addition to those that any fabric has, as specifications.
    pub fn topologies(&self) -> Vec<String> {
        match self.layer.shared() {
            None => self.optics.topologies(&self.shape),
            Some(_) => Vec::new(),
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
        let Some(layer) = &fabric.optics else { return Ok(None) };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter().find(|known| known.layer == *layer && known.shape == fabric.shape) {
            return Ok(Some(known.clone()));
        }
        let optics = Optics::parse(layer.spelling())?;
        optics.port_map(layer.shared().map_or(&fabric.shape, |shared| &shared.shape))?;
        let (layer, shape, asked) = (layer.clone(), fabric.shape.clone(), Mutex::default());
        let limits = Arc::new(OpticalLimits { layer, optics, shape, asked });
        all.push(limits.clone());
        Ok(Some(limits))
    }
}

impl std::fmt::Debug for KnownLimits {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("KnownLimits")
    }
}
