//! Cut-offs of this crate. A module holds the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists
//! those of all crates.

pub(crate) mod table {
    /// Lines and bytes of a table.
    pub(crate) const MOST_LINES: usize = 100_000;
    pub(crate) const MOST_BYTES: usize = 16 << 20;
    /// Channels that a line may ask for; NCCL has no more.
    pub(crate) const MOST_CHANNELS: u32 = 64;
}
