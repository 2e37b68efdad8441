//! Phases on a ring, one-way or two-way, by the digits of a mixed radix.
//!
//! The digit with the largest stride goes first. In the digit (radix q, k steps) of stride s every rank ends with what
//! the q ranks at multiples of s behind it had. The blocks that a rank has from the farthest of them go on: in k steps
//! of h₁ + … + h_k = q − 1 places, to the h_i next ranks each. So k = q − 1 is the ring algorithm, k = 1 a direct
//! exchange, and radices 2 with k = 1 are recursive doubling with the largest distance first, the order that is least
//! in load. Whatever the digits, a one-way ring of r ranks costs r − 1 hops and a load of r·Σ h(h+1)/(2q), over the
//! ports.

use crate::relative::{Send, Sums};

/// One digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) radix: u32,
    pub(crate) steps: u32,
}

/// Digits of a phase, the largest stride first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digits {
    pub(crate) digits: Vec<Digit>,
    pub(crate) two_way: bool,
}

/// `total` in `parts` as equal as they can be, the larger first.
fn shares(total: u32, parts: u32) -> impl Iterator<Item = u32> {
    (0..parts).map(move |part| total / parts + u32::from(part < total % parts))
}

impl Digits {
    pub(crate) fn span(&self) -> u32 {
        self.digits.iter().map(|digit| digit.radix).product()
    }

    /// Places gathered from ahead and from behind by one digit: a one-way ring brings all from behind.
    fn reach(&self, radix: u32) -> (u32, u32) {
        if self.two_way { ((radix - 1) / 2, radix / 2) } else { (0, radix - 1) }
    }

    /// By step: stride, how many places each frontier moves forward and back, and the frontiers before.
    fn moves(&self) -> Vec<Move> {
        let mut stride = i64::from(self.span());
        let mut moves = Vec::new();
        for digit in &self.digits {
            stride /= i64::from(digit.radix);
            let (back, forth) = self.reach(digit.radix);
            let mut at = (0, 0);
            for forward in shares(forth, digit.steps) {
                let backward = forward.min(back - at.1);
                moves.push(Move { stride, forward, backward, at });
                at = (at.0 + forward, at.1 + backward);
            }
        }
        moves
    }

    /// The transfers of an AllGather, by step.
    pub(crate) fn sends(&self) -> Vec<Vec<Send>> {
        let mut held = vec![0i64];
        let mut before = held.clone();
        let mut steps = Vec::new();
        for step in self.moves() {
            if step.at == (0, 0) {
                before.clone_from(&held);
            }
            let mut sends = Vec::new();
            let directions = [(1, step.forward, step.at.0), (-1, step.backward, step.at.1)];
            for (sign, places, frontier) in directions {
                let passed_on: Vec<i64> =
                    before.iter().map(|behind| behind + sign * i64::from(frontier) * step.stride).collect();
                for place in 1..=i64::from(places) {
                    let ahead = sign * place * step.stride;
                    held.extend(passed_on.iter().map(|behind| behind + ahead));
                    sends.push(Send { ahead, behind: passed_on.clone() });
                }
            }
            steps.push(sends);
        }
        steps
    }

    /// Cost of the digits with `ports` circuits per rank, half of them each way on a two-way ring.
    pub(crate) fn sums(&self, ports: u32) -> Sums {
        let each_way = f64::from(ports) / if self.two_way { 2.0 } else { 1.0 };
        let mut sums = Sums::default();
        for step in self.moves() {
            let places = f64::from(step.forward.max(step.backward));
            let load = step.stride as f64 * places * (places + 1.0) / 2.0 / each_way;
            sums.steps += 1;
            sums.hops += step.stride as f64 * places;
            sums.load += load;
            // Each circuit carries all that its sender has gathered in the digits of larger strides.
            sums.amount += load * self.held_before(step.stride);
        }
        sums
    }

