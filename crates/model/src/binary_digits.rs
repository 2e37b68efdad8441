//! Digits whose strides and radices are powers of two, all of them shifted at once by operations on bits.

use crate::digit::Digit;

/// Each digit is a run of bits of a rank, so that a translation adds all of them in one addition whose carries
/// are kept inside the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BinaryDigits {
    /// Bits of all digits.
    all: u32,
    /// The highest bit of each digit.
    highest: u32,
    /// The lowest bit of each digit.
    lowest: u32,
}

impl BinaryDigits {
    /// `None` when some stride or radix is no power of two.
    pub(crate) fn of(digits: &[Digit]) -> Option<Self> {
        let mut bits = Self { all: 0, highest: 0, lowest: 0 };
        for digit in digits {
            if !(digit.stride.is_power_of_two() && digit.radix.is_power_of_two()) {
                return None;
            }
            bits.all |= digit.stride * (digit.radix - 1);
            bits.highest |= digit.stride * (digit.radix / 2);
            bits.lowest |= digit.stride;
        }
        Some(bits)
    }

    /// Only the digits of `rank`.
    #[inline]
    pub(crate) fn element(self, rank: u32) -> u32 {
        rank & self.all
    }

    /// Digit-wise sum without carry; the rest of `rank` stays.
    #[inline]
    pub(crate) fn apply(self, element: u32, rank: u32) -> u32 {
        let element = element & self.all;
        // Without their highest bits two digits add up inside their run; the highest bits are added modulo 2.
        let below = (element & !self.highest) + (rank & self.all & !self.highest);
        (rank & !self.all) | (below ^ ((element ^ rank) & self.highest))
    }

    /// The element that undoes `element`.
    #[inline]
    pub(crate) fn inverse(self, element: u32) -> u32 {
        self.apply(self.lowest, !element & self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_digit_is_shifted_by_itself(
            bits in prop::collection::vec((0u32..3, 1u32..4), 0..4), element in any::<u32>(), rank in any::<u32>(),
        ) {
            let (mut digits, mut below) = (Vec::new(), 0);
            for (gap, width) in bits {
                digits.push(Digit { stride: 1 << (below + gap), radix: 1 << width });
                below += gap + width;
            }
            let binary = BinaryDigits::of(&digits).unwrap();
            let of = |digit: &Digit, rank: u32| rank / digit.stride % digit.radix;
            let apply = |element: u32| digits.iter().fold(rank, |moved, digit| {
                let sum = (of(digit, moved) + of(digit, element)) % digit.radix;
                moved - of(digit, moved) * digit.stride + sum * digit.stride
            });
            prop_assert_eq!(binary.apply(element, rank), apply(element));
            prop_assert_eq!(binary.apply(binary.inverse(element), binary.apply(element, rank)), rank);
            prop_assert_eq!(binary.element(rank), digits.iter().map(|digit| of(digit, rank) * digit.stride).sum::<u32>());
        }
    }

    #[test]
    fn other_digits_are_left_alone() {
        assert_eq!(BinaryDigits::of(&[Digit { stride: 1, radix: 6 }]), None);
        assert_eq!(BinaryDigits::of(&[Digit { stride: 3, radix: 2 }]), None);
    }
}
