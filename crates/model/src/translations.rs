//! Groups of translations that act freely on ranks: Z_n, Z_a×Z_b×Z_c, translations by a period, Z_2^k.
//!
//! A rank is written in mixed radix. A *digit* `(stride, radix)` is the coordinate `(rank / stride) % radix`; the group
//! shifts each of its digits cyclically, without carry into the rest. `[(1, n)]` is Z_n, `[(p, n/p)]` the translations
//! by the period p, `[(1, 2), (2, 2), (4, 2)]` XOR on eight ranks, `[]` the trivial group. A pattern that is invariant
//! under such a group is kept as its representatives only, and everything computed from it costs one orbit, not n.

use crate::binary_digits::BinaryDigits;
use crate::digit::Digit;
use crate::{Error, Rank, Result};

/// A group of translations. An element is named by the image of rank 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Translations {
    ranks: u32,
    digits: Vec<Digit>,
    /// The same digits in a faster form, if they are all powers of two.
    binary: Option<BinaryDigits>,
}

impl Translations {
    /// The group that shifts each of `digits`.
    ///
    /// # Errors
    /// When a radix is below 2 or the digits do not form a chain that divides `ranks`.
    pub fn new(ranks: u32, mut digits: Vec<Digit>) -> Result<Self> {
        digits.sort_unstable();
        let mut below = 1;
        for digit in &digits {
            let end = digit.stride.checked_mul(digit.radix);
            let fits = digit.radix >= 2
                && digit.stride >= 1
                && digit.stride.is_multiple_of(below)
                && end.is_some_and(|end| ranks.is_multiple_of(end));
            if !fits {
                return Err(Error::value(
                    "symmetry",
                    format!("digit (stride {}, radix {})", digit.stride, digit.radix),
                    format!("digits whose strides and radices form a chain that divides {ranks} ranks"),
                ));
            }
            below = digit.end();
        }
        Ok(Self::of(ranks, digits))
    }

    fn of(ranks: u32, digits: Vec<Digit>) -> Self {
        let binary = BinaryDigits::of(&digits);
        Self { ranks, digits, binary }
    }

    /// The group that has only the identity.
    pub fn trivial(ranks: u32) -> Self {
        Self::of(ranks, Vec::new())
    }

    /// Z_n: every rank is like every other.
    pub fn cyclic(ranks: u32) -> Self {
        Self::periodic(ranks, 1)
    }

    /// Translations of Z_n by multiples of `period`, which divides `ranks`.
    pub fn periodic(ranks: u32, period: u32) -> Self {
        debug_assert!(ranks.is_multiple_of(period));
        let digits =
            if ranks / period >= 2 { vec![Digit { stride: period, radix: ranks / period }] } else { Vec::new() };
        Self::of(ranks, digits)
    }

    /// Translations of the grid `dims` (row-major, last dimension fastest), by multiples of
    /// `periods[j]` along dimension j. `periods[j]` divides `dims[j]`.
    pub fn grid(dims: &[u32], periods: &[u32]) -> Self {
        let ranks = dims.iter().product();
        let mut digits = Vec::new();
        let mut stride = 1;
        for (&dim, &period) in dims.iter().zip(periods).rev() {
            debug_assert!(dim.is_multiple_of(period));
            if dim / period >= 2 {
                digits.push(Digit { stride: stride * period, radix: dim / period });
            }
            stride *= dim;
        }
        Self::of(ranks, digits)
    }

    /// Z_2^k on `ranks = 2^k`: translations are XORs.
    pub fn xor(ranks: u32) -> Self {
        debug_assert!(ranks.is_power_of_two());
        Self::of(ranks, (0..ranks.ilog2()).map(|bit| Digit { stride: 1 << bit, radix: 2 }).collect())
    }

