//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod clock {
    /// Longest delay, and longest time of one transfer on one circuit, fs: 2 305 s. A simulated time and a few of these
    /// can be added.
    pub(crate) const LONGEST_FS: u64 = 1 << 61;
}

pub(crate) mod fifo_cycles {
    /// Most stops for which the return of a state is waited for.
    pub(crate) const MOST: u64 = 1 << 8;

    /// Where senders have fewer packets, nothing is gained.
    pub(crate) const FEWEST: u64 = 32;
}

pub(crate) mod unlike_servers {
    /// Packets of a step among servers of different rates: each is kept with its path.
    pub(crate) const MOST_PACKETS: u64 = 1 << 24;

    /// Packets after which parallel circuits of different rates are taken in the same order again, at most.
    pub(crate) const MOST_IN_TURN: usize = 1 << 10;

    /// Rounding error of a circuit's share of the packets, relative to the share.
    pub(crate) const ROUNDING: f64 = 1e-9;
}

pub(crate) mod wiring {
    /// Flows of a path over parallel circuits, at flow level.
    pub(crate) const MOST_PARALLEL: u64 = 1 << 12;
}

pub(crate) mod sampling {
    /// Samples of one call.
    pub(crate) const MOST_SAMPLES: u64 = 10_000_000;

    /// Samples that one thread draws in a row, from a stream of random numbers of their own.
    pub(crate) const IN_A_ROW: u64 = 128;

    /// Largest spread as a share of the nominal value, and largest deviation of a logarithm.
    pub(crate) const LARGEST_SPREAD: f64 = 10.0;

    /// Largest factor by which a GPU is slow.
    pub(crate) const LARGEST_SLOWDOWN: f64 = 1000.0;

    /// Least rate of a circuit that is drawn, as a share of its nominal rate.
    pub(crate) const LEAST_RATE: f64 = 0.01;

    /// Values of a file of measured samples.
    pub(crate) const MOST_MEASURED: usize = 1_000_000;
}
