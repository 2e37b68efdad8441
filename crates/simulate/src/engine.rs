//! The engine that serves a network.

use model::Result;

use crate::controlled;
use crate::fifo;
use crate::fluid;
use crate::gates::Gates;
use crate::ledger::Ledger;
use crate::settings::Level;
use crate::wiring::Wiring;

/// Simulates what is wired as [`fifo::run`] does, with limits on queues or congestion control where the settings have
/// one.
///
/// # Errors
/// Times above the limit, or full buffers that wait for each other.
pub(crate) fn run(
    wiring: &Wiring,
    released: Vec<(u32, u64)>,
    gates: Gates,
    reaction_fs: u64,
) -> Result<(Ledger, Gates)> {
    match wiring.settings.buffer_bytes {
        _ if wiring.settings.level == Level::Flow => fluid::run(&wiring.network, released, gates),
        _ if !wiring.settings.congestion_control.is_none() => controlled::run(wiring, released, gates),
        buffer_bytes => fifo::run(wiring, released, gates, reaction_fs, buffer_bytes),
    }
}
