//! Meanings of units.
//!
//! `b` is a bit and `B` a byte. Prefixes may be capitals or not, since thousandths of a bit or byte have no use. In
//! times, `m` is a thousandth and `M` would be a million, so that they have no capitals. Spellings that may mean two
//! things are refused with both.

/// The possible meanings of a number and its unit: the question, and how to write each answer.
pub struct Meanings {
    /// Completes "it may be ...".
    pub question: &'static str,
    pub written: Vec<String>,
}

/// A prefix as it should be written, how many it stands for, and the rest of the unit.
struct Prefixed<'a> {
    prefix: String,
    factor: f64,
    rest: &'a str,
}

impl<'a> Prefixed<'a> {
    fn of(unit: &'a str) -> Self {
        let mut characters = unit.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        let Some(power) = ['K', 'M', 'G', 'T'].into_iter().position(|prefix| first == Some(prefix)) else {
            return Self { prefix: String::new(), factor: 1.0, rest: unit };
        };
        let prefix = unit[..1].to_ascii_uppercase();
        let (power, rest) = (power as i32 + 1, characters.as_str());
        match rest.strip_prefix(['i', 'I']) {
            Some(rest) => Self { prefix: format!("{prefix}i"), factor: 1024f64.powi(power), rest },
            None => Self { prefix, factor: 1000f64.powi(power), rest },
        }
    }
}

/// Bytes of a unit of sizes.
pub fn bytes_of(unit: &str) -> Option<f64> {
    let Prefixed { factor, rest, .. } = Prefixed::of(unit);
    (rest == "B").then_some(factor)
}

/// The possible meanings of a size whose unit says no bytes.
pub fn meanings_of_size(number: f64, unit: &str) -> Option<Meanings> {
    let Prefixed { prefix, rest, .. } = Prefixed::of(unit);
    let bytes = format!("{number}{prefix}B");
    match rest {
        "b" => Some(Meanings { question: "bytes or bits", written: vec![bytes, format!("{}{prefix}B", number / 8.0)] }),
        "" if prefix.len() == 1 => {
            Some(Meanings { question: "decimal or binary", written: vec![bytes, format!("{number}{prefix}iB")] })
        }
        _ => None,
    }
}

/// Bits per second of a unit of rates.
pub fn bits_per_second_of(unit: &str) -> Option<f64> {
    let Prefixed { factor, rest, .. } = Prefixed::of(unit);
    match rest {
        "bps" | "b/s" => Some(factor),
        "Bps" | "B/s" => Some(8.0 * factor),
        _ => rest.eq_ignore_ascii_case("bit/s").then_some(factor),
    }
}

/// The possible meanings of a rate that says neither bits nor bytes per second: `400GBPS`, `400Gb`, `400G`.
pub fn meanings_of_rate(number: f64, unit: &str) -> Option<Meanings> {
    let Prefixed { prefix, rest, .. } = Prefixed::of(unit);
    let is_open = match rest.to_ascii_lowercase().as_str() {
        "bps" | "b/s" | "b" => true,
        "" => !prefix.is_empty(),
        _ => false,
    };
    let written = vec![format!("{number}{prefix}bps"), format!("{number}{prefix}B/s")];
    is_open.then_some(Meanings { question: "bits or bytes per second", written })
}

const SECONDS: [(&str, f64); 7] =
    [("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// Seconds of a unit of times.
pub fn seconds_of(unit: &str) -> Option<f64> {
    SECONDS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds)
}

/// The possible meanings of a time whose unit has capitals.
pub fn meanings_of_time(number: f64, unit: &str) -> Option<Meanings> {
    let small = unit.to_lowercase();
    seconds_of(&small)?;
    let mut written = vec![format!("{number}{small}")];
    if unit.starts_with('M') {
        written.push(format!("{}s", number * 1e6));
    }
    Some(Meanings { question: "thousandths or millions of seconds", written })
}
