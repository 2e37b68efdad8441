//! Every integration test of the crate, in one program: one is linked sooner than many.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod barriers;
mod better;
mod bounds;
mod consistency;
mod faults;
mod flow;
mod interrupted;
mod many_gpus;
mod options;
mod plan_mutations;
mod random_requests;
mod ranges;
mod repairs;
mod series;
mod tiers;
