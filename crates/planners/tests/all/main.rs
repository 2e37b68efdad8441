//! Every integration test of the crate, in one program: one is linked sooner than many.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod all_to_all_baselines;
mod baselines;
mod bridge;
mod capabilities;
mod envelope;
mod exact;
mod harvest;
mod hiding;
mod pccl;
mod pipelined;
mod port_speeds;
mod promises;
mod reconfigure_all_to_all;
mod reference;
mod short_circuit;
mod two_level;
mod unequal_waiting;
