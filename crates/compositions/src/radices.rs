//! Sums of whole data on a ring by the digits of a mixed radix: with a radix q a rank sends its sum to the q − 1 ranks at
//! multiples of the stride, in one step, and all have the sum of q.

use crate::digit_phases::factorisations;
use crate::relative::{Circuits, Sums};

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

    pub(crate) fn digits(&self) -> usize {
        self.radices.len()
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
