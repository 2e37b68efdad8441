//! The closed form of one-way rings.

use model::{Fabric, Result};

use crate::clock::{femtoseconds, wire_fs};
use crate::settings::Settings;
use crate::split::whole_bytes;

/// Seconds from the first packet of a step to its last where each GPU sends one message of `bytes` over `hops`
/// circuits, each of which carries `hops` messages in turn, as on one-way rings: what [`crate::simulate`] finds
/// by default, to the femtosecond, in constant time.
///
/// With W the message and p a packet on the wire, max(h·W + δ, W + h·δ + (h−1)·p): either what h−1 others sent
/// before it waits at the last circuit, or nothing waits at all.
///
/// # Errors
/// Times beyond what femtoseconds count.
pub fn one_way_s(fabric: &Fabric, bytes: f64, hops: u32) -> Result<f64> {
    let rate = fabric.bandwidth_bps;
    let (bytes, payload) = (whole_bytes(bytes), u64::from(Settings::default().payload_bytes));
    let (full, rest) = (bytes / payload, bytes % payload);
    let rest_fs = if rest > 0 { wire_fs(rest, rate)? } else { 0 };
    let packet_fs = if full > 0 { wire_fs(payload, rate)? } else { rest_fs };
    let delay_fs = femtoseconds("hop_delay", fabric.hop_delay_s)?;
    let (hops, full, packet) = (u128::from(hops), u128::from(full), u128::from(packet_fs));
    let message = if full > 0 { full * packet + u128::from(rest_fs) } else { packet };
    let delay = u128::from(delay_fs);
    let waits = hops * message + delay;
    let passes = message + hops * delay + hops.saturating_sub(1) * packet;
    Ok(waits.max(passes) as f64 / 1e15)
}
