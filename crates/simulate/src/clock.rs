//! Simulated time: whole femtoseconds.

pub(crate) use crate::cutoffs::clock::LONGEST_FS;
use model::{Error, Result};

/// No simulated time may be later than this, fs: 9 223 s.
pub(crate) const LIMIT_FS: u64 = 1 << 63;

/// `seconds` to the nearest femtosecond.
///
/// # Errors
/// A time that is negative, not finite or above 2 305 s.
pub(crate) fn femtoseconds(field: &str, seconds: f64) -> Result<u64> {
    let fs = (seconds * 1e15).round();
    if (0.0..=LONGEST_FS as f64).contains(&fs) {
        Ok(fs as u64)
    } else {
        Err(Error::value(field, format!("{seconds} s"), "0 to 2305 s where packets are simulated"))
    }
}

/// Seconds of `fs` femtoseconds.
pub(crate) fn seconds(fs: u64) -> f64 {
    fs as f64 / 1e15
}

/// Time of `bytes` at `bandwidth_bps`, fs, rounded up. Exact for whole rates.
///
/// # Errors
/// A time above 2 305 s.
pub(crate) fn wire_fs(bytes: u64, bandwidth_bps: f64) -> Result<u64> {
    let bit_fs = u128::from(bytes) * 8_000_000_000_000_000;
    let fs = if bandwidth_bps.fract() == 0.0 && bandwidth_bps < u64::MAX as f64 {
        bit_fs.div_ceil(u128::from(bandwidth_bps as u64))
    } else {
        (bit_fs as f64 / bandwidth_bps).ceil() as u128
    };
    match u64::try_from(fs) {
        Ok(fs) if fs <= LONGEST_FS => Ok(fs),
        _ => {
            Err(Error::value("bandwidth", format!("{bandwidth_bps} bit/s"), "a rate that sends a packet within 2305 s"))
        }
    }
}

/// [`wire_fs`] of bytes that need not be whole numbers; what rounding makes of a fraction is no femtosecond.
///
/// # Errors
/// A time above 2 305 s.
pub(crate) fn wire_fs_of_parts(bytes: f64, bandwidth_bps: f64) -> Result<u64> {
    let whole_fs = wire_fs(bytes.ceil() as u64, bandwidth_bps)?;
    Ok(match bytes.fract() > 0.0 {
        true => ((bytes * 8e15 / bandwidth_bps * (1.0 - 1e-12)).ceil() as u64).clamp(1, whole_fs),
        false => whole_fs,
    })
}

/// The error for a plan that takes too long to be simulated.
pub(crate) fn too_long() -> Error {
    Error::value("plan", "a time above 9223 s", "up to 9223 s where packets are simulated, in whole femtoseconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_femtoseconds() {
        assert_eq!(femtoseconds("hop_delay", 500e-9).unwrap(), 500_000_000);
        assert_eq!(wire_fs(4096, 8e11).unwrap(), 40_960_000);
        assert_eq!(wire_fs(1, 3e15).unwrap(), 3);
        assert_eq!(wire_fs(0, 1.5).unwrap(), 0);
        assert!(wire_fs(1 << 40, 1.0).is_err());
        assert!(femtoseconds("startup", 1e6).unwrap_err().to_string().starts_with("startup: "));
    }
}