    /// Number of places whose data a rank holds before the digit of `stride`.
    fn held_before(&self, stride: i64) -> f64 {
        let mut below = i64::from(self.span());
        let mut held = 1;
        for digit in &self.digits {
            below /= i64::from(digit.radix);
            if below == stride {
                break;
            }
            held *= i64::from(digit.radix);
        }
        held as f64
    }
}

struct Move {
    stride: i64,
    forward: u32,
    backward: u32,
    /// Places already moved, forward and back.
    at: (u32, u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sums by putting every transfer on the ring's links, on as many ranks as the span.
    fn counted(digits: &Digits, ports: u32) -> Sums {
        let n = i64::from(digits.span());
        let each_way = f64::from(ports) / if digits.two_way { 2.0 } else { 1.0 };
        let mut sums = Sums::default();
        for sends in digits.sends() {
            // By symmetry every link of a direction carries what all transfers of rank 0 take in hops.
            let carried = |sign: i64| -> f64 {
                let along = sends.iter().filter(|send| send.ahead.signum() == sign);
                along.map(|send| send.ahead.abs() as f64 * send.behind.len() as f64).sum::<f64>() / each_way
            };
            let amount = carried(1).max(carried(-1));
            let largest = sends.iter().map(|send| send.behind.len()).max().unwrap() as f64;
            sums.steps += 1;
            sums.hops += sends.iter().map(|send| send.ahead.abs()).max().unwrap() as f64;
            sums.load += amount / largest;
            sums.amount += amount;
        }
        assert!(sums.hops < n as f64);
        sums
    }

    fn any_digits() -> impl Strategy<Value = Digits> {
        let digit = (2u32..8, 1u32..8);
        (prop::collection::vec(digit, 1..4), any::<bool>()).prop_map(|(digits, two_way)| {
            let digits = digits.into_iter().map(|(radix, steps)| {
                let places = if two_way { radix / 2 } else { radix - 1 };
                Digit { radix, steps: steps.min(places) }
            });
            Digits { digits: digits.collect(), two_way }
        })
    }

    proptest! {
        #[test]
        fn everything_is_gathered_once_and_costs_what_it_says(digits in any_digits(), half_ports in 1u32..4) {
            let ports = 2 * half_ports;
            let span = i64::from(digits.span());
            let mut held = vec![0i64];
            for sends in digits.sends() {
                let mut brought = Vec::new();
                for send in &sends {
                    for behind in &send.behind {
                        // A rank holds every block that it sends on.
                        prop_assert!(held.contains(behind));
                        brought.push(behind + send.ahead);
                    }
                }
                held.extend(brought);
            }
            let mut places: Vec<i64> = held.iter().map(|place| place.rem_euclid(span)).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..span).collect::<Vec<_>>());
            let (said, found) = (digits.sums(ports), counted(&digits, ports));
            prop_assert_eq!((said.steps, said.hops), (found.steps, found.hops));
            prop_assert!((said.load - found.load).abs() < 1e-9 * found.load);
            prop_assert!((said.amount - found.amount).abs() < 1e-9 * found.amount);
        }
    }

    #[test]
    fn the_ring_and_recursive_doubling_are_among_them() {
        let sums = |digits: &[(u32, u32)]| {
            let digits = digits.iter().map(|&(radix, steps)| Digit { radix, steps }).collect();
            Digits { digits, two_way: false }.sums(1)
        };
        // 15 steps of one hop with one block each.
        assert_eq!(sums(&[(16, 15)]), Sums { steps: 15, hops: 15.0, load: 15.0, amount: 15.0 });
        // Distances 8, 4, 2, 1 with 1, 2, 4, 8 blocks.
        assert_eq!(sums(&[(2, 1); 4]), Sums { steps: 4, hops: 15.0, load: 15.0, amount: 32.0 });
        // All at once: 1 + 2 + … + 15.
        assert_eq!(sums(&[(16, 1)]), Sums { steps: 1, hops: 15.0, load: 120.0, amount: 120.0 });
    }
}