    /// The largest group found by trying every digit, under which `invariant(generator)` holds, where
    /// the generator is given as a permutation of the ranks. Wide digits are tried first. `pairs`
    /// is the number of pairs of ranks that must stay the same. A digit whose radix does not divide it is left out:
    /// its orbits of pairs have as many members as the digit has values.
    pub fn detect(ranks: u32, pairs: usize, mut invariant: impl FnMut(&dyn Fn(Rank) -> Rank) -> bool) -> Self {
        let divisors: Vec<u32> = (1..=ranks).filter(|d| ranks.is_multiple_of(*d)).collect();
        let mut candidates: Vec<Digit> = Vec::new();
        for &stride in &divisors {
            for &end in divisors.iter().filter(|&&end| end > stride && end.is_multiple_of(stride)) {
                candidates.push(Digit { stride, radix: end / stride });
            }
        }
        candidates.retain(|digit| pairs.is_multiple_of(digit.radix as usize));
        candidates.sort_unstable_by_key(|digit| (std::cmp::Reverse(digit.radix), digit.stride));
        let mut found: Vec<Digit> = Vec::new();
        for digit in candidates {
            interruption::check();
            let apart = found.iter().all(|other| {
                let (low, high) = if digit < *other { (digit, *other) } else { (*other, digit) };
                high.stride.is_multiple_of(low.end())
            });
            if !apart {
                continue;
            }
            let single = Self::of(ranks, vec![digit]);
            if invariant(&|rank| single.apply(digit.stride, rank)) {
                found.push(digit);
            }
        }
        found.sort_unstable();
        Self::of(ranks, found)
    }

    /// Number of ranks that the group acts on.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The digits that the group shifts, by stride.
    pub fn digits(&self) -> &[Digit] {
        &self.digits
    }

    /// Number of elements.
    pub fn order(&self) -> u32 {
        self.digits.iter().map(|digit| digit.radix).product()
    }

    /// Number of orbits of ranks; the action is free, so each has `order()` ranks.
    pub fn orbits(&self) -> u32 {
        self.ranks / self.order()
    }

    /// Whether one orbit holds every rank.
    pub fn is_transitive(&self) -> bool {
        self.orbits() == 1
    }

    /// `element` applied to `rank`: digit-wise sum without carry.
    #[inline]
    pub fn apply(&self, element: u32, rank: Rank) -> Rank {
        if let Some(bits) = self.binary {
            return bits.apply(element, rank);
        }
        if let [digit] = self.digits[..] {
            // The common case, Z_n or a period, without a loop.
            let sum = digit.of(rank) + digit.of(element);
            return rank - digit.of(rank) * digit.stride + sum % digit.radix * digit.stride;
        }
        self.digits.iter().fold(rank, |rank, digit| {
            let sum = digit.of(rank) + digit.of(element);
            rank - digit.of(rank) * digit.stride + sum % digit.radix * digit.stride
        })
    }

    /// The element that undoes `element`.
    #[inline]
    pub fn inverse(&self, element: u32) -> u32 {
        if let Some(bits) = self.binary {
            return bits.inverse(element);
        }
        self.digits.iter().map(|digit| (digit.radix - digit.of(element)) % digit.radix * digit.stride).sum()
    }

    /// `(representative, element)` with `apply(element, representative) == rank`.
    #[inline]
    pub fn canonical(&self, rank: Rank) -> (Rank, u32) {
        let element = match self.binary {
            Some(bits) => bits.element(rank),
            None => self.digits.iter().map(|digit| digit.of(rank) * digit.stride).sum(),
        };
        (rank - element, element)
    }

    /// The element that takes `from` to `to`, if they share an orbit.
    pub fn element(&self, from: Rank, to: Rank) -> Option<u32> {
        let (start, back) = self.canonical(from);
        let (end, there) = self.canonical(to);
        (start == end).then(|| self.apply(there, self.inverse(back)))
    }

    /// Index of the orbit of `rank`, `0..orbits()`, in the order of the representatives.
    #[inline]
    pub fn orbit(&self, rank: Rank) -> u32 {
        if self.digits.is_empty() {
            return rank;
        }
        if self.is_transitive() {
            return 0;
        }
        let (mut index, mut weight, mut below) = (0, 1, 1);
        let ends = self.digits.iter().map(|digit| (digit.stride, digit.end())).chain([(self.ranks, self.ranks)]);
        for (stride, end) in ends {
            let width = stride / below;
            index += rank / below % width * weight;
            weight *= width;
            below = end;
        }
        index
    }

    /// The representative of every orbit: the ranks whose shifted digits are all zero, ascending.
    pub fn representatives(&self) -> Vec<Rank> {
        if self.is_transitive() {
            return vec![0];
        }
        (0..self.ranks).filter(|&rank| self.canonical(rank).1 == 0).collect()
    }

    /// Every element, the identity first.
    pub fn elements(&self) -> Vec<u32> {
        let mut elements = Vec::with_capacity(self.order() as usize);
        elements.push(0);
        for digit in &self.digits {
            for shorter in 0..elements.len() * (digit.radix as usize - 1) {
                elements.push(elements[shorter] + digit.stride);
            }
        }
        elements
    }

