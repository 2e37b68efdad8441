//! Algorithms for collectives: which rank sends which chunks to whom, step by step.
//!
//! An [`Algorithm`] turns a collective and a [`Shape`](model::Shape) into a
//! [`Schedule`](model::Schedule). It knows nothing of topologies or costs. Wherever a step looks alike
//! from many ranks, only one transfer per orbit is built, so that a schedule for thousands of ranks
//! stays small. [`REGISTRY`] is the only list of algorithms; [`direct_from_matrix`] serves All-to-All
//! matrices whose blocks differ in size.
//!
//! Where an AllReduce is a ReduceScatter and then an AllGather, rank r owns share r in between. On
//! cyclic patterns both halves send in the same direction, so that one-way rings suit both.

mod algorithm;
mod algorithms;
mod birkhoff;
mod bottleneck;
mod coordinates;
mod extent;
mod halves;
mod refusals;
mod root_tree;
mod unequal_all_to_all;
mod unequal_blocks;

pub use algorithm::{Algorithm, Options};
pub use algorithms::{REGISTRY, find};
pub use extent::Extent;
pub use refusals::root as check_root;
pub use unequal_all_to_all::{MAX_MATRIX_RANKS, direct_from_matrix};
pub use unequal_blocks::UnequalBlocks;
