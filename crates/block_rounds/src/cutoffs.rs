//! Cut-offs of this crate: how far its searches go, and up to which size something is tried or taken. One module for
//! each that uses them; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod bases {
    /// Flows of a generalised Kautz base, which have no symmetry: those of 512 ranks. Plans of more would not fit into
    /// memory.
    pub(crate) const MOST_FLOWS: u64 = 1 << 18;

    /// Flows times ranks over the square of the ports up to which Kautz takes part for as long as it pays, and flows
    /// times the topologies over which they are packed beyond that: about three seconds.
    pub(crate) const MOST_PACKING: u64 = 1 << 23;
    pub(crate) const MOST_PACKED: u64 = 1 << 21;
}
