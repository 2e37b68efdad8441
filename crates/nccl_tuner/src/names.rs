//! NCCL's numbers by the names that tables have (NVIDIA/nccl, `ncclFunc_t`, `NCCL_ALGO_*` and `NCCL_PROTO_*`).

/// The collectives, by NCCL's number.
pub const COLLECTIVES: [&str; 5] = ["broadcast", "reduce", "all-gather", "reduce-scatter", "all-reduce"];
/// The algorithms, by NCCL's number.
pub const ALGORITHMS: [&str; 7] = ["tree", "ring", "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat"];
/// The protocols, by NCCL's number.
pub const PROTOCOLS: [&str; 3] = ["ll", "ll128", "simple"];

/// The number of a name.
pub fn number(names: &[&str], name: &str) -> Option<usize> {
    names.iter().position(|&one| one == name)
}
