//! Simulates a plan packet by packet, or flow by flow. It reads the model and nothing else: topologies, routes
//! and the fabric's numbers, not what the plan says that its steps take.
//!
//! ```text
//! Plan + Settings ─▶ wiring: servers and flows, on orbits ─▶ fifo | credits | fluid ─▶ report ─▶ Simulation
//!                      barrier: a network for each step
//!                      dataflow: one for all steps, with gates between them
//! ```
//!
//! | holds | file |
//! |---|---|
//! | what is assumed, what is found | `settings`, `simulation` |
//! | simulated time | `clock` |
//! | packets of a transfer over its paths | `split` |
//! | what engines see of a plan, and how it is made | `network`, `wiring` |
//! | packets in queues without limit, in queues with one, flows at fair rates | `fifo`, `credits`, `fluid` and `fair` |
//! | packets at equal intervals as one, and the queues that they make | `runs`, `backlog` |
//! | packets of several flows that a sender hands over in turn | `trunks` |
//! | what waits for what | `gates` |
//! | what is noted and told | `ledger`, `report` |
//! | the closed form of one-way rings | `one_way` |

mod backlog;
mod barrier;
mod clock;
mod credits;
mod dataflow;
mod engine;
mod fair;
mod fifo;
mod fluid;
mod gates;
mod ledger;
mod network;
mod one_way;
mod report;
mod runs;
mod settings;
mod simulation;
mod split;
mod trunks;
mod wiring;

pub use one_way::one_way_s;
pub use settings::{Darkness, Forwarding, Injection, Level, Settings, Symmetry, Synchronisation};
pub use simulation::{CircuitTotal, CircuitUse, GpuTimes, SimulatedStep, Simulation};

use model::{Plan, Result};

/// Simulates `plan` under `settings`.
///
/// # Errors
/// Settings that are not accepted, routes that are not those of the plan's traffic and topologies, times above
/// 9 223 s, or full buffers that wait for each other.
pub fn simulate(plan: &Plan, settings: &Settings) -> Result<Simulation> {
    settings.check(&plan.fabric)?;
    match settings.sync {
        Synchronisation::Barrier => barrier::run(plan, settings),
        Synchronisation::Dataflow => dataflow::run(plan, settings),
    }
}
