//! The gate: what each side is told, no wake-up lost, and the library as C sees it.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that cannot run here says so")]

mod ends;
mod folder;
mod header;
mod interleavings;
mod programs;
mod stress;
