//! One algorithm a file. [`REGISTRY`](crate::REGISTRY) lists them.

pub(crate) mod binary_tree;
pub(crate) mod binomial_tree;
pub(crate) mod bruck;
pub(crate) mod bruck_doubling;
pub(crate) mod bruck_mirrored;
pub(crate) mod bucket;
pub(crate) mod dex;
pub(crate) mod direct;
pub(crate) mod dissemination;
pub(crate) mod halving_doubling;
pub(crate) mod pairwise_xor;
pub(crate) mod recursive_doubling;
pub(crate) mod ring;
pub(crate) mod scatter_allgather;
pub(crate) mod swing;
pub(crate) mod swing_mirrored;
