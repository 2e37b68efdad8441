//! Phases in which ranks add up what all of a coordinate have, the whole of it moving in every step.
//!
//! With a radix q a rank sends its sum to the q − 1 ranks at multiples of the stride, and all have the sum of q: fewer
//! steps than a ReduceScatter and an AllGather, and more bytes.

use crate::digit_phases::factorisations;
use crate::library::Library;
use crate::phase::{Kind, Phase};
use crate::relative::{Circuits, Sums};

/// Phases in which all ranks of a coordinate add up whole buffers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Doubling {
    pub(crate) span: u32,
    pub(crate) circuits: Circuits,
    pub(crate) sums: Sums,
    way: Way,
}

/// The ranks that a rank sends to.
#[derive(Debug, Clone, PartialEq)]
enum Way {
    /// All that the one step of a phase reaches.
    AtOnce(Phase),
    /// By step the others of its digit, the radix of the least stride first.
    Radices(Vec<u32>),
}

impl Doubling {
    /// The places ahead that a rank sends to, by step. O(span).
    pub(crate) fn steps(&self) -> Vec<Vec<i64>> {
        match &self.way {
            Way::AtOnce(phase) => {
                phase.sends().into_iter().map(|sends| sends.iter().map(|send| send.ahead).collect()).collect()
            }
            Way::Radices(radices) => {
                let (two_way, mut stride) = (self.circuits.len() > 1, 1);
                let step = |&radix: &u32| {
                    let (back, forth) = reach(radix, two_way);
                    let places = (1..=i64::from(forth)).chain((1..=i64::from(back)).map(|place| -place));
                    let step = places.map(|place| place * i64::from(stride)).collect();
                    stride *= radix;
                    step
                };
                radices.iter().map(step).collect()
            }
        }
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
    for radices in factorisations(span).into_iter().filter(|radices| radices.len() > 1) {
        interruption::check();
        if ports.is_multiple_of(2) {
            found.push(on_ring(span, radices.clone(), vec![(1, ports)], ports));
            found.push(on_ring(span, radices, vec![(1, ports / 2), (-1, ports / 2)], ports));
        } else {
            found.push(on_ring(span, radices, vec![(1, ports)], ports));
        }
    }
    found
}

/// Ranks behind and ahead that a digit reaches.
fn reach(radix: u32, two_way: bool) -> (u32, u32) {
    if two_way { ((radix - 1) / 2, radix / 2) } else { (0, radix - 1) }
}

fn on_ring(span: u32, radices: Vec<u32>, circuits: Circuits, ports: u32) -> Doubling {
    let two_way = circuits.len() > 1;
    let each_way = f64::from(ports) / circuits.len() as f64;
    let (mut stride, mut sums) = (1, Sums::default());
    for &radix in &radices {
        let reach = f64::from(reach(radix, two_way).1);
        let load = f64::from(stride) * reach * (reach + 1.0) / 2.0 / each_way;
        sums.steps += 1;
        sums.hops += f64::from(stride) * reach;
        sums.load += load;
        sums.amount += load;
        stride *= radix;
    }
    Doubling { span, circuits, sums, way: Way::Radices(radices) }
}
