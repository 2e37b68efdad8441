//! The elements that data are made of, and how two pieces of it become one.

use serde::{Deserialize, Serialize};

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
}

/// The result that a receiver makes of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reduction {
    /// The sum of the elements.
    Sum,
    /// The larger; NaN where one of them is NaN, as in NumPy.
    Max,
}

impl Element {
    /// The element of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "float32" => Some(Self::Float32),
            "float64" => Some(Self::Float64),
            "int32" => Some(Self::Int32),
            "bfloat16" => Some(Self::Bfloat16),
            _ => None,
        }
    }

    /// Bytes of one.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bfloat16 => 2,
            Self::Float32 | Self::Int32 => 4,
            Self::Float64 => 8,
        }
    }
}

impl Reduction {
    /// The reduction of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sum" => Some(Self::Sum),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    /// Reduces `with` into `into`, element by element; both are as long, whole elements.
    pub fn apply(self, element: Element, into: &mut [u8], with: &[u8]) {
        match (element, self) {
            (Element::Float32, Self::Sum) => each(into, with, |a, b| (real(a) + real(b)).to_ne_bytes()),
            (Element::Float32, Self::Max) => each(into, with, |a, b| larger(real(a), real(b)).to_ne_bytes()),
            (Element::Float64, Self::Sum) => each(into, with, |a, b| (double(a) + double(b)).to_ne_bytes()),
            (Element::Float64, Self::Max) => each(into, with, |a, b| larger(double(a), double(b)).to_ne_bytes()),
            (Element::Int32, Self::Sum) => each(into, with, |a, b| whole(a).wrapping_add(whole(b)).to_ne_bytes()),
            (Element::Int32, Self::Max) => each(into, with, |a, b| whole(a).max(whole(b)).to_ne_bytes()),
            (Element::Bfloat16, Self::Sum) => each(into, with, |a, b| short(half(a) + half(b))),
            (Element::Bfloat16, Self::Max) => each(into, with, |a, b| short(larger(half(a), half(b)))),
        }
    }
}

fn each<const N: usize>(into: &mut [u8], with: &[u8], one: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    let (into, with) = (into.as_chunks_mut::<N>().0, with.as_chunks::<N>().0);
    for (into, with) in into.iter_mut().zip(with) {
        *into = one(*into, *with);
    }
}

fn real(bytes: [u8; 4]) -> f32 {
    f32::from_ne_bytes(bytes)
}

fn double(bytes: [u8; 8]) -> f64 {
    f64::from_ne_bytes(bytes)
}

fn whole(bytes: [u8; 4]) -> i32 {
    i32::from_ne_bytes(bytes)
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

fn larger<T: PartialOrd + Copy>(a: T, b: T) -> T {
    // `a` is NaN where it does not equal itself.
    #[allow(clippy::eq_op, reason = "NaN is unequal to itself")]
    if a > b || a != a { a } else { b }
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
    fn whole_numbers_wrap_around() {
        let mut into = i32::MAX.to_ne_bytes();
        Reduction::Sum.apply(Element::Int32, &mut into, &2i32.to_ne_bytes());
        assert_eq!(i32::from_ne_bytes(into), i32::MIN + 1);
    }
}
