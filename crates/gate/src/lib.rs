//! The gate: what holds a step of a plan back until its circuits are up. A controller, which turns the switches, writes
//! to a board in shared memory which steps may begin; the ranks of a job wait there, and say what they are done with.
//!
//! ```text
//!  Controller ── publish ──▶ Board ◀── wait_for, done ── Rank ◀── C (`exports`, `include/lightloom_gate.h`)
//! ```
//!
//! Linux only: waiting at words of shared memory, and bytes of a file that are held until a process ends.
#![cfg(target_os = "linux")]

mod board;
mod controller;
mod cutoffs;
mod exports;
mod rank;
mod status;

pub use controller::{Controller, Progress};
pub use rank::Rank;
pub use status::LightloomGateStatus;
