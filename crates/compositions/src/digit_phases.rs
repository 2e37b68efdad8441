//! Phases on rings, for every choice of digits worth a try.
//!
//! The cost of the digits after the first on a ring is their cost on a ring of their own span, each amount times the
//! first radix: the first digit's costs and theirs add up. So a rest that is dominated by another one is dominated with
//! every first digit, and the choices of a span are made of its digits and the best choices for what is left, digit by
//! digit.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use interruption::Interruptible;
use rayon::prelude::*;

use crate::cutoffs::digit_phases::{MOST_DIGITS, MOST_PLACES};
use crate::digits::{Digit, Digits};
use crate::pareto_set;
use crate::phase::{Kind, Phase, undominated};
use crate::relative::Circuits;

/// By span, the phases on rings of this many ranks that no other of them is better than for every fabric. `spans` has
/// every divisor above 1 of each of its members.
pub(crate) fn phases(spans: &[u32], ports: u32) -> BTreeMap<u32, Vec<Phase>> {
    let one_way = (false, vec![(1, ports)]);
    let two_way = ports.is_multiple_of(2).then(|| (true, vec![(1, ports / 2), (-1, ports / 2)]));
    let mut found: BTreeMap<u32, Vec<Phase>> = BTreeMap::new();
    for (two_way, circuits) in std::iter::once(one_way).chain(two_way) {
        for (span, choices) in choices(spans, two_way) {
            if two_way && span == 2 {
                continue;
            }
            let made =
                choices.into_iter().map(|choice| phase(Digits { digits: choice.digits, two_way }, &circuits, ports));
            found.entry(span).or_default().extend(made);
        }
    }
    found.into_iter().map(|(span, phases)| (span, undominated(phases))).collect()
}

fn phase(digits: Digits, circuits: &Circuits, ports: u32) -> Phase {
    let sums = digits.sums(ports);
    Phase { span: digits.span(), circuits: circuits.clone(), kind: Kind::Digits(digits), sums }
}

/// Digits, and what they cost on a ring of one circuit each way: whole numbers.
#[derive(Debug, Clone)]
struct Choice {
    digits: Vec<Digit>,
    steps: f64,
    amount: f64,
    hops: f64,
    load: f64,
}

impl Choice {
    fn costs(&self) -> [f64; 4] {
        [self.steps, self.amount, self.hops, self.load]
    }
}

/// A first digit and the best choices for the rest, in place of a list of digits.
struct Candidate<'a> {
    first: Digit,
    rest: Option<&'a Choice>,
    costs: [f64; 4],
}

impl<'a> Candidate<'a> {
    fn new(span: u32, first: Digit, two_way: bool, rest: Option<&'a Choice>) -> Self {
        let stride = f64::from(span / first.radix);
        let (most, fewer) = (places(first.radix, two_way) / first.steps, places(first.radix, two_way) % first.steps);
        let triangle = |side: u32| f64::from(side) * f64::from(side + 1) / 2.0;
        let load = stride * (f64::from(fewer) * triangle(most + 1) + f64::from(first.steps - fewer) * triangle(most));
        let [steps, amount, hops, rest_load] = rest.map_or([0.0; 4], Choice::costs);
        let costs = [
            f64::from(first.steps) + steps,
            load + f64::from(first.radix) * amount,
            stride * f64::from(places(first.radix, two_way)) + hops,
            load + rest_load,
        ];
        Self { first, rest, costs }
    }

    fn digits(&self) -> impl Iterator<Item = Digit> {
        std::iter::once(self.first).chain(self.rest.into_iter().flat_map(|rest| rest.digits.iter().copied()))
    }

    /// Among equals the least radices come first, then the order of [`distinct_steps`].
    fn order(&self, other: &Self, two_way: bool) -> Ordering {
        let radices = |one: &Self| one.digits().map(|digit| digit.radix).collect::<Vec<_>>();
        let listed = |one: &Self| -> Vec<u32> {
            let place = |digit: Digit| match places(digit.radix, two_way) {
                places if places <= MOST_PLACES => digit.steps,
                places => places - digit.steps,
            };
            one.digits().map(place).collect()
        };
        radices(self).cmp(&radices(other)).then_with(|| listed(self).cmp(&listed(other)))
    }

    fn into_choice(self) -> Choice {
        let [steps, amount, hops, load] = self.costs;
        Choice { digits: self.digits().collect(), steps, amount, hops, load }
    }
}

/// Places that a frontier moves forward in all steps of a digit.
fn places(radix: u32, two_way: bool) -> u32 {
    if two_way { radix / 2 } else { radix - 1 }
}

/// Every number of steps of a digit of that radix.
fn digits(radix: u32, two_way: bool) -> impl Iterator<Item = Digit> {
    distinct_steps(places(radix, two_way)).into_iter().map(move |steps| Digit { radix, steps })
}

