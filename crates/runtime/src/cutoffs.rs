//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod board {
    /// Packets that a ring has room for at least, and bytes that one has at most.
    pub(crate) const LEAST_PACKETS: u64 = 8;
    pub(crate) const MOST_RING: u64 = 64 << 20;
}

pub(crate) mod job {
    /// Bytes of the words that say what a rank calls.
    pub(crate) const MOST_WORDS: usize = 384;
    /// Nanoseconds between two looks whether a rank that is waited for is still there.
    pub(crate) const LOOK_NS: u64 = 100_000_000;
    /// Looks before a rank sleeps, where every rank may have a core of its own.
    pub(crate) const SPINS: u32 = 2000;
    /// Bytes of the least region of a rank, with its workspace.
    pub(crate) const LEAST_REGION: u64 = 1 << 18;
    /// Bytes that are copied or reduced at once: they stay in the nearest cache.
    pub(crate) const BLOCK: usize = 16 << 10;
    /// Bytes of the ring from one rank to another, and of a packet in it.
    pub(crate) const MESSAGE_RING: usize = 1 << 20;
    pub(crate) const MESSAGE_PACKET: usize = 128 << 10;
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

pub(crate) mod paces {
    /// Turns in which the packets of a message take parallel circuits of different rates, at most.
    pub(crate) const MOST_TURNS: usize = 16;
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
