//! Settings of a congestion control, as KEY=VALUE text.

use model::ranges::{RATE, SIZE};
use model::{Error, Result, units, unknown_name};

/// The field that errors name.
pub(super) const FIELD: &str = "congestion_control";

/// Longest and shortest interval, s: a timer that is shorter than this has no use and takes for ever.
const INTERVALS_S: (f64, f64) = (1e-9, 1.0);

/// The default with the settings that `text` gives, each by `set`.
///
/// # Errors
/// Something else than KEY=VALUE, an unknown key, a key that is there twice, and what `set` refuses.
pub(super) fn read<T: Default>(
    text: Option<&str>,
    keys: &[&str],
    set: impl Fn(&mut T, &str, &str) -> Result<()>,
) -> Result<T> {
    let (mut made, mut known) = (T::default(), Vec::new());
    for pair in text.into_iter().flat_map(|text| text.split(',')) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Error::value(FIELD, format!("`{pair}`"), "settings as KEY=VALUE, with commas between them"));
        };
        let (key, value) = (key.trim(), value.trim());
        if !keys.contains(&key) {
            return Err(unknown_name(FIELD, key, keys.iter().copied()));
        }
        if known.contains(&key) {
            return Err(Error::value(FIELD, format!("`{pair}`"), format!("`{key}` once")));
        }
        known.push(key);
        set(&mut made, key, value)?;
    }
    Ok(made)
}

fn refused(key: &str, text: &str, accepts: &str) -> Error {
    Error::value(FIELD, format!("`{key}={text}`"), accepts)
}

/// A size in bytes.
pub(super) fn size(key: &str, text: &str) -> Result<u64> {
    units::parse_size(FIELD, text).map_err(|_| refused(key, text, SIZE.accepts))
}

/// A rate in bit/s.
pub(super) fn rate(key: &str, text: &str) -> Result<f64> {
    units::parse_rate(FIELD, text).map_err(|_| refused(key, text, RATE.accepts))
}

/// A time from 0 to 1 s.
pub(super) fn time(key: &str, text: &str) -> Result<f64> {
    let found = units::parse_time(FIELD, text).ok().filter(|time_s| *time_s <= INTERVALS_S.1);
    found.ok_or_else(|| refused(key, text, "a time from 0s to 1s"))
}

/// A time from 1 ns to 1 s.
pub(super) fn interval(key: &str, text: &str) -> Result<f64> {
    let found = units::parse_time(FIELD, text).ok().filter(|time_s| (INTERVALS_S.0..=INTERVALS_S.1).contains(time_s));
    found.ok_or_else(|| refused(key, text, "a time from 1ns to 1s"))
}

/// A number above 0, of at most 1.
pub(super) fn fraction(key: &str, text: &str) -> Result<f64> {
    let found = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= 1.0);
    found.ok_or_else(|| refused(key, text, "a number above 0, of at most 1"))
}

/// A whole number that starts at 0.
pub(super) fn whole(key: &str, text: &str) -> Result<u32> {
    text.parse().map_err(|_| refused(key, text, "a whole number from 0 to 4294967295"))
}
