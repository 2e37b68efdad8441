//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod circulants {
    /// Bounds kept by (circulant, pattern), of 12 bytes each.
    pub(crate) const MOST_BOUNDS: u64 = 1 << 24;
}

pub(crate) mod generator_sets {
    /// Largest group of units under which sets are searched.
    pub(crate) const LARGEST_GROUP: usize = 32;

    /// Fewest swaps tried for a set, however many orbits it has.
    pub(crate) const FEWEST_SWAPS: usize = 2;

    /// Most swaps tried for a set; where orbits are few, the number whose comparison looks at this many hops.
    pub(crate) const MOST_SWAPS: usize = 60;
    pub(crate) const MOST_COMPARED: usize = 1 << 19;
}

pub(crate) mod local_search {
    /// Most orbits of ranks that a group leaves.
    pub(crate) const MOST_ORBITS: u32 = 16;
}
