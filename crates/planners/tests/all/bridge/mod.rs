//! BRIDGE: every vector of reconfigurations, table 1, the closed forms, the paper's speed-ups.
mod limits;
mod papers_figures;
mod setting;
mod tori;
mod vectors;
