//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod bound_own_schedules {
    /// Sources times links up to which schedules are made.
    pub(crate) const MOST_WORK: usize = 1 << 18;

    /// Topologies of the plan that are looked at.
    pub(crate) const MOST_TOPOLOGIES: usize = 2;
}

pub(crate) mod routing {
    /// Shortest paths of one arc that a plan lists at most.
    pub(crate) const MOST_LISTED: f64 = 1024.0;
}

pub(crate) mod training_critical_path {
    /// Events followed in all before no more of those that end last are tried.
    pub(crate) const MOST_FOLLOWED: usize = 1 << 26;
}
