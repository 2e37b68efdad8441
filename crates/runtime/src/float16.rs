//! IEEE 754's binary16 as float32 and back.

/// The number that these bits are, exactly.
pub fn widened(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff);
    // The exponent is rebiased by a product, which makes subnormal numbers right, too; infinite ones and NaN stay so.
    let magnitude = if rest >= 0x7c00 {
        0x7f80_0000 | (rest & 0x3ff) << 13
    } else {
        (f32::from_bits(rest << 13) * f32::from_bits(0x7780_0000)).to_bits()
    };
    f32::from_bits(sign | magnitude)
}

/// The nearest number's bits, of two that are the one whose last bit is 0; infinite from 65520 on.
pub fn rounded(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let rest = bits & 0x7fff_ffff;
    let magnitude = if rest > 0x7f80_0000 {
        0x7e00
    } else if rest >= 0x477f_f000 {
        0x7c00
    } else if rest < 0x3880_0000 {
        // Subnormal numbers are multiples of 2^-24: the sum with 0.5 has that as its last bit.
        (f32::from_bits(rest) + 0.5).to_bits() - 0.5f32.to_bits()
    } else {
        let to_even = rest >> 13 & 1;
        (rest + 0xfff + to_even - 0x3800_0000) >> 13
    };
    sign | magnitude as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        for bits in 0..=u16::MAX {
            let value = widened(bits);
            if bits & 0x7fff > 0x7c00 {
                assert!(value.is_nan() && widened(rounded(value)).is_nan());
            } else {
                assert_eq!(rounded(value), bits, "{value}");
            }
        }
    }

    #[test]
    fn what_lies_between_two_goes_to_the_nearest_and_halfway_to_even() {
        for bits in 0..0x7bffu16 {
            let (low, high) = (widened(bits), widened(bits + 1));
            let middle = f32::midpoint(low, high);
            assert_eq!(rounded(middle), bits + (bits & 1), "{middle}");
            assert_eq!(rounded(middle.next_down()), bits);
            assert_eq!(rounded(middle.next_up()), bits + 1);
        }
        assert_eq!((widened(1), widened(0x3c00), widened(0x7bff)), (2f32.powi(-24), 1.0, 65504.0));
        assert_eq!((rounded(65519.9), rounded(65520.0)), (0x7bff, 0x7c00));
    }
}
