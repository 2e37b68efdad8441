//! Phases in which all ranks of a coordinate add up what they have and end with the whole sum, on one topology.
//!
//! With a radix q a rank sends its sum to the q − 1 ranks at multiples of the stride, and all have the sum of q: fewer
//! steps than a ReduceScatter and an AllGather, and more bytes, as the whole of the data moves in every step. On a ring
//! [windows] are between the two.

use crate::digit_phases::factorisations;
use crate::library::Library;
use crate::phase::{Kind, Phase};
use crate::relative::{Circuits, Moved, Sums};
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
    pub(crate) fn in_windows(span: u32, circuits: Circuits, sums: Sums, windows: Windows) -> Self {
        Self { span, circuits, sums, way: Way::Windows(windows) }
    }

    /// The transfers of one rank, by step.
    pub(crate) fn steps(&self) -> Vec<Vec<Moved>> {
        let wholes = |steps: Vec<Vec<i64>>| steps.iter().map(|step| step.iter().map(Moved::whole).collect()).collect();
        match &self.way {
            Way::AtOnce(phase) => {
                let places = |sends: Vec<crate::relative::Send>| sends.iter().map(|send| send.ahead).collect();
                wholes(phase.sends().into_iter().map(places).collect())
            }
            Way::Radices(radices) => wholes(radices.steps()),
            Way::Windows(windows) => windows.steps(),
        }
    }
}

/// Digits of whole data on a ring, the radix of the least stride first, each in one step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Radices {
    radices: Vec<u32>,
    pub(crate) two_way: bool,
}

impl Radices {
    /// Whether circuits lead both ways: only one way, and both where the ports can be halved.
    pub(crate) fn ways(ports: u32) -> impl Iterator<Item = bool> {
        std::iter::once(false).chain(ports.is_multiple_of(2).then_some(true))
    }

    /// All for a ring of `span` ranks, after their sums.
    pub(crate) fn all(span: u32, two_way: bool, ports: u32) -> impl Iterator<Item = (Sums, Self)> {
        let all = factorisations(span).into_iter().map(move |radices| Self { radices, two_way });
        all.map(move |radices| (radices.sums(ports), radices))
    }

    /// The places ahead that a rank sends to, by step. O(span).
    pub(crate) fn steps(&self) -> Vec<Vec<i64>> {
        let mut stride = 1;
        let step = |&radix: &u32| {
            let (back, forth) = self.reach(radix);
            let places = (1..=i64::from(forth)).chain((1..=i64::from(back)).map(|place| -place));
            let step = places.map(|place| place * i64::from(stride)).collect();
            stride *= radix;
            step
        };
        self.radices.iter().map(step).collect()
    }

    /// Ranks behind and ahead that a digit reaches.
    fn reach(&self, radix: u32) -> (u32, u32) {
        if self.two_way { ((radix - 1) / 2, radix / 2) } else { (0, radix - 1) }
    }

    fn sums(&self, ports: u32) -> Sums {
        let each_way = f64::from(ports) / if self.two_way { 2.0 } else { 1.0 };
        let (mut stride, mut sums) = (1, Sums::default());
        for &radix in &self.radices {
            let reach = f64::from(self.reach(radix).1);
            let load = f64::from(stride) * reach * (reach + 1.0) / 2.0 / each_way;
            sums.steps += 1;
            sums.hops += f64::from(stride) * reach;
            sums.load += load;
            sums.amount += load;
            stride *= radix;
        }
        sums
    }

    pub(crate) fn circuits(&self, ports: u32) -> Circuits {
        if self.two_way { vec![(1, ports / 2), (-1, ports / 2)] } else { vec![(1, ports)] }
    }
}

/// Phases of that span.
pub(crate) fn phases(library: &Library, span: u32, ports: u32) -> Vec<Doubling> {
    let mut found = Vec::new();
    for phase in library.phases(span).iter().chain(library.on_rings(span)) {
        let at_once = phase.sums.steps == 1 && !matches!(phase.kind, Kind::Levels);
        if at_once {
            let (circuits, way) = (phase.circuits.clone(), Way::AtOnce(phase.clone()));
            found.push(Doubling { span, circuits, sums: phase.sums, way });
        }
    }
    let all = Radices::ways(ports).flat_map(|two_way| Radices::all(span, two_way, ports));
    for (sums, radices) in all.filter(|(_, radices)| radices.radices.len() > 1) {
        interruption::check();
        found.push(Doubling { span, circuits: radices.circuits(ports), sums, way: Way::Radices(radices) });
    }
    found.extend(windows::phases(library, span, ports));
    found
}
