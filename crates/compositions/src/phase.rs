//! A phase: what the ranks along one coordinate do on one topology.
//!
//! All of it is relative to a rank: circuits and transfers lead a number of places ahead along the coordinate,
//! which wraps round after `span` places.

use std::cmp::Ordering;

use crate::digits::Digits;
use crate::relative::{Circuits, Send, Sums};
use crate::{levels, pareto_set};

/// The kind of exchange between the ranks of a phase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// By digits on a ring.
    Digits(Digits),
    /// Every rank to every other at once.
    Exchange,
    /// One hop a step, outwards.
    Levels,
}

/// The communication of the ranks along one coordinate on one topology, over one or more steps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Phase {
    pub(crate) span: u32,
    pub(crate) circuits: Circuits,
    pub(crate) kind: Kind,
    pub(crate) sums: Sums,
}

impl Phase {
    /// The transfers of an AllGather along the coordinate, by step.
    pub(crate) fn sends(&self) -> Vec<Vec<Send>> {
        match &self.kind {
            Kind::Digits(digits) => digits.sends(),
            Kind::Exchange => {
                vec![(1..i64::from(self.span)).map(|ahead| Send { ahead, behind: vec![0] }).collect()]
            }
            Kind::Levels => levels::sends(self.span, &self.circuits),
        }
    }
}

/// The phases that are best for some fabric, fewest steps first; of equals the first.
pub(crate) fn undominated(phases: Vec<Phase>) -> Vec<Phase> {
    pareto_set::undominated(phases, |phase| phase.sums.by_importance(), |_, _| Ordering::Equal)
}
