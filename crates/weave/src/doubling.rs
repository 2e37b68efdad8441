//! Phases in which ranks add up what all of a coordinate have, the whole of it moving in every step.
//!
//! With a radix q a rank sends its sum to the q − 1 ranks at multiples of the stride, and all have the sum of q: fewer
//! steps than a ReduceScatter and an AllGather, and more bytes.

use crate::digit_phases::factorisations;
use crate::library::Library;
use crate::phase::Kind;
use crate::relative::{Circuits, Sums};

/// Phases in which all ranks of a coordinate add up whole buffers: the places ahead that a rank sends to, by step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Doubling {
    pub(crate) span: u32,
    pub(crate) circuits: Circuits,
    pub(crate) steps: Vec<Vec<i64>>,
    pub(crate) sums: Sums,
}

/// Phases of that span.
pub(crate) fn phases(library: &Library, span: u32, ports: u32) -> Vec<Doubling> {
    let mut found = Vec::new();
    for phase in library.phases(span).iter().chain(library.on_rings(span)) {
        let at_once = phase.sums.steps == 1 && !matches!(phase.kind, Kind::Levels);
        if at_once {
            let steps = phase.sends().into_iter().map(|sends| sends.iter().map(|send| send.ahead).collect()).collect();
            found.push(Doubling { span, circuits: phase.circuits.clone(), steps, sums: phase.sums });
        }
    }
    for radices in factorisations(span).into_iter().filter(|radices| radices.len() > 1) {
        found.push(on_ring(span, &radices, vec![(1, ports)], ports));
        if ports.is_multiple_of(2) {
            found.push(on_ring(span, &radices, vec![(1, ports / 2), (-1, ports / 2)], ports));
        }
    }
    found
}

fn on_ring(span: u32, radices: &[u32], circuits: Circuits, ports: u32) -> Doubling {
    let two_way = circuits.len() > 1;
    let each_way = f64::from(ports) / circuits.len() as f64;
    let (mut stride, mut sums, mut steps) = (1, Sums::default(), Vec::new());
    for &radix in radices {
        let (back, forth) = if two_way { ((radix - 1) / 2, radix / 2) } else { (0, radix - 1) };
        let reach = f64::from(forth);
        let load = f64::from(stride) * reach * (reach + 1.0) / 2.0 / each_way;
        sums.steps += 1;
        sums.hops += f64::from(stride) * reach;
        sums.load += load;
        sums.amount += load;
        let places = (1..=i64::from(forth)).chain((1..=i64::from(back)).map(|place| -place));
        steps.push(places.map(|place| place * i64::from(stride)).collect());
        stride *= radix;
    }
    Doubling { span, circuits, steps, sums }
}
