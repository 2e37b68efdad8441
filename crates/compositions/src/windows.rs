//! AllReduce on a ring that stays: a ReduceScatter over windows, sums doubled over strides, an AllGather over windows.
//!
//! On a ring of w ranks with windows of L of them, L a divisor of w:
//!
//! 1. a ReduceScatter by [digits](crate::digits) whose radices multiply to L: every rank has 1/L of the data, summed
//!    over a window of L ranks that ends at it;
//! 2. over strides L, L·q₁, L·q₁·q₂, … a digit of radix q adds up, in one step, the parts of the q ranks at multiples of
//!    the stride, until every rank has the sum over all w of its part;
//! 3. an AllGather over the windows, the first part backwards.
//!
//! One way, the first and the last part pass over L − 1 hops each and the middle over w − L, so that w + L − 2 hops take
//! the place of the 2w − 2 of a ReduceScatter and an AllGather over all; for that, each digit in the middle moves 1/L of the
//! data over all circuits of its stride. L = 1 is a [doubling](crate::radices) of whole data.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use model::Op;

use crate::digits::{Digit, Digits};
use crate::pareto_set::undominated;
use crate::phase::{Kind, Phase};
use crate::radices::Radices;
use crate::relative::{Circuits, Moved, Sums};

/// The windows and strides of an AllReduce on one ring.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Windows {
    /// The digits of the windows, as an AllGather.
    windows: Digits,
    /// The radices of the strides.
    strides: Radices,
}

impl Windows {
    pub(crate) fn circuits(&self, ports: u32) -> Circuits {
        self.strides.circuits(ports)
    }

    /// The transfers from one rank, by step.
    pub(crate) fn steps(&self) -> Vec<Vec<Moved>> {
        let window = self.windows.span();
        let gather = self.windows.sends();
        let moved = |op: Op, from: i64, ahead: i64, places: Vec<i64>| Moved { op, from, ahead, window, places };
        // Backwards in time and mirrored, so that transfers lead ahead again, as the circuits do.
        let scatter = gather.iter().rev().map(|sends| {
            let step = sends.iter().map(|send| moved(Op::Reduce, -send.ahead, send.ahead, send.behind.clone()));
            step.collect()
        });
        let doubled = self.strides.steps().into_iter().map(|places| {
            let step = places.iter().map(|ahead| moved(Op::Reduce, 0, ahead * i64::from(window), vec![0]));
            step.collect()
        });
        let gathered = gather.iter().map(|sends| {
            let owners = |behind: &[i64]| behind.iter().map(|behind| -behind).collect();
            sends.iter().map(|send| moved(Op::Copy, 0, send.ahead, owners(&send.behind))).collect()
        });
        scatter.chain(doubled).chain(gathered).collect()
    }
}

/// The AllReduces with windows on a ring of `span` ranks, after their sums, that none of the others is better than for every fabric.
/// `on_rings` has the phases on rings of the divisors of `span`.
pub(crate) fn phases(on_rings: &BTreeMap<u32, Vec<Phase>>, span: u32, ports: u32) -> Vec<(Sums, Windows)> {
    let mut found = Vec::new();
    for (&window, windows) in on_rings.range(..span).filter(|(window, _)| span.is_multiple_of(**window)) {
        for two_way in Radices::ways(ports) {
            interruption::check();
            let windows = digits(window, windows, ports).filter(|digits| digits.two_way == two_way);
            let windows = best(windows.map(|digits| (digits.sums(ports), digits)).collect());
            let strides = best(Radices::all(span / window, two_way, ports).collect());
            for (gathered, digits) in &windows {
                for (doubled, strides) in &strides {
                    let way = Windows { windows: digits.clone(), strides: strides.clone() };
                    found.push((sums(gathered, doubled, window), way));
                }
            }
        }
    }
    best(found)
}

/// The digits of windows of that many ranks, of those of the phases on rings of as many.
fn digits(window: u32, on_rings: &[Phase], ports: u32) -> impl Iterator<Item = Digits> {
    let kept = on_rings.iter().filter_map(|phase| match &phase.kind {
        Kind::Digits(digits) => Some(digits.clone()),
        _ => None,
    });
    // There is no two-way ring of two ranks; a window of two lies on a longer one.
    let pair = Digits { digits: vec![Digit { radix: 2, steps: 1 }], two_way: true };
    kept.chain((window == 2 && ports.is_multiple_of(2)).then_some(pair))
}

/// Both passes over windows of an AllGather with sums `gathered`, and strides that are `window` times as long as those
/// of `doubled`, in units of all that a rank has. A rank moves one part of `window` over the strides.
fn sums(gathered: &Sums, doubled: &Sums, window: u32) -> Sums {
    let window = f64::from(window);
    Sums {
        steps: 2 * gathered.steps + doubled.steps,
        hops: 2.0 * gathered.hops + window * doubled.hops,
        load: 2.0 * gathered.load + window * doubled.load,
        amount: 2.0 * gathered.amount / window + doubled.amount,
    }
}

/// The ways on the Pareto front of steps, amount and hops, the only quantities that a fabric's prices multiply.
fn best<T>(ways: Vec<(Sums, T)>) -> Vec<(Sums, T)> {
    let costs = |sums: &Sums| [f64::from(sums.steps), sums.amount, sums.hops, 0.0];
    undominated(ways, |(sums, _)| costs(sums), |_, _| Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digit_phases;

    /// A ring of six ranks by hand, in three steps. Windows of two: halves there and back over one link, 2 · 1/2, and
    /// between them a half to the ranks 2 and 4 places ahead, (2 + 4) · 1/2. Windows of three: thirds to the next two
    /// there and back, 2 · (1 + 2) · 1/3, and between them a third 3 places ahead.
    #[test]
    fn windows_of_two_and_three_by_hand() {
        let on_rings = digit_phases::phases(&[2, 3, 6], 1);
        let of_three_steps = phases(&on_rings, 6, 1).into_iter().filter(|(sums, _)| sums.steps == 3);
        let found: Vec<(f64, f64)> = of_three_steps.map(|(sums, _)| (sums.hops, sums.amount)).collect();
        assert_eq!(found, [(7.0, 3.0), (6.0, 4.0)]);
    }
}
