//! Cut-offs of this crate. A module holds the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists
//! those of all crates.

pub(crate) mod board {
    /// Ranks that a gate takes.
    pub(crate) const MOST_RANKS: u32 = 1 << 16;
}

pub(crate) mod rank {
    /// Looks at the board before a rank sleeps: about a microsecond, less than going to sleep and waking takes.
    pub(crate) const LOOKS: u32 = 100;
    /// Between two looks whether the controller's process is still there, in nanoseconds.
    pub(crate) const CONTROLLER_NS: u64 = 50_000_000;
    /// Between two looks for a gate that is not there yet, in nanoseconds.
    pub(crate) const OPENING_NS: u64 = 2_000_000;
}
