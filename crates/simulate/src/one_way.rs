//! The closed form of one-way rings.

use model::{Fabric, Result};

use crate::clock::{LIMIT_FS, femtoseconds, seconds, too_long};
use crate::message::{Message, full_packet};
use crate::settings::Settings;

/// Seconds from the first packet of a step to its last where each GPU sends one message of `bytes` over `hops`
/// circuits, each of which carries `hops` messages in turn, as on one-way rings: what [`crate::step_s`] finds,
/// to the femtosecond, in constant time.
///
/// With W the message and p a packet on the wire, max(h·W + δ, W + h·δ + (h−1)·p): either what h−1 others sent
/// before it waits at the last circuit, or nothing waits at all.
///
/// # Errors
/// Times beyond what femtoseconds count, as [`crate::step_s`].
pub fn one_way_s(fabric: &Fabric, bytes: f64, hops: u32) -> Result<f64> {
    let (settings, rate) = (Settings::default(), fabric.bandwidth_bps);
    let full = full_packet(&settings, rate);
    let delay = u128::from(femtoseconds("hop_delay", fabric.hop_delay_s)?);
    let Message { packets, tail, .. } = Message::new(bytes, full, &settings, rate)?;
    let last_fs = u128::from(tail.unwrap_or(full).wire_fs);
    let message = u128::from(packets - 1) * u128::from(full.wire_fs) + last_fs;
    // A single packet may be a short one.
    let packet_fs = if packets > 1 { u128::from(full.wire_fs) } else { last_fs };
    let hops = u128::from(hops);
    let waits = hops * message + delay;
    let passes = message + hops * delay + hops.saturating_sub(1) * packet_fs;
    match u64::try_from(waits.max(passes)) {
        Ok(fs) if fs < LIMIT_FS => Ok(seconds(fs)),
        _ => Err(too_long()),
    }
}
