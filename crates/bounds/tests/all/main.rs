//! Every integration test of the crate, in one program: one is linked sooner than many.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod any_algorithm;
mod given_schedule;
mod rooted;
mod unequal;
