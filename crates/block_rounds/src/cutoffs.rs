//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod bases {
    /// Flows of a generalised Kautz base, which have no symmetry: those of 512 ranks. Plans of more would not fit into
    /// memory.
    pub(crate) const MOST_FLOWS: u64 = 1 << 18;

    /// Flows times ranks over the square of the ports up to which Kautz takes part for as long as it pays, and flows
    /// times the topologies over which they are packed beyond that: about three seconds.
    pub(crate) const MOST_PACKING: u64 = 1 << 23;
    pub(crate) const MOST_PACKED: u64 = 1 << 21;

    /// Ranks above which Cayley digraphs are a base as well: up to these, as many as the paper's figures of several ports
    /// have, the bases are the paper's.
    pub(crate) const MOST_OF_PAPER: u32 = 64;

    /// Most orbits of ranks of such a digraph, and most of them times ranks, about the flows that are packed; flows
    /// times the topologies over which they are packed, up to about five seconds.
    pub(crate) const MOST_ORBITS: u32 = 32;
    pub(crate) const MOST_CAYLEY_FLOWS: u32 = 1 << 17;
    pub(crate) const MOST_CAYLEY_PACKED: u64 = 1 << 22;
}

pub(crate) mod circulant {
    /// Ranks times circulants whose rounds are packed to find the best, where these are fewer than 64.
    pub(crate) const MOST_PACKED_RANKS: u32 = 1 << 17;

    /// Ranks up to which pairs of generators that are the same up to a unit of Z_n are all looked at.
    pub(crate) const MOST_WITH_ALL_NAMES: u32 = 1024;
}
