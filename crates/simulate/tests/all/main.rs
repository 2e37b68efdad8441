//! Every integration test of the crate, in one program: one is linked sooner than many.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod bad_input;
mod closed_forms;
mod congestion;
mod conservation;
mod dcqcn_ns3;
mod every_planner;
mod flow_level;
mod one_by_one;
mod plans;
mod quotient;
mod reference;
mod stated_numbers;
mod steps;
