//! Flows at max-min fair rates, from one release or end to the next.
//!
//! A flow leaves all its circuits at the rate of the slowest; it is through at the receiver a hop delay per hop
//! after its last bit is out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::Result;

use crate::clock::{LIMIT_FS, too_long};
use crate::fair;
use crate::gates::Gates;
use crate::ledger::Ledger;
use crate::network::QueueingNetwork;

/// A flow under way.
struct Active {
    flow: u32,
    start_fs: u64,
    /// Time that the rest takes on a circuit of its own, fs.
    left_fs: f64,
}

/// The rest of a flow when it counts as through, fs on a circuit: rates and times are rounded.
const ROUNDING_FS: f64 = 0.5;

/// Simulates `network` from the flows that are `released` at their times; `gates` release the others.
///
/// Costs one filling, O(crossings · log servers), per time at which a flow begins or ends.
///
/// # Errors
/// Times above the limit.
pub(crate) fn run(network: &QueueingNetwork, released: Vec<(u32, u64)>, mut gates: Gates) -> Result<(Ledger, Gates)> {
    let mut ledger = Ledger::new(network);
    let mut to_come: BinaryHeap<Reverse<(u64, u32)>> =
        released.into_iter().map(|(flow, time)| Reverse((time, flow))).collect();
    let mut active: Vec<Active> = Vec::new();
    let (mut now_fs, mut opened) = (0.0_f64, Vec::new());
    loop {
        interruption::check();
        if active.is_empty() {
            let Some(&Reverse((next_fs, _))) = to_come.peek() else { return Ok((ledger, gates)) };
            now_fs = now_fs.max(next_fs as f64);
        }
        while let Some(&Reverse((start_fs, flow))) = to_come.peek().filter(|first| first.0.0 as f64 <= now_fs) {
            to_come.pop();
            active.push(Active { flow, start_fs, left_fs: network.fluid_fs(flow) });
        }
        active.sort_unstable_by_key(|active| active.flow);
        let rates = fair::rates(network, &active.iter().map(|active| active.flow).collect::<Vec<_>>());
        let next_fs = to_come.peek().map_or(f64::INFINITY, |Reverse((time, _))| *time as f64 - now_fs);
        let step_fs =
            active.iter().zip(&rates).map(|(active, rate)| active.left_fs / rate).fold(next_fs, f64::min).max(0.0);
        now_fs += step_fs;
        if now_fs >= LIMIT_FS as f64 {
            return Err(too_long());
        }
        let (mut on, now) = (Vec::with_capacity(active.len()), now_fs.round() as u64);
        for (mut flow, rate) in active.into_iter().zip(rates) {
            flow.left_fs -= step_fs * rate;
            if flow.left_fs > ROUNDING_FS {
                on.push(flow);
            } else {
                ledger.note_flow(network, flow.flow, flow.start_fs, now);
            }
        }
        active = on;
        for done in std::mem::take(&mut ledger.done) {
            gates.stream_done(network, done, &mut opened);
        }
        to_come.extend(opened.drain(..).map(|(flow, time)| Reverse((time, flow))));
    }
}
