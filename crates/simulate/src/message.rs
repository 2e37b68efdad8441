//! A transfer as packets: how many, how long, and what is too much to be simulated.

use model::{Error, Result};

use crate::clock::{LONGEST_FS, too_long, wire_fs, wire_fs_of_parts};
use crate::packet::Packet;
use crate::settings::Settings;

/// Most bytes of a transfer on a circuit: whole numbers of bytes are exact in doubles.
const MAX_WIRE_BYTES: u64 = 1 << 53;

/// Bytes of a transfer: the whole number that they are but for rounding errors of the plan, else the fraction that they
/// are.
pub(crate) fn exact_bytes(bytes: f64) -> f64 {
    let whole = bytes.round();
    if whole >= 1.0 && (bytes - whole).abs() <= bytes * 4e-15 + 1e-6 { whole } else { bytes }
}

/// A packet with `payload` bytes and a header. It takes the time of its bytes, and as much room as the next whole
/// number of them.
///
/// # Errors
/// A time that femtoseconds cannot count.
pub(crate) fn packet(payload: f64, settings: &Settings, bandwidth_bps: f64) -> Result<Packet> {
    let bytes = payload + f64::from(settings.header_bytes);
    Ok(Packet { bytes: bytes.ceil() as u64, wire_fs: wire_fs_of_parts(bytes, bandwidth_bps)? })
}

/// The packets of a transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    /// Payload, bytes; they need not be whole ones.
    pub(crate) payload_bytes: f64,
    /// Payload and headers, bytes.
    pub(crate) wire_bytes: f64,
    /// Packets, the short one included.
    pub(crate) packets: u64,
    /// The last packet, where it is shorter than the others.
    pub(crate) tail: Option<Packet>,
}

/// A packet of full size. Its time may exceed the largest that is counted, as long as no transfer sends such a packet.
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
        let (payload_bytes, payload) = (exact_bytes(bytes), u64::from(settings.payload_bytes));
        let (whole, part) = (payload_bytes.floor() as u64, payload_bytes.fract());
        let packets = whole.div_ceil(payload) + u64::from(part > 0.0 && whole % payload == 0);
        let rest = (whole - (packets - 1) * payload) as f64 + part;
        let tail = if rest < payload as f64 { Some(packet(rest, settings, bandwidth_bps)?) } else { None };
        let last_fs = tail.unwrap_or(full).wire_fs;
        if u128::from(packets - 1) * u128::from(full.wire_fs) + u128::from(last_fs) > u128::from(LONGEST_FS) {
            return Err(too_long());
        }
        let headers = u128::from(packets) * u128::from(settings.header_bytes);
        if u128::from(whole) + headers >= u128::from(MAX_WIRE_BYTES) {
            let accepts = format!("transfers of at most {MAX_WIRE_BYTES} bytes, headers included");
            return Err(Error::value("header_size", settings.header_bytes, accepts));
        }
        Ok(Self { payload_bytes, wire_bytes: payload_bytes + headers as f64, packets, tail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_of_the_plan_are_no_bytes() {
        assert_eq!(exact_bytes(4096.0), 4096.0);
        assert_eq!(exact_bytes(4_096.000_000_000_5), 4096.0);
        assert_eq!(exact_bytes(4096.1), 4096.1);
        assert_eq!(exact_bytes(1e-9), 1e-9);
    }

    #[test]
    fn the_last_packet_has_what_is_left_to_the_fraction() {
        let settings = Settings { payload_bytes: 4, header_bytes: 1, ..Settings::default() };
        let full = full_packet(&settings, 8e9);
        // 8 Gbit/s: a byte takes a nanosecond.
        for (bytes, packets, tail) in [
            (8.0, 2, None),
            (9.0, 3, Some((2, 2_000_000))),
            (8.25, 3, Some((2, 1_250_000))),
            (13.0 / 12.0, 1, Some((3, 2_083_334))),
            (0.5, 1, Some((2, 1_500_000))),
        ] {
            let message = Message::new(bytes, full, &settings, 8e9).unwrap();
            assert_eq!(message.packets, packets, "{bytes}");
            assert_eq!(message.tail.map(|tail| (tail.bytes, tail.wire_fs)), tail, "{bytes}");
            assert_eq!((message.payload_bytes, message.wire_bytes), (bytes, bytes + packets as f64));
        }
    }
}
