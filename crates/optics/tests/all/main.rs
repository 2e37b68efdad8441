//! Every integration test of the crate, in one program: one is linked sooner than many.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod fibres;
mod launch_power;
mod mesh;
