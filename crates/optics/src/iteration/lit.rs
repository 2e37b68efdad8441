//! The circuits that are lit, by what the ports at their ends are for.

use model::{Connection, Result, Shape};

use super::assignments::{Assignments, place_of};
use super::purposes::{Catalogue, Purpose};
use crate::Optics;

/// The purpose of every port of every rank, and the receiver that it lights. A slot is rank · ports of the fabric + port.
pub(super) struct Lit<'a> {
    catalogue: &'a Catalogue<'a>,
    assignments: &'a Assignments,
    ports: usize,
    purposes: Vec<Purpose>,
    /// By slot, the slot whose receiver its transmitter lights.
    receiver: Vec<Option<usize>>,
    /// By slot, the slot whose transmitter its receiver hears.
    sender: Vec<Option<usize>>,
    /// By slot, the switch and its port.
    places: Vec<(usize, u32)>,
    switches: usize,
}

impl<'a> Lit<'a> {
    /// All dark.
    ///
    /// # Errors
    /// A layer on which GPUs share ports.
    pub(super) fn new(
        optics: &Optics,
        shape: &Shape,
        catalogue: &'a Catalogue<'a>,
        assignments: &'a Assignments,
        switches: usize,
    ) -> Result<Self> {
        let slots = (0..shape.gpus()).flat_map(|gpu| (0..shape.ports()).map(move |port| (gpu, port)));
        let places = slots.map(|(gpu, port)| place_of(optics, shape, gpu, port)).collect::<Result<Vec<_>>>()?;
        let dark = vec![None; places.len()];
        let purposes = vec![Purpose::None; places.len()];
        let ports = shape.ports() as usize;
        Ok(Self { catalogue, assignments, ports, purposes, receiver: dark.clone(), sender: dark, places, switches })
    }

    /// Gives slots their purposes; whether any differs from what it was.
    pub(super) fn set(&mut self, purposes: impl Iterator<Item = (usize, Purpose)>) -> bool {
        let changed: Vec<(usize, Purpose)> =
            purposes.filter(|&(slot, purpose)| self.purposes[slot] != purpose).collect();
        for &(slot, purpose) in &changed {
            self.purposes[slot] = purpose;
            if let Some(receiver) = self.receiver[slot].take() {
                self.sender[receiver] = None;
            }
            if let Some(sender) = self.sender[slot].take() {
                self.receiver[sender] = None;
            }
        }
        for &(slot, _) in &changed {
            if let Some(receiver) = self.towards(slot, true).filter(|&other| self.is_shared(slot, other)) {
                (self.receiver[slot], self.sender[receiver]) = (Some(receiver), Some(slot));
            }
            if let Some(sender) = self.towards(slot, false).filter(|&other| self.is_shared(other, slot)) {
                (self.receiver[sender], self.sender[slot]) = (Some(slot), Some(sender));
            }
        }
        !changed.is_empty()
    }

    /// The connections of every switch, sorted.
    pub(super) fn connections(&self) -> Vec<Vec<Connection>> {
        let mut made = vec![Vec::new(); self.switches];
        for (slot, receiver) in self.receiver.iter().enumerate() {
            let Some(receiver) = *receiver else { continue };
            let (switch, ingress) = self.places[slot];
            made[switch].push(Connection { ingress, egress: self.places[receiver].1 });
        }
        made.iter_mut().for_each(|connections| connections.sort_unstable());
        made
    }

    /// The slot at the other end of the circuit that the purpose of a slot asks for: of its transmitter, or of its
    /// receiver.
    fn towards(&self, slot: usize, sends: bool) -> Option<usize> {
        let (rank, port) = ((slot / self.ports) as u32, slot % self.ports);
        match self.purposes[slot] {
            Purpose::None => None,
            Purpose::Message { to, from, .. } => {
                let other = if sends { to } else { from }?;
                Some(other as usize * self.ports + port)
            }
            Purpose::Group { group, topology, ports } => {
                let wiring = self.assignments.wiring(topology, ports);
                let (members, ports) = (&self.catalogue.groups[group], self.catalogue.ports[ports]);
                let member = members.iter().position(|&other| other == rank)?;
                let place = (member, ports.iter().position(|&other| other as usize == port)?);
                let (member, port) = if sends { wiring.to(place) } else { wiring.from(place) }?;
                Some(members[member] as usize * self.ports + ports[port] as usize)
            }
        }
    }

    /// Whether sender and receiver are for the same: a circuit between others stays dark.
    fn is_shared(&self, sender: usize, receiver: usize) -> bool {
        match (self.purposes[sender], self.purposes[receiver]) {
            (Purpose::Message { to, ports, .. }, Purpose::Message { from, ports: others, .. }) => {
                let ranks = [sender, receiver].map(|slot| (slot / self.ports) as u32);
                (to, from, ports) == (Some(ranks[1]), Some(ranks[0]), others)
            }
            (one, other) => one == other,
        }
    }
}
