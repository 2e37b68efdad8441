//! The elements that data are made of, and how two pieces of it become one.

use std::ops::{Add, Mul};

use serde::{Deserialize, Serialize};

use crate::float16;

/// Type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Element {
    /// IEEE 754, 4 bytes.
    Float32,
    /// IEEE 754, 8 bytes.
    Float64,
    /// Two's complement, 4 bytes; sums wrap around.
    Int32,
    /// The upper half of a float32; sums are of float32, rounded to the nearest, ties to even.
    Bfloat16,
    /// IEEE 754, 2 bytes; sums are of float32, rounded to the nearest, ties to even.
    Float16,
    /// Two's complement, 1 byte; sums wrap around.
    Int8,
    /// 1 byte without sign; sums wrap around.
    Uint8,
    /// Two's complement, 8 bytes; sums wrap around.
    Int64,
    /// 1 byte, 0 or 1; a sum is 1 where one of its terms is.
    Bool,
}

/// The result that a receiver makes of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reduction {
    /// The sum of the elements.
    Sum,
    /// The larger, where +0 is larger than -0; NaN where one of them is NaN, as in NumPy.
    Max,
    /// The smaller, where -0 is smaller than +0; NaN where one of them is NaN, as in NumPy.
    Min,
    /// The product of the elements.
    Product,
    /// The bits that both have.
    BitAnd,
    /// The bits that one of them has.
    BitOr,
    /// The bits that one of them has and the other has not.
    BitXor,
}

const ELEMENTS: [(&str, Element, u64); 9] = [
    ("float32", Element::Float32, 4),
    ("float64", Element::Float64, 8),
    ("int32", Element::Int32, 4),
    ("bfloat16", Element::Bfloat16, 2),
    ("float16", Element::Float16, 2),
    ("int8", Element::Int8, 1),
    ("uint8", Element::Uint8, 1),
    ("int64", Element::Int64, 8),
    ("bool", Element::Bool, 1),
];

const REDUCTIONS: [(&str, Reduction); 7] = [
    ("sum", Reduction::Sum),
    ("max", Reduction::Max),
    ("min", Reduction::Min),
    ("product", Reduction::Product),
    ("bit-and", Reduction::BitAnd),
    ("bit-or", Reduction::BitOr),
    ("bit-xor", Reduction::BitXor),
];

impl Element {
    /// The element of that name.
    pub fn named(name: &str) -> Option<Self> {
        ELEMENTS.iter().find(|one| one.0 == name).map(|one| one.1)
    }

    /// Bytes of one.
    pub fn bytes(self) -> u64 {
        ELEMENTS.iter().find(|one| one.1 == self).map_or(1, |one| one.2)
    }
}

impl Reduction {
    /// The reduction of that name.
    pub fn named(name: &str) -> Option<Self> {
        REDUCTIONS.iter().find(|one| one.0 == name).map(|one| one.1)
    }

    /// Reduces `with` into `into`, element by element; both are as long, whole elements.
    pub fn apply(self, element: Element, into: &mut [u8], with: &[u8]) {
        match self {
            Self::BitAnd => return each(into, with, |[a], [b]| [a & b]),
            Self::BitOr => return each(into, with, |[a], [b]| [a | b]),
            Self::BitXor => return each(into, with, |[a], [b]| [a ^ b]),
            Self::Sum | Self::Max | Self::Min | Self::Product => {}
        }
        match element {
            Element::Float32 => self.reckon(into, with, f32::from_ne_bytes, f32::to_ne_bytes),
            Element::Float64 => self.reckon(into, with, f64::from_ne_bytes, f64::to_ne_bytes),
            Element::Int32 => self.reckon(into, with, i32::from_ne_bytes, i32::to_ne_bytes),
            Element::Int64 => self.reckon(into, with, i64::from_ne_bytes, i64::to_ne_bytes),
            Element::Int8 => self.reckon(into, with, i8::from_ne_bytes, i8::to_ne_bytes),
            Element::Uint8 => self.reckon(into, with, u8::from_ne_bytes, u8::to_ne_bytes),
            Element::Bfloat16 => self.reckon(into, with, half, short),
            Element::Float16 => self.reckon(
                into,
                with,
                |bytes| float16::widened(u16::from_ne_bytes(bytes)),
                |value| float16::rounded(value).to_ne_bytes(),
            ),
            // Bytes of 0 and 1: a sum is their larger, a product their smaller.
            Element::Bool => match self {
                Self::Sum | Self::Max => each(into, with, |[a], [b]| [a | b]),
                _ => each(into, with, |[a], [b]| [a & b]),
            },
        }
    }

