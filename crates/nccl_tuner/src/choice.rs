//! The choice for one call.

use crate::table::Row;

/// The algorithm, the protocol and the channels of a call, by NCCL's numbers; 0 channels are left to NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// NCCL's number of the algorithm.
    pub algorithm: usize,
    /// NCCL's number of the protocol.
    pub protocol: usize,
    /// The number of channels.
    pub channels: u32,
}

/// The fastest row for a call among those that NCCL can do; `None` where the table says nothing of it. The first of rows
/// that are as fast, so that all ranks choose alike.
///
/// rows: of the topology that is up. own_us: NCCL's estimate for an algorithm and a protocol; `None` where it cannot do
/// these, or where they are beyond its tables.
pub fn choose(
    rows: &[Row],
    collective: usize,
    ranks: u64,
    bytes: u64,
    protocols: usize,
    own_us: impl Fn(usize, usize) -> Option<f32>,
) -> Option<Choice> {
    let mut best: Option<(f64, Choice)> = None;
    for row in rows.iter().filter(|row| row.collective == collective && row.ranks == ranks) {
        let able = |protocol: usize| own_us(row.algorithm, protocol).map(|time_us| (protocol, time_us));
        let protocol = match row.protocol {
            Some(wanted) => able(wanted).map(|(protocol, _)| protocol),
            None => (0..protocols)
                .filter_map(able)
                .min_by(|one, other| one.1.total_cmp(&other.1))
                .map(|(protocol, _)| protocol),
        };
        let Some(protocol) = protocol else { continue };
        let time_us = row.time_us(bytes);
        if best.is_none_or(|(least_us, _)| time_us < least_us) {
            best = Some((time_us, Choice { algorithm: row.algorithm, protocol, channels: row.channels }));
        }
    }
    best.map(|(_, choice)| choice)
}
