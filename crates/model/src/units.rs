//! Sizes, times and rates as people write them: `64MiB`, `1.7us`, `800Gbps`.

use crate::ranges::{RATE, Range, SIZE, TIME};
use crate::{Error, Result};

const SIZE_UNITS: &[(&str, f64)] = &[
    ("b", 1.0),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
];
const TIME_UNITS: &[(&str, f64)] =
    &[("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
const RATE_UNITS: &[(&str, f64)] = &[
    ("bps", 1.0),
    ("kbps", 1e3),
    ("mbps", 1e6),
    ("gbps", 1e9),
    ("tbps", 1e12),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("mbit/s", 1e6),
    ("gbit/s", 1e9),
    ("tbit/s", 1e12),
];

fn quantity(field: &str, text: &str, units: &[(&str, f64)], range: Range) -> Result<f64> {
    let shown = || format!("`{}`", text.trim().chars().take(60).collect::<String>());
    let refuse = || Error::value(field, shown(), range.accepts);
    let trimmed = text.trim();
    let split = trimmed
        .char_indices()
        .find(|&(i, c)| {
            let exponent = (c == 'e' || c == 'E') && {
                let rest = &trimmed[i + 1..];
                rest.trim_start_matches(['+', '-']).starts_with(|d: char| d.is_ascii_digit())
            };
            let sign_of_exponent = (c == '-' || c == '+') && trimmed[..i].ends_with(['e', 'E']);
            // A number below zero is outside every range, but minus zero is zero.
            let sign = c == '-' && i == 0;
            !(c.is_ascii_digit() || c == '.' || exponent || sign_of_exponent || sign)
        })
        .map_or(trimmed.len(), |(i, _)| i);
    let (number, unit) = trimmed.split_at(split);
    let number: f64 = number.parse().map_err(|_| refuse())?;
    let unit = unit.trim().to_lowercase();
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor).ok_or_else(refuse)?;
    // Dividing by the reciprocal keeps `500ns` equal to the literal 500e-9 to the last bit.
    let value = if factor < 1.0 { number / (1.0 / factor).round() } else { number * factor };
    range.check(field, value, shown())
}

/// Bytes of `64MiB`, `1KB`, `1024B`. Whole bytes, at least one, at most 2^53.
pub fn parse_size(field: &str, text: &str) -> Result<u64> {
    let bytes = quantity(field, text, SIZE_UNITS, SIZE)?;
    let refuse = || Error::value(field, format!("`{}`", text.trim()), SIZE.accepts);
    // 2^53 + 1 is not a float: the next one is 2^53, which would be accepted.
    let whole = text.trim().trim_end_matches(['B', 'b']).trim_end().parse::<u64>();
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
pub fn parse_time(field: &str, text: &str) -> Result<f64> {
    quantity(field, text, TIME_UNITS, TIME)
}

/// Bits per second of `800Gbps`.
pub fn parse_rate(field: &str, text: &str) -> Result<f64> {
    quantity(field, text, RATE_UNITS, RATE)
}

/// `seconds` with the unit that keeps it between 1 and 1000, four significant digits.
pub fn show_time(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".into();
    }
    let (factor, unit) = match seconds.abs() {
        x if x < 0.999_95e-6 => (1e9, "ns"),
        x if x < 0.999_95e-3 => (1e6, "µs"),
        x if x < 0.999_95 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    let value = seconds * factor;
    let decimals = (3 - value.abs().log10().floor() as i32).clamp(0, 3) as usize;
    format!("{value:.decimals$} {unit}")
}

/// A number of bytes in one system of units.
struct InUnits {
    /// Of the unit.
    number: f64,
    /// With at most three decimals.
    text: String,
    unit: &'static str,
    /// Whether the text is all of it.
    exact: bool,
}

fn in_units(bytes: f64, base: f64, units: [&'static str; 5]) -> InUnits {
    let (mut scale, mut index) = (1.0, 0);
    while bytes / scale >= base && index + 1 < units.len() {
        scale *= base;
        index += 1;
    }
    let number = bytes / scale;
    let text = format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_string();
    let exact = text.parse::<f64>().is_ok_and(|shown| shown * scale == bytes);
    InUnits { number, text, unit: units[index], exact }
}

fn in_binary(bytes: f64) -> InUnits {
    in_units(bytes, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB"])
}

fn in_decimal(bytes: f64) -> InUnits {
    in_units(bytes, 1000.0, ["B", "KB", "MB", "GB", "TB"])
}

/// Digits that a size has which people write in decimal units.
const MOST_DIGITS: usize = 4;

/// Whether who wrote a size wrote it in decimal units: it is a short number of those, and none of binary ones.
fn is_decimal(bytes: f64) -> bool {
    let (binary, decimal) = (in_binary(bytes), in_decimal(bytes));
    let digits = decimal.text.bytes().filter(u8::is_ascii_digit).count();
    if !decimal.exact || digits > MOST_DIGITS || !binary.exact {
        return decimal.exact && digits <= MOST_DIGITS;
    }
    // People write powers of two in either: 128 KB is 125 KiB, and was written as the former.
    let is_power = |shown: &InUnits| shown.number.log2().fract() == 0.0;
    match (is_power(&binary), is_power(&decimal)) {
        (false, true) => true,
        (true, _) => false,
        (false, false) => decimal.text.len() < binary.text.len(),
    }
}

/// `bytes` as who wrote them has written them: in decimal units where they are a short number of these, else in binary
/// units, with three decimals at most.
pub fn show_size(bytes: f64) -> String {
    show_size_like(bytes, bytes)
}

/// `bytes` in the units, binary or decimal, in which [`show_size`] shows `like`.
pub fn show_size_like(bytes: f64, like: f64) -> String {
    let shown = if is_decimal(like) { in_decimal(bytes) } else { in_binary(bytes) };
    format!("{} {}", shown.text, shown.unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_binary_or_decimal_as_written() {
        assert_eq!(parse_size("size", "1KiB").unwrap(), 1024);
        assert_eq!(parse_size("size", "1KB").unwrap(), 1000);
        assert_eq!(parse_size("size", "1024B").unwrap(), 1024);
        assert_eq!(parse_size("size", "64 MiB").unwrap(), 64 << 20);
        assert_eq!(parse_size("size", "1.5KiB").unwrap(), 1536);
        assert_eq!(parse_size("size", "1e3B").unwrap(), 1000);
        assert_eq!(parse_size("size", "1E+3B").unwrap(), 1000);
        assert_eq!(parse_size("size", "9007199254740992B").unwrap(), 1 << 53);
        assert!(parse_size("size", "9007199254740993B").is_err());
    }

    #[test]
    fn times_and_rates_equal_their_literals() {
        assert_eq!(parse_time("t", "500ns").unwrap(), 500e-9);
        assert_eq!(parse_time("t", "1.7us").unwrap(), 1.7e-6);
        assert_eq!(parse_time("t", "10µs").unwrap(), 10e-6);
        assert_eq!(parse_time("t", "0s").unwrap(), 0.0);
        assert_eq!(parse_time("t", "3e2ns").unwrap(), 300e-9);
        assert_eq!(parse_rate("r", "800Gbps").unwrap(), 8e11);
        assert_eq!(parse_rate("r", "85.11Gbit/s").unwrap(), 85.11e9);
    }

    #[test]
    fn nonsense_is_refused_with_the_field_named() {
        for bad in
            ["", "1", "MiB", "-1KiB", "1.5B", "nanB", "infB", "1e999B", "0B", "1XB", "1 Ki B", "１KiB", "1e", "9e15KB"]
        {
            let error = parse_size("size", bad).unwrap_err();
            assert!(error.to_string().starts_with("size: "), "{bad}: {error}");
        }
        for bad in ["", "5", "-5us", "nans", "1e999s", "1e308s", "1e-16s", "1000001s", "5 parsec"] {
            assert!(parse_time("startup", bad).is_err(), "{bad}");
        }
        for bad in ["0Gbps", "-1Gbps", "800", "GB/s", "1e-320bps", "0.99bps", "2e6Tbps"] {
            assert!(parse_rate("bandwidth", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_shown_in_natural_units() {
        assert_eq!(show_time(41.972e-6), "41.97 µs");
        assert_eq!(show_time(500e-9), "500.0 ns");
        assert_eq!(show_time(1e-6), "1.000 µs");
        assert_eq!(show_time(0.0), "0 s");
        assert_eq!(show_size(1_048_576.0), "1 MiB");
        assert_eq!(show_size(1536.0), "1.5 KiB");
        assert_eq!(show_size_like(1e6 / 3.0, 1e6), "333.333 KB");
        assert_eq!(show_size_like(1_048_576.0 / 3.0, 1_048_576.0), "341.333 KiB");
    }

    #[test]
    fn sizes_are_shown_as_they_were_written() {
        for written in [
            "1 B", "7 B", "500 B", "1000 B", "1 KB", "1 KiB", "1.5 KiB", "1.5 KB", "4 KiB", "32 KB", "64 KB", "100 KB",
            "128 KB", "128 KiB", "256 KB", "500 KB", "512 KB", "512 KiB", "1 MB", "1 MiB", "2.5 MB", "16 MB", "25 MB",
            "64 MiB", "96 KiB", "100 MB", "3 GB", "1 GB", "1 GiB", "1.5 GiB", "1 TB", "2 TiB",
        ] {
            let shown = show_size(parse_size("size", written).unwrap() as f64);
            assert_eq!(shown, if written == "1000 B" { "1 KB" } else { written });
        }
    }

    proptest! {
        /// Whoever writes up to three digits of a unit reads them again, in that unit or as a power of two of the other.
        #[test]
        fn what_was_written_is_shown_whole(number in 1u32..1000, power in 0u32..5, binary: bool) {
            let bytes = f64::from(number) * if binary { 1024f64 } else { 1000f64 }.powi(power as i32);
            prop_assert_eq!(parse_size("size", &show_size(bytes)).unwrap() as f64, bytes);
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,24}") {
            let _ = parse_size("size", &text);
            let _ = parse_time("time", &text);
            let _ = parse_rate("rate", &text);
        }

        /// Whatever its bits: a number is accepted where the table has it, and the message says what the table has.
        #[test]
        fn the_table_alone_says_which_numbers_are_accepted(bits in any::<u64>(), tame in -320i32..320) {
            for number in [f64::from_bits(bits), 10f64.powi(tame), -10f64.powi(tame), -0.0] {
                let ways = [
                    (TIME, time_from_f64("field", number).map(|_| ()), parse_time("field", &format!("{number}s")).map(|_| ())),
                    (RATE, rate_from_f64("field", number).map(|_| ()), parse_rate("field", &format!("{number}bps")).map(|_| ())),
                ];
                for (range, from_number, from_text) in ways {
                    prop_assert_eq!(from_number.is_ok(), range.contains(number));
                    prop_assert_eq!(from_text.is_ok(), range.contains(number));
                    for error in from_number.err().into_iter().chain(from_text.err()) {
                        let message = error.to_string();
                        prop_assert!(message.starts_with("field: ") && message.contains(range.accepts), "{}", message);
                    }
                }
                let whole = SIZE.contains(number) && number.fract() == 0.0;
                prop_assert_eq!(size_from_f64("field", number).is_ok(), whole);
            }
        }

        /// However a reconfiguration delay or a window is put together.
        #[test]
        fn sums_and_lists_are_in_range_too(terms in prop::collection::vec((-340i32..320, any::<bool>()), 1..5)) {
            let text = |(power, per_port): &(i32, bool)| format!("1e{power}s{}", if *per_port { "/port" } else { "" });
            let delay = crate::ReconfigurationDelay::parse("delay", &terms.iter().map(text).collect::<Vec<_>>().join("+"));
            if let Ok(delay) = delay {
                let terms = delay.terms();
                prop_assert!(TIME.contains(terms.fixed_s) && TIME.contains(terms.per_port_s));
            }
            let item = |(step, (power, _)): (usize, &(i32, bool))| format!("{}=1e{power}s", step + 1);
            let window = crate::Window::parse("window", &terms.iter().enumerate().map(item).collect::<Vec<_>>().join(","));
            let all = terms.iter().all(|(power, _)| TIME.contains(format!("1e{power}").parse().unwrap()));
            prop_assert_eq!(window.is_ok(), all);
        }

        #[test]
        fn whole_bytes_round_trip(bytes in 1u64..(1 << 53)) {
            prop_assert_eq!(parse_size("size", &format!("{bytes}B")).unwrap(), bytes);
        }
    }
}
