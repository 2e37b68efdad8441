//! The topologies that the optical layer has room for.

use std::sync::Arc;

use model::{Result, Topology};

use super::Library;
use crate::layer::Layer;
use crate::ports::{Ports, width};

impl Library<'_> {
    /// This library of plans that an optical layer has room for.
    pub(crate) fn on_layer(self, layer: Option<Arc<Layer>>) -> Self {
        Self { layer, ..self }
    }

    /// # Errors
    /// A topology that the optical layer has no room for at all groups of a family at once.
    pub(super) fn check_room<'b>(
        &self,
        family: usize,
        ports: Ports,
        topologies: impl IntoIterator<Item = &'b Topology>,
    ) -> Result<()> {
        let Some(layer) = &self.layer else { return Ok(()) };
        let Some(own) = layer.of_family(family, width(ports)) else { return Ok(()) };
        topologies.into_iter().try_for_each(|topology| layer.admits(&own, topology))
    }
}
