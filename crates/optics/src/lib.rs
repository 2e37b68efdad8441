//! From topologies to light: circuits through meshes of MZIs, and between servers on fibres.

mod grid;
pub mod mesh;

pub use grid::{Grid, Side};
