//! Times and sizes with the unit that reads best.

use crate::cutoffs::units_display::MOST_DIGITS;

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
    /// The number before the unit.
    number: f64,
    /// With at most three decimals.
    text: String,
    unit: &'static str,
    /// Whether the text states the value exactly.
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

/// `bytes` as a person would have written them: in decimal units if that is a short number, else in binary units, with
/// three decimals at most.
pub fn show_size(bytes: f64) -> String {
    show_size_like(bytes, bytes)
}

/// `bytes` in the units, binary or decimal, in which [`show_size`] shows `like`.
pub fn show_size_like(bytes: f64, like: f64) -> String {
    let shown = if is_decimal(like) { in_decimal(bytes) } else { in_binary(bytes) };
    format!("{} {}", shown.text, shown.unit)
}
