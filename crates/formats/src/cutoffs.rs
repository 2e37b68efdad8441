//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod plan_json_write {
    /// Most links that are written for a topology; of a larger topology, one link of every orbit is written.
    pub(crate) const MOST_LINKS: u64 = 1 << 14;
}

pub(crate) mod workload_json {
    /// Ranks of all groups with matrices of their own, each counted once for every All-to-All.
    pub(crate) const MOST_RANKS_OF_EACH: usize = 1 << 22;
    /// Nodes that those after All-to-Alls with a matrix for each group wait for, all together.
    pub(crate) const MOST_WAITS_OF_EACH: usize = 1 << 20;
}
