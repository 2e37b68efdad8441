//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod board {
    /// Packets that a ring has room for at least, and bytes that one has at most.
    pub(crate) const LEAST_PACKETS: u64 = 8;
    pub(crate) const MOST_RING: u64 = 64 << 20;
}

pub(crate) mod kernel_ports {
    /// Packets that a port has room for at least, and bytes that one has at most.
    pub(crate) const LEAST_PACKETS: u64 = 4;
    pub(crate) const MOST_BUFFER: u64 = 256 << 20;
}

pub(crate) mod namespaces {
    /// The most that a packet has: what is left of 64 KiB for its data is a power of two.
    pub const MOST_PACKET_BYTES: u32 = 1 << 15;
}

pub(crate) mod program {
    /// Chunks that all steps of a plan move together; MSCCL's reader takes as many.
    pub const MOST_MOVED: usize = 1 << 22;
}

pub(crate) mod request {
    /// Ranks of one machine that a run takes.
    pub const MOST_RANKS: u32 = 256;
}

pub(crate) mod serve {
    /// Bytes of the longest message.
    pub(crate) const MOST_BYTES: usize = 1 << 30;
}
