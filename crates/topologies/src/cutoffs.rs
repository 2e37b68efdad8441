//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod candidates_expanders {
    /// Ranks above which none is looked at: these graphs look different from every rank, so that a step costs n
    /// searches.
    pub(crate) const MOST_RANKS: u32 = 4096;
}

pub(crate) mod candidates_shifted_tori {
    /// Ranks up to which `MAX_TORI` tori of a grid are looked at.
    pub(crate) const MOST_RANKS_FOR_ALL: u32 = 4096;
}

pub(crate) mod diameter {
    /// Most links that a search for the diameter follows, from one GPU of every class; with more links, no diameter is
    /// stated.
    pub(crate) const MOST_SEARCHED: u64 = 1 << 24;
}

pub(crate) mod explanation {
    /// GPUs whose circuits are listed, and rings that are counted by length.
    pub(crate) const MOST_LISTED: usize = 8;
}

pub(crate) mod metacyclic {
    /// Most ranks for which all groups are searched, and links of a group that are looked at for it, about: where all
    /// generators are more, some are drawn.
    pub const MOST_SEARCHED: u32 = 256;
    pub(crate) const MOST_OF_GROUP: u32 = 1 << 24;

    /// Links that are looked at in the search among more ranks, about, and most generators: Kautz graphs of more are a
    /// few hops wide.
    pub(crate) const MOST_LINKS: u64 = 1 << 26;
    pub(crate) const MOST_DRAWN: u32 = 16;

    /// Generators that are drawn at least, of which the best is added.
    pub(crate) const LEAST_DRAWN: u32 = 4;

    /// Most elements of Z_k in groups of more ranks, and most of them times ranks: what is the same for every x is
    /// written once.
    pub const MOST_WHEELS: u32 = 64;
    pub(crate) const MOST_WRITTEN: u32 = 1 << 22;

    /// Pairs of generators to which others are added.
    pub(crate) const WORTH_MORE: usize = 4;
}

pub(crate) mod ring_offsets {
    /// Ranks up to which rings of every offset are candidates.
    pub(crate) const MOST_RANKS_FOR_EVERY_OFFSET: u32 = 1024;

    /// Most offsets beyond that.
    pub(crate) const MOST_OFFSETS: usize = 512;

    /// Ranks up to which they are where some step is not the same from any two ranks, so that its flows are as large as
    /// the topology; and most offsets beyond.
    pub(crate) const MOST_UNLIKE_RANKS: u32 = 512;
    pub(crate) const MOST_OFFSETS_OF_UNLIKE: usize = 32;
}
