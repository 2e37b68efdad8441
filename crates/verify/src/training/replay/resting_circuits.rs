//! The circuits of a port whenever events have gone back to the resting topology.

use std::collections::BTreeMap;

use super::super::catalogue::Circuits;

/// The circuits in which ports rest, by rank and port, as far as that is said.
#[derive(Debug, Clone, Default)]
pub(super) struct Resting(BTreeMap<usize, Circuits>);

impl Resting {
    /// The circuits in which a port rests.
    pub(super) fn of(&self, slot: usize) -> Option<Circuits> {
        self.0.get(&slot).copied()
    }

    /// Whether a port rests in these circuits. The first call for a port sets them.
    pub(super) fn is_or_becomes(&mut self, slot: usize, circuits: Circuits) -> bool {
        *self.0.entry(slot).or_insert(circuits) == circuits
    }
}
