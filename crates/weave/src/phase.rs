//! A phase: what the ranks along one coordinate do on one topology.
//!
//! All of it is told relative to a rank: circuits and transfers lead a number of places ahead along the coordinate,
//! which wraps round after `span` places.

use crate::digits::Digits;
use crate::levels;
use crate::relative::{Circuits, Send, Sums};

/// How the ranks of a phase exchange.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// By digits on a ring.
    Digits(Digits),
    /// Every rank to every other at once.
    Exchange,
    /// One hop a step, outwards.
    Levels,
}

/// What the ranks along one coordinate do on one topology, over one or more steps.
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

    /// Whether nothing is gained by it beside `other`.
    fn is_dominated_by(&self, other: &Self) -> bool {
        let (a, b) = (&self.sums, &other.sums);
        a.steps >= b.steps && a.hops >= b.hops && a.load >= b.load && a.amount >= b.amount
    }
}

/// The phases that are best for some fabric, fewest steps first. O(phases²).
pub(crate) fn undominated(mut phases: Vec<Phase>) -> Vec<Phase> {
    let key = |phase: &Phase| (phase.sums.steps, phase.sums.amount, phase.sums.hops, phase.sums.load);
    phases.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    let mut kept: Vec<Phase> = Vec::new();
    for phase in phases {
        if !kept.iter().any(|other| phase.is_dominated_by(other)) {
            kept.push(phase);
        }
    }
    kept
}