    /// Elements of this group, one for each coset of `subgroup`, the identity first.
    pub fn cosets(&self, subgroup: &Self) -> Vec<u32> {
        if self == subgroup {
            return vec![0];
        }
        let mut elements = self.elements();
        if subgroup.order() > 1 {
            elements.retain(|&element| subgroup.canonical(element).1 == 0);
        }
        elements
    }

    /// The largest group of this kind inside both: two digits share translations when they wrap at
    /// the same place, namely those by the least common multiple of their strides.
    pub fn meet(&self, other: &Self) -> Self {
        debug_assert_eq!(self.ranks, other.ranks);
        if self == other {
            return self.clone();
        }
        let mut digits = Vec::new();
        for a in &self.digits {
            for b in other.digits.iter().filter(|b| b.end() == a.end()) {
                let stride = a.stride / gcd(a.stride, b.stride) * b.stride;
                if stride < a.end() {
                    digits.push(Digit { stride, radix: a.end() / stride });
                }
            }
        }
        Self::of(self.ranks, digits)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_group() -> impl Strategy<Value = Translations> {
        let dims = prop::collection::vec((1u32..5, 1u32..4), 1..4);
        dims.prop_map(|dims| {
            let sizes: Vec<u32> = dims.iter().map(|(count, period)| count * period).collect();
            let periods: Vec<u32> = dims.iter().map(|(_, period)| *period).collect();
            Translations::grid(&sizes, &periods)
        })
    }

    proptest! {
        #[test]
        fn acts_freely_as_a_group(group in any_group()) {
            let elements = group.elements();
            prop_assert_eq!(elements.len() as u32, group.order());
            for rank in 0..group.ranks() {
                let (representative, element) = group.canonical(rank);
                prop_assert_eq!(group.apply(element, representative), rank);
                prop_assert_eq!(group.canonical(representative), (representative, 0));
                for &g in &elements {
                    let image = group.apply(g, rank);
                    prop_assert_eq!(image == rank, g == 0);
                    prop_assert_eq!(group.apply(group.inverse(g), image), rank);
                    prop_assert_eq!(group.orbit(image), group.orbit(rank));
                    prop_assert_eq!(group.element(rank, image), Some(g));
                }
            }
            let representatives = group.representatives();
            prop_assert_eq!(representatives.len() as u32, group.orbits());
            for (index, &representative) in representatives.iter().enumerate() {
                prop_assert_eq!(group.orbit(representative) as usize, index);
            }
        }

        #[test]
        fn the_meet_lies_in_both_and_cosets_partition(n in 2u32..40, p in 1u32..7, q in 1u32..7) {
            let ranks = n * p * q;
            let a = Translations::periodic(ranks, p);
            let b = Translations::grid(&[ranks / q, q], &[1, 1]);
            let both = a.meet(&b);
            for g in both.elements() {
                for group in [&a, &b] {
                    let contained = group
                        .elements()
                        .iter()
                        .any(|&h| (0..ranks).all(|rank| group.apply(h, rank) == both.apply(g, rank)));
                    prop_assert!(contained);
                }
            }
            let mut covered: Vec<u32> =
                a.cosets(&both).iter().flat_map(|&c| both.elements().into_iter().map(move |g| (c, g)))
                    .map(|(c, g)| both.apply(g, c)).collect();
            covered.sort_unstable();
            covered.dedup();
            prop_assert_eq!(covered.len() as u32, a.order());
        }
    }

    #[test]
    fn the_largest_group_of_a_pattern_is_found() {
        let ring = |f: &dyn Fn(u32) -> u32| (0..12).all(|r| (f(r) + 1) % 12 == f((r + 1) % 12));
        assert_eq!(Translations::detect(12, 12, ring), Translations::cyclic(12));
        let hypercube = |f: &dyn Fn(u32) -> u32| (0..16).all(|r| f(r) ^ 5 == f(r ^ 5));
        assert_eq!(Translations::detect(16, 16, hypercube).order(), 16);
        let nothing = |f: &dyn Fn(u32) -> u32| (0..9).all(|r| f(r) == r);
        assert_eq!(Translations::detect(9, 9, nothing), Translations::trivial(9));
        // Orbits of pairs are as large as the group.
        assert_eq!(Translations::detect(12, 6, ring), Translations::periodic(12, 2));
        assert_eq!(Translations::xor(8).meet(&Translations::cyclic(8)), Translations::periodic(8, 4));
    }
}
