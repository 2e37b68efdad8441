//! The library as C sees it: its header, the example, and programs under a checker of memory.

mod header;
mod programs;
