//! A library for C: plans looked up or made by collective, size and fabric, and walked step by step.
//!
//! `include/lightloom.h` is generated from `exports` and `views.rs` by cbindgen; a test holds it up to date. Functions
//! of `exports` check pointers, call what is safe, and let no panic out; everything else forbids unsafe code.

mod conversion;
mod exports;
mod fabric;
mod kept;
mod options;
mod plan;
mod pointers;
mod status;
mod views;
