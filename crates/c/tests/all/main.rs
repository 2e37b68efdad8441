//! The library as C sees it: its header, the example, and programs under a checker of memory.

#![expect(clippy::print_stderr, reason = "a test that cannot run here says so")]

mod header;
mod programs;
