//! Numbers of text with a unit, or of another type, within the ranges.

use super::spelling::{self, Meanings};
use crate::ranges::{RATE, Range, SIZE, TIME};
use crate::{Error, Result};

/// A kind of quantity: the meaning of its units, and the accepted numbers.
struct Kind {
    /// The size of a unit in the range's unit.
    factor: fn(&str) -> Option<f64>,
    /// The meanings of a number whose unit has no factor.
    meanings: fn(f64, &str) -> Option<Meanings>,
    range: Range,
}

const SIZES: Kind = Kind { factor: spelling::bytes_of, meanings: spelling::meanings_of_size, range: SIZE };
const TIMES: Kind = Kind { factor: spelling::seconds_of, meanings: spelling::meanings_of_time, range: TIME };
const RATES: Kind = Kind { factor: spelling::bits_per_second_of, meanings: spelling::meanings_of_rate, range: RATE };

/// Characters of a text that a message shows.
const SHOWN: usize = 60;

impl Kind {
    fn read(&self, field: &str, text: &str) -> Result<f64> {
        let shown = || format!("`{}`", text.trim().chars().take(SHOWN).collect::<String>());
        let refuse = || Error::value(field, shown(), self.range.accepts);
        let (written, unit) = split(text.trim());
        let number: f64 = written.parse().map_err(|_| refuse())?;
        let Some(factor) = (self.factor)(unit) else {
            let meanings = (self.meanings)(number, unit).and_then(|meanings| self.told(meanings));
            return Err(meanings.map_or_else(refuse, |told| Error::malformed(field, format!("{} {told}", shown()))));
        };
        // Dividing by the reciprocal keeps `500ns` equal to the literal 500e-9 to the last bit.
        let value = if factor < 1.0 { number / (1.0 / factor).round() } else { number * factor };
        // A number that is too small for a float is not zero.
        let is_zero =
            !written.split(['e', 'E']).next().unwrap_or_default().contains(|c: char| ('1'..='9').contains(&c));
        if value == 0.0 && !is_zero { Err(refuse()) } else { self.range.check(field, value, shown()) }
    }

    /// The meanings that are accepted: completes "`8Mb` ...".
    fn told(&self, meanings: Meanings) -> Option<String> {
        let told = |written: &String| {
            let value = self.read("", written).ok().filter(|value| self.range != SIZE || value.fract() == 0.0)?;
            let value =
                if self.range == SIZE { format!("{value} bytes") } else { format!("{value:e} {}", self.range.unit) };
            Some(format!("{written} ({value})"))
        };
        let told: Vec<String> = meanings.written.iter().filter_map(told).collect();
        match told.as_slice() {
            [] => None,
            [one] => Some(format!("is not accepted; write {one}")),
            several => Some(format!("may be {}; write {}", meanings.question, several.join(" or "))),
        }
    }
}

/// The number of a text, and its unit.
fn split(text: &str) -> (&str, &str) {
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = (c == 'e' || c == 'E') && {
                let rest = &text[i + 1..];
                rest.trim_start_matches(['+', '-']).starts_with(|d: char| d.is_ascii_digit())
            };
            let sign_of_exponent = (c == '-' || c == '+') && text[..i].ends_with(['e', 'E']);
            // A number below zero is outside every range, but minus zero is zero.
            let sign = c == '-' && i == 0;
            !(c.is_ascii_digit() || c == '.' || exponent || sign_of_exponent || sign)
        })
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = text.split_at(end);
    (number, unit.trim())
}

/// Bytes of `64MiB`, `1KB`, `1024B`. Whole bytes, at least one, at most 2^53.
///
/// # Errors
/// Any other text; one that names both meanings where it has two, as `8Mb` has.
pub fn parse_size(field: &str, text: &str) -> Result<u64> {
    let bytes = SIZES.read(field, text)?;
    let refuse = || Error::value(field, format!("`{}`", text.trim()), SIZE.accepts);
    // 2^53 + 1 is not a float: the next one is 2^53, which would be accepted.
    let whole = text.trim().trim_end_matches('B').trim_end().parse::<u64>();
    if whole.is_ok_and(|whole| whole > 1 << 53) {
        return Err(refuse());
    }
    size_from_f64(field, bytes).map_err(|_| refuse())
}

/// A whole number of bytes from a float: at least one, at most 2^53.
pub fn size_from_f64(field: &str, bytes: f64) -> Result<u64> {
    let bytes = SIZE.check(field, bytes, format_args!("{bytes:?}"))?;
    if bytes.fract() == 0.0 { Ok(bytes as u64) } else { Err(Error::value(field, bytes, SIZE.accepts)) }
}

/// Bytes: at least one, at most 2^53.
pub fn size_in_range(field: &str, bytes: u64) -> Result<u64> {
    // 2^53 + 1 is not a float; rounded up it is still refused, rounded down it is 2^53.
    if bytes <= SIZE.most as u64 {
        SIZE.check(field, bytes as f64, bytes)?;
        return Ok(bytes);
    }
    Err(Error::value(field, bytes, SIZE.accepts))
}

/// A rate, bit/s, of the range of rates.
pub fn rate_from_f64(field: &str, rate_bps: f64) -> Result<f64> {
    RATE.check(field, rate_bps, format_args!("{rate_bps:?}"))
}

/// A time, s, of the range of times.
pub fn time_from_f64(field: &str, time_s: f64) -> Result<f64> {
    TIME.check(field, time_s, format_args!("{time_s:?}"))
}

/// Seconds of `500ns`, `1.7us`, `0s`.
///
/// # Errors
/// Any other text; one that names both meanings where it has two, as `1MS` has.
pub fn parse_time(field: &str, text: &str) -> Result<f64> {
    TIMES.read(field, text)
}

/// Bits per second of `800Gbps` and `100GB/s`.
///
/// # Errors
/// Any other text; one that names both meanings where it has two, as `100GBPS` has.
pub fn parse_rate(field: &str, text: &str) -> Result<f64> {
    RATES.read(field, text)
}