    fn reckon<const N: usize, T: Number>(
        self,
        into: &mut [u8],
        with: &[u8],
        number: impl Fn([u8; N]) -> T,
        bytes: impl Fn(T) -> [u8; N],
    ) {
        match self {
            Self::Sum => each(into, with, |a, b| bytes(number(a).plus(number(b)))),
            Self::Product => each(into, with, |a, b| bytes(number(a).times(number(b)))),
            Self::Min => each(into, with, |a, b| bytes(smaller(number(a), number(b)))),
            _ => each(into, with, |a, b| bytes(larger(number(a), number(b)))),
        }
    }
}

/// Numbers that are added and multiplied; whole ones wrap around.
trait Number: PartialOrd + Copy {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The larger of two equal numbers: +0 of +0 and -0, so that their order does not matter.
    fn larger_of_equal(self, other: Self) -> Self;
    /// The smaller of two equal numbers: -0 of +0 and -0.
    fn smaller_of_equal(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($kind:ty: $plus:ident $times:ident $bits:ident $number:expr),*) => {$(
        impl Number for $kind {
            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }
            fn times(self, other: Self) -> Self {
                self.$times(other)
            }
            fn larger_of_equal(self, other: Self) -> Self {
                $number(self.$bits() & other.$bits())
            }
            fn smaller_of_equal(self, other: Self) -> Self {
                $number(self.$bits() | other.$bits())
            }
        }
    )*};
}

numbers!(f32: add mul to_bits f32::from_bits, f64: add mul to_bits f64::from_bits);
numbers!(i8: wrapping_add wrapping_mul to_le i8::from_le, u8: wrapping_add wrapping_mul to_le u8::from_le);
numbers!(i32: wrapping_add wrapping_mul to_le i32::from_le, i64: wrapping_add wrapping_mul to_le i64::from_le);

fn each<const N: usize>(into: &mut [u8], with: &[u8], one: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    let (into, with) = (into.as_chunks_mut::<N>().0, with.as_chunks::<N>().0);
    for (into, with) in into.iter_mut().zip(with) {
        *into = one(*into, *with);
    }
}

fn half(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_ne_bytes(bytes)) << 16)
}

fn short(value: f32) -> [u8; 2] {
    let bits = value.to_bits();
    // NaN stays NaN, with any lower bits.
    if value.is_nan() {
        return ((bits >> 16) as u16 | 0x40).to_ne_bytes();
    }
    // No other number overflows here.
    let to_even = (bits >> 16) & 1;
    (((bits + 0x7fff + to_even) >> 16) as u16).to_ne_bytes()
}

fn larger<T: Number>(a: T, b: T) -> T {
    // `a` is NaN where it does not equal itself.
    #[allow(clippy::eq_op, reason = "NaN is unequal to itself")]
    if a > b || a != a {
        a
    } else if a == b {
        a.larger_of_equal(b)
    } else {
        b
    }
}

fn smaller<T: Number>(a: T, b: T) -> T {
    #[allow(clippy::eq_op, reason = "NaN is unequal to itself")]
    if a < b || a != a {
        a
    } else if a == b {
        a.smaller_of_equal(b)
    } else {
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(values: &[u16]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn halves_round_to_even() {
        // 1.0 + 2^-8 lies between 1.0 and 1.0 + 2^-7; 1.0 + 2^-7 + 2^-8 rounds up to 1.0 + 2^-6.
        let mut into = bits(&[0x3f80, 0x3f81, 0x4000]);
        Reduction::Sum.apply(Element::Bfloat16, &mut into, &bits(&[0x3b80, 0x3b80, 0x4040]));
        assert_eq!(into, bits(&[0x3f80, 0x3f82, 0x40a0]));
    }

    #[test]
    fn what_is_no_number_is_the_larger() {
        let none = f64::NAN.to_ne_bytes();
        for (a, b) in [(none, 1f64.to_ne_bytes()), (1f64.to_ne_bytes(), none)] {
            let mut into = a;
            Reduction::Max.apply(Element::Float64, &mut into, &b);
            assert!(f64::from_ne_bytes(into).is_nan());
        }
    }

    #[test]
    fn of_two_zeros_the_order_does_not_matter() {
        let zeros = [0f32, -0.0];
        for (reduction, sign) in [(Reduction::Max, 1f32), (Reduction::Min, -1.0)] {
            for (a, b) in [(0, 1), (1, 0)] {
                let mut into = zeros[a].to_ne_bytes();
                reduction.apply(Element::Float32, &mut into, &zeros[b].to_ne_bytes());
                assert_eq!(f32::from_ne_bytes(into).signum(), sign);
            }
        }
    }

    #[test]
    fn whole_numbers_wrap_around() {
        let mut into = i32::MAX.to_ne_bytes();
        Reduction::Sum.apply(Element::Int32, &mut into, &2i32.to_ne_bytes());
        assert_eq!(i32::from_ne_bytes(into), i32::MIN + 1);
    }
}