/// By span, the undominated choices of up to [`MOST_DIGITS`] digits, and of the prime factors where these are more.
fn choices(spans: &[u32], two_way: bool) -> Vec<(u32, Vec<Choice>)> {
    let best = |candidates: Vec<Candidate<'_>>| -> Vec<Choice> {
        let kept = pareto_set::undominated(candidates, |one| one.costs, |a, b| a.order(b, two_way));
        kept.into_iter().map(Candidate::into_choice).collect()
    };
    let of_first = |span: u32, radix: u32, rest: &[Choice]| -> Vec<Choice> {
        let all = digits(radix, two_way);
        best(
            all.flat_map(|first| rest.iter().map(move |rest| Candidate::new(span, first, two_way, Some(rest))))
                .collect(),
        )
    };
    let mut of_fewer: BTreeMap<u32, Vec<Choice>> = BTreeMap::new();
    for _ in 0..MOST_DIGITS {
        let of_span = |&span: &u32| {
            let alone = digits(span, two_way).map(|first| Candidate::new(span, first, two_way, None));
            let radices = spans.iter().copied().filter(|radix| *radix < span && span.is_multiple_of(*radix));
            let split = radices.flat_map(|radix| {
                let rest = of_fewer.get(&(span / radix)).map_or(&[][..], Vec::as_slice);
                let with = move |first| rest.iter().map(move |rest| Candidate::new(span, first, two_way, Some(rest)));
                digits(radix, two_way).flat_map(with)
            });
            (span, best(alone.chain(split).collect()))
        };
        of_fewer = spans.par_iter().interruptible().map(of_span).collect();
    }
    let with_primes = |(span, mut choices): (u32, Vec<Choice>)| {
        let primes = primes(span);
        if primes.len() > MOST_DIGITS {
            let mut rest: Vec<Choice> = Vec::new();
            let mut of = 1;
            for &prime in primes.iter().rev() {
                of *= prime;
                rest = match rest.is_empty() {
                    true => {
                        best(digits(prime, two_way).map(|first| Candidate::new(of, first, two_way, None)).collect())
                    }
                    false => of_first(of, prime, &rest),
                };
            }
            choices.extend(rest);
        }
        (span, choices)
    };
    of_fewer.into_iter().map(with_primes).collect()
}

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
    use crate::relative::Sums;

    fn divisors(span: u32) -> Vec<u32> {
        (2..=span).filter(|divisor| span.is_multiple_of(*divisor)).collect()
    }

    /// Every choice of steps for these radices.
    fn every_choice(radices: &[u32], two_way: bool) -> Vec<Vec<Digit>> {
        let mut chosen: Vec<Vec<Digit>> = vec![Vec::new()];
        for &radix in radices {
            let longer = |one: &Vec<Digit>| -> Vec<Vec<Digit>> {
                digits(radix, two_way).map(|digit| [&one[..], &[digit]].concat()).collect()
            };
            chosen = chosen.iter().flat_map(longer).collect();
        }
        chosen
    }

    fn is_as_good(a: &Sums, b: &Sums) -> bool {
        a.steps <= b.steps && a.hops <= b.hops && a.load <= b.load && a.amount <= b.amount
    }

    /// With ports of which half are a whole number of circuits each way, so that sums are exact.
    #[test]
    fn what_is_kept_is_the_best_of_every_choice() {
        for (span, ports) in [(6, 1), (8, 2), (12, 4), (16, 2), (24, 2), (36, 4), (64, 2), (81, 1), (162, 1)] {
            let mut all: Vec<(Vec<Digit>, bool, Sums)> = Vec::new();
            for two_way in [false, true].into_iter().take(if ports > 1 { 2 } else { 1 }) {
                let every = factorisations(span).into_iter().flat_map(|radices| every_choice(&radices, two_way));
                all.extend(every.map(|digits| {
                    let sums = Digits { digits: digits.clone(), two_way }.sums(ports);
                    (digits, two_way, sums)
                }));
            }
            // The first listed of equals.
            let best = |at: usize| {
                let dominates = |(other, (_, _, sums)): (usize, &(Vec<Digit>, bool, Sums))| {
                    is_as_good(sums, &all[at].2) && (*sums != all[at].2 || other < at)
                };
                !all.iter().enumerate().any(dominates)
            };
            let mut expected: Vec<(Vec<Digit>, bool)> = Vec::new();
            expected.extend((0..all.len()).filter(|at| best(*at)).map(|at| (all[at].0.clone(), all[at].1)));
            let kept = phases(&divisors(span), ports).remove(&span).unwrap();
            for pair in kept.windows(2) {
                assert!(pair[0].sums.by_importance() <= pair[1].sums.by_importance());
            }
            let mut kept: Vec<(Vec<Digit>, bool)> = kept
                .into_iter()
                .map(|phase| match phase.kind {
                    Kind::Digits(Digits { digits, two_way }) => (digits, two_way),
                    other => panic!("{other:?}"),
                })
                .collect();
            let key = |(digits, two_way): &(Vec<Digit>, bool)| {
                (*two_way, digits.iter().map(|digit| (digit.radix, digit.steps)).collect::<Vec<_>>())
            };
            kept.sort_by_key(key);
            expected.sort_by_key(key);
            assert_eq!(kept, expected, "{span}, {ports} ports");
        }
    }

    /// On one-way rings, whose hops are those of their span for any digits, few choices are left of what follows a
    /// first digit, so that few of all are looked at.
    #[test]
    fn few_of_all_choices_are_looked_at_where_ranks_are_many() {
        let (span, two_way) = (1 << 16, false);
        let number =
            |radices: &Vec<u32>| radices.iter().map(|radix| digits(*radix, two_way).count()).product::<usize>();
        let all: usize = factorisations(span).iter().map(number).sum();
        let kept: BTreeMap<u32, usize> =
            choices(&divisors(span), two_way).into_iter().map(|(span, best)| (span, best.len())).collect();
        let first = |radix: &u32| Some(digits(*radix, two_way).count() * kept.get(&(span / radix))?);
        let tried: usize = divisors(span).iter().filter_map(first).sum();
        assert!(all > 700_000 && tried < all / 10, "{tried} of {all}");
    }
}
