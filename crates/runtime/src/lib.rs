//! Executes plans and training iterations on processes: one for every rank, one for the switch between them, and a
//! controller that leads them from step to step, of which several may be under way at once. A plan is made a program
//! first: messages, and where their data lie.
//!
//! ```text
//!  Plan ─▶ PlanProgram ─▶ a part of the request
//!  Request ─▶ Controller ─┬─▶ Rank ─▶ Transport ─▶ rings ─▶ Switch (Fabric) ─▶ rings ─▶ Transport ─▶ Rank ...
//!                         └─▶ Driver ─▶ the switch, or one outside                                     │
//!  Report ◀── Controller ◀──────────────── Board: barriers, commands, what was measured ◀──────────────┘
//! ```
//!
//! All times are dilated by the caller, and stay so in the report. Linux only: memory without a name, waiting at
//! words until a moment of the clock, and processes as descriptors exist there.

mod course;
mod cutoffs;
mod elements;
mod float16;
mod paces;
mod program;
mod report;
mod request;

#[cfg(target_os = "linux")]
mod arrivals;
#[cfg(target_os = "linux")]
mod barrier;
#[cfg(target_os = "linux")]
mod barriers;
#[cfg(target_os = "linux")]
mod board;
#[cfg(target_os = "linux")]
mod children;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod controller;
#[cfg(target_os = "linux")]
mod datagrams;
#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod envelope;
#[cfg(target_os = "linux")]
mod fabric;
#[cfg(target_os = "linux")]
mod fault;
#[cfg(target_os = "linux")]
mod job;
#[cfg(target_os = "linux")]
mod kernel_ports;
#[cfg(target_os = "linux")]
mod kernel_switch;
#[cfg(target_os = "linux")]
mod lateness;
#[cfg(target_os = "linux")]
mod memory;
mod namespaces;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod outside;
#[cfg(target_os = "linux")]
mod owner;
#[cfg(target_os = "linux")]
mod rank;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod share;
#[cfg(target_os = "linux")]
mod switch;
#[cfg(target_os = "linux")]
mod synchronisation;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
mod transport;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
pub use clock::{Bell, now_ns};
pub use course::check;
pub use elements::{Element, Reduction};
#[cfg(target_os = "linux")]
pub use job::{Arrived, Circuits, Execution, Member, Message, StepCourse, Task};
#[cfg(target_os = "linux")]
pub use memory::free_bytes;
pub use namespaces::Namespaces;
pub use paces::Paces;
pub use program::{Copies, Data, MOST_MOVED, PlanProgram, program_of};
pub use report::{ChangeTimes, CircuitUse, Granted, Lateness, RankTimes, Report, Run, StepTimes};
pub use request::{Change, MOST_RANKS, PACKET_BYTES, Program, Request, StepSetting};
#[cfg(target_os = "linux")]
pub use serve::serve;
#[cfg(target_os = "linux")]
pub use synchronisation::{barrier_rounds, barriers};
#[cfg(target_os = "linux")]
pub use system::{Shared, hold, is_held};

/// `None`: on this system free memory is not known.
#[cfg(not(target_os = "linux"))]
pub fn free_bytes() -> Option<u64> {
    None
}

/// Plans cannot be run on this system.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn serve(_descriptor: i32) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// An empty list: on this system barriers cannot be measured.
#[cfg(not(target_os = "linux"))]
pub fn barriers() -> Vec<[&'static str; 3]> {
    Vec::new()
}

/// Barriers are not measured here.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn barrier_rounds(_name: &str, _ranks: u32, _rounds: u32, _owner: u32) -> Result<Vec<u32>, String> {
    Err("barriers are measured only on Linux".into())
}
