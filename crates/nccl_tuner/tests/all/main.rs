//! The tuner: its table, its choices, and the library as NCCL loads it.

#![expect(clippy::print_stderr, reason = "a test that cannot run here says so")]

mod choices;
mod loaded;
mod tables;
