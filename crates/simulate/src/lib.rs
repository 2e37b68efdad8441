//! Simulates a plan packet by packet, or flow by flow. It reads the model and nothing else: transfers, topologies,
//! routes and the fabric's numbers, and nothing that the plan states and these make: no bytes, hops, loads or times.
//!
//! ```text
//! Plan + Settings ─▶ wiring: servers and flows, on orbits ─▶ fifo | controlled | fluid ─▶ report ─▶ Simulation
//!                      barrier: a network for each step
//!                      dataflow: one for all steps, with gates between them
//! ```
//!
//! | holds | file |
//! |---|---|
//! | what is assumed, what is found | `settings`, `simulation` |
//! | simulated time | `clock` |
//! | time of a change of topology | `change` |
//! | a transfer as packets, and these over its paths | `message`, `split` |
//! | what engines see of a plan, and how it is made | `network`, `wiring` |
//! | packets in queues, flows at fair rates | `fifo` with `fifo/serving` and `fifo/cycles`, `fluid` and `fair` |
//! | rules by which senders slow down, packets one by one under them | `congestion` and its files, `controlled` |
//! | what is between two servers, and the room for it | `room` |
//! | packets at equal intervals as one, and the queues that they make | `runs`, `backlog` |
//! | packets of several flows that a sender hands over in turn | `trunks` |
//! | dependencies | `gates` |
//! | circuits of different rates, and next to the electrical switches of islands | `unlike_servers` |
//! | records and the report | `ledger`, `report` |
//! | the closed form of one-way rings | `one_way` |
//! | completion times where the fabric's times are uncertain | `sampling` and its files |

mod backlog;
mod barrier;
mod change;
mod clock;
mod congestion;
mod controlled;
mod cutoffs;
mod dataflow;
mod engine;
mod fair;
mod fifo;
mod fluid;
mod gates;
mod ledger;
mod message;
mod network;
mod one_way;
mod packet;
mod report;
mod room;
mod runs;
mod sampling;
mod settings;
mod simulation;
mod split;
mod trunks;
mod unlike_servers;
mod wiring;

pub use congestion::{CongestionControl, CongestionTotals, Dcqcn, Marking, Window};
pub use one_way::one_way_s;
pub use sampling::{Basis, Estimate, KeptNumbers, Objective, Sampled, Uncertainty, regrets_s, sample};
pub use settings::{Forwarding, Injection, Level, ReconfigurationScope, Settings, Symmetry, Synchronisation};
pub use simulation::{CircuitTotal, CircuitUse, GpuTimes, SimulatedStep, Simulation};

use model::{Plan, Result};

/// Simulates `plan` under `settings`.
///
/// # Errors
/// Settings that are not accepted, routes that are not those of the plan's traffic and topologies, times above
/// 9 223 s, more bytes than can be counted, or full buffers that wait for each other.
pub fn simulate(plan: &Plan, settings: &Settings) -> Result<Simulation> {
    settings.check(&plan.fabric)?;
    if unlike_servers::is_needed(plan) {
        return unlike_servers::run(plan, settings);
    }
    match settings.sync {
        Synchronisation::Barrier => barrier::run(plan, settings),
        Synchronisation::Dataflow => dataflow::run(plan, settings),
    }
}

/// Seconds from the first packet of step `index` of `plan` to the last bit received, where it runs by itself under the
/// default settings: a pipelined plan counts it as the step's propagation and transmission.
///
/// # Errors
/// As [`simulate`]; but the whole plan may take longer than 9 223 s.
pub fn step_s(plan: &Plan, index: usize) -> Result<f64> {
    barrier::alone_fs(plan, index, &Settings::default()).map(clock::seconds)
}
