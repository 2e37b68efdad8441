//! A transfer as packets: how many, how long, and what is too much to be simulated.

use model::{Error, Result};

use crate::clock::{LONGEST_FS, too_long, wire_fs};
use crate::packet::Packet;
use crate::settings::Settings;

/// Most bytes of a transfer on a circuit: whole numbers of bytes are exact in doubles.
const MAX_WIRE_BYTES: u64 = 1 << 53;

/// Whole bytes of a transfer of `bytes`: the next whole number, where rounding errors of the plan are not
/// counted as a byte.
pub(crate) fn whole_bytes(bytes: f64) -> u64 {
    (bytes - bytes * 4e-15 - 1e-6).ceil().max(1.0) as u64
}

/// A packet with `payload` bytes and a header.
///
/// # Errors
/// A time that femtoseconds cannot count.
pub(crate) fn packet(payload: u64, settings: &Settings, bandwidth_bps: f64) -> Result<Packet> {
    let bytes = payload + u64::from(settings.header_bytes);
    Ok(Packet { bytes, wire_fs: wire_fs(bytes, bandwidth_bps)? })
}

/// The packets of a transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    /// Payload, bytes.
    pub(crate) payload_bytes: u64,
    /// Payload and headers, bytes.
    pub(crate) wire_bytes: u64,
    /// Packets, the short one included.
    pub(crate) packets: u64,
    /// The last packet, where it is shorter than the others.
    pub(crate) tail: Option<Packet>,
}

/// A packet of full size. One that takes longer than is counted may be there, as long as no transfer has it.
pub(crate) fn full_packet(settings: &Settings, bandwidth_bps: f64) -> Packet {
    let bytes = u64::from(settings.payload_bytes) + u64::from(settings.header_bytes);
    Packet { bytes, wire_fs: wire_fs(bytes, bandwidth_bps).unwrap_or(LONGEST_FS + 1) }
}

impl Message {
    /// A transfer of `bytes` in packets like `full`.
    ///
    /// # Errors
    /// More bytes, or a longer time on one circuit, than can be counted.
    pub(crate) fn new(bytes: f64, full: Packet, settings: &Settings, bandwidth_bps: f64) -> Result<Self> {
        let (payload_bytes, payload) = (whole_bytes(bytes), u64::from(settings.payload_bytes));
        let packets = payload_bytes.div_ceil(payload);
        let rest = payload_bytes - (packets - 1) * payload;
        let tail = if rest < payload { Some(packet(rest, settings, bandwidth_bps)?) } else { None };
        let last_fs = tail.unwrap_or(full).wire_fs;
        if u128::from(packets - 1) * u128::from(full.wire_fs) + u128::from(last_fs) > u128::from(LONGEST_FS) {
            return Err(too_long());
        }
        let headers = u128::from(packets) * u128::from(settings.header_bytes);
        match u64::try_from(u128::from(payload_bytes) + headers) {
            Ok(wire_bytes) if wire_bytes <= MAX_WIRE_BYTES => Ok(Self { payload_bytes, wire_bytes, packets, tail }),
            _ => {
                let accepts = format!("transfers of at most {MAX_WIRE_BYTES} bytes, headers included");
                Err(Error::value("header_size", settings.header_bytes, accepts))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_of_the_plan_are_no_bytes() {
        assert_eq!(whole_bytes(4096.0), 4096);
        assert_eq!(whole_bytes(4_096.000_000_000_5), 4096);
        assert_eq!(whole_bytes(4096.1), 4097);
        assert_eq!(whole_bytes(1e-9), 1);
        assert_eq!(whole_bytes((1_u64 << 40) as f64 / 3.0), 366_503_875_926);
    }
}
