pub mod algorithm_1;
pub mod bridge_vectors;
