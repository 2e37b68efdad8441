//! Phases on rings, for every choice of digits worth a try.

use crate::digits::{Digit, Digits};
use crate::phase::{Kind, Phase, undominated};
use crate::relative::Circuits;

/// More digits than this are built of radix 2 alone.
const MOST_DIGITS: usize = 3;

/// Phases on rings of `span` ranks that no other of them is better than for every fabric.
pub(crate) fn phases(span: u32, ports: u32) -> Vec<Phase> {
    let mut ways = vec![(false, vec![(1, ports)])];
    if ports.is_multiple_of(2) && span > 2 {
        ways.push((true, vec![(1, ports / 2), (-1, ports / 2)]));
    }
    let mut found: Vec<Phase> = Vec::new();
    for (two_way, circuits) in ways {
        let mut phases = Vec::new();
        for radices in factorisations(span) {
            extend(&radices, &mut Vec::new(), two_way, &mut |digits| {
                phases.push(phase(Digits { digits, two_way }, &circuits, ports));
            });
        }
        found.extend(undominated(phases));
    }
    undominated(found)
}

fn phase(digits: Digits, circuits: &Circuits, ports: u32) -> Phase {
    let sums = digits.sums(ports);
    Phase { span: digits.span(), circuits: circuits.clone(), kind: Kind::Digits(digits), sums }
}

/// Calls `found` with every choice of steps for these radices.
fn extend(radices: &[u32], chosen: &mut Vec<Digit>, two_way: bool, found: &mut impl FnMut(Vec<Digit>)) {
    let Some((&radix, rest)) = radices.split_first() else { return found(chosen.clone()) };
    let places = if two_way { radix / 2 } else { radix - 1 };
    for steps in distinct_steps(places) {
        chosen.push(Digit { radix, steps });
        extend(rest, chosen, two_way, found);
        chosen.pop();
    }
}

/// Places up to which every number of steps is tried.
const MOST_PLACES: u32 = 64;

/// Numbers of steps worth a try: beyond [`MOST_PLACES`] the least for each number of places per step.
fn distinct_steps(places: u32) -> Vec<u32> {
    if places <= MOST_PLACES {
        return (1..=places).collect();
    }
    let mut steps: Vec<u32> = (1..=places).map(|at_once| places.div_ceil(at_once)).collect();
    steps.dedup();
    steps
}

/// Ways to write `span` as a product, in order: up to [`MOST_DIGITS`] factors, and powers of the primes.
pub(crate) fn factorisations(span: u32) -> Vec<Vec<u32>> {
    fn grow(left: u32, chosen: &mut Vec<u32>, all: &mut Vec<Vec<u32>>) {
        if left == 1 {
            return all.push(chosen.clone());
        }
        if chosen.len() + 1 == MOST_DIGITS {
            all.push([&chosen[..], &[left]].concat());
            return;
        }
        for factor in (2..=left).filter(|factor| left.is_multiple_of(*factor)) {
            chosen.push(factor);
            grow(left / factor, chosen, all);
            chosen.pop();
        }
    }
    let mut all = Vec::new();
    grow(span, &mut Vec::new(), &mut all);
    let primes = primes(span);
    if primes.len() > MOST_DIGITS {
        all.push(primes);
    }
    all
}

fn primes(mut number: u32) -> Vec<u32> {
    let mut primes = Vec::new();
    let mut factor = 2;
    while factor * factor <= number {
        while number.is_multiple_of(factor) {
            primes.push(factor);
            number /= factor;
        }
        factor += 1;
    }
    if number > 1 {
        primes.push(number);
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_choice_of_up_to_three_digits_is_better_than_the_phases() {
        for span in [6, 8, 12, 16] {
            let kept = phases(span, 1);
            for radices in factorisations(span) {
                let places: Vec<u32> = radices.iter().map(|radix| radix - 1).collect();
                let choices = places.iter().fold(vec![Vec::new()], |choices: Vec<Vec<u32>>, &most| {
                    choices.iter().flat_map(|chosen| (1..=most).map(|steps| [&chosen[..], &[steps]].concat())).collect()
                });
                for steps in choices {
                    let digits = radices.iter().zip(steps).map(|(&radix, steps)| Digit { radix, steps }).collect();
                    let sums = Digits { digits, two_way: false }.sums(1);
                    let as_good = kept.iter().any(|phase| {
                        phase.sums.steps <= sums.steps
                            && phase.sums.hops <= sums.hops
                            && phase.sums.amount <= sums.amount
                    });
                    assert!(as_good, "{span} {radices:?} {sums:?}");
                }
            }
        }
    }
}
