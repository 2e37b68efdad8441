//! BRIDGE: every vector of reconfigurations, table 1, the closed forms, the paper's speed-ups.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../reference/bridge_vectors.rs"]
mod bridge_vectors;
mod limits;
mod papers_figures;
mod setting;
mod vectors;
