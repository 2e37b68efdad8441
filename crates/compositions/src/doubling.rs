//! Phases in which all ranks of a coordinate add up what they have and end with the whole sum, on one topology.
//!
//! With a radix q a rank sends its sum to the q − 1 ranks at multiples of the stride, and all have the sum of q: fewer
//! steps than a ReduceScatter and an AllGather, and more bytes, as the whole of the data moves in every step. On a ring
//! [windows] are between the two.

use std::collections::BTreeMap;

use crate::phase::{Kind, Phase};
use crate::radices::Radices;
use crate::relative::{Circuits, Moved, Send, Sums};
use crate::windows::{self, Windows};

/// A phase in which all ranks of a coordinate add up what they have. Amounts are in units of that.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Doubling {
    pub(crate) span: u32,
    pub(crate) circuits: Circuits,
    pub(crate) sums: Sums,
    way: Way,
}

/// The transfers.
#[derive(Debug, Clone, PartialEq)]
enum Way {
    /// The whole to all that the one step of a phase reaches.
    AtOnce(Phase),
    /// The whole to the others of a digit, step by step.
    Radices(Radices),
    /// On a ring.
    Windows(Windows),
}

impl Doubling {
    #[cfg(test)]
    pub(crate) fn is_in_windows(&self) -> bool {
        matches!(self.way, Way::Windows(_))
    }

    /// The transfers of one rank, by step.
    pub(crate) fn steps(&self) -> Vec<Vec<Moved>> {
        let wholes = |steps: Vec<Vec<i64>>| steps.iter().map(|step| step.iter().map(Moved::whole).collect()).collect();
        match &self.way {
            Way::AtOnce(phase) => {
                let places = |sends: Vec<Send>| sends.iter().map(|send| send.ahead).collect();
                wholes(phase.sends().into_iter().map(places).collect())
            }
            Way::Radices(radices) => wholes(radices.steps()),
            Way::Windows(windows) => windows.steps(),
        }
    }
}

/// Phases of that span: those of one step among its `phases` and those `on_rings`, by digits, and by windows of its divisors.
pub(crate) fn phases(phases: &[Phase], on_rings: &BTreeMap<u32, Vec<Phase>>, span: u32, ports: u32) -> Vec<Doubling> {
    let mut found = Vec::new();
    for phase in phases.iter().chain(on_rings.get(&span).into_iter().flatten()) {
        let at_once = phase.sums.steps == 1 && !matches!(phase.kind, Kind::Levels);
        if at_once {
            let (circuits, way) = (phase.circuits.clone(), Way::AtOnce(phase.clone()));
            found.push(Doubling { span, circuits, sums: phase.sums, way });
        }
    }
    let all = Radices::ways(ports).flat_map(|two_way| Radices::all(span, two_way, ports));
    for (sums, radices) in all.filter(|(_, radices)| radices.digits() > 1) {
        interruption::check();
        found.push(Doubling { span, circuits: radices.circuits(ports), sums, way: Way::Radices(radices) });
    }
    let windows = windows::phases(on_rings, span, ports).into_iter();
    found.extend(windows.map(|(sums, windows)| Doubling {
        span,
        circuits: windows.circuits(ports),
        sums,
        way: Way::Windows(windows),
    }));
    found
}
