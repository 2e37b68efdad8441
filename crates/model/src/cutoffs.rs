//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod fibre_lengths {
    /// The furthest position of an interposer, m.
    pub(crate) const MOST_M: f64 = 1e5;

    /// The longest delay of a metre, ns.
    pub(crate) const MOST_NS_PER_M: f64 = 1000.0;
}

pub(crate) mod launch_power {
    /// Powers are from its negative to this, dBm: a tenth of a picowatt to ten megawatts.
    pub(crate) const MOST_DBM: f64 = 100.0;

    /// The largest margin, dB.
    pub(crate) const MOST_MARGIN_DB: f64 = 100.0;

    /// The largest budget of a tile or an interposer, mW.
    pub(crate) const MOST_MW: f64 = 1e9;

    /// The least efficiency of a laser.
    pub(crate) const LEAST_EFFICIENCY: f64 = 1e-6;
}

pub(crate) mod mzi_mesh {
    /// Rows and columns of MZIs, and waveguides, wavelengths, fibres, transmitters and receivers, each at most this.
    pub(crate) const MOST: u32 = 4096;

    /// The largest loss in dB, or length in centimetres.
    pub(crate) const MOST_LOSS: f64 = 1e6;
}

pub(crate) mod pair_rates {
    /// GPUs of a fabric whose pairs have rates of their own: each pair is written down.
    pub(crate) const MOST_GPUS: u32 = 1024;

    /// Pairs that all classes name together, a pair of several classes once for each: a fraction of a second.
    pub(crate) const MOST_NAMED: u64 = 1 << 27;
}

pub(crate) mod positions {
    /// GPUs of a grid of servers, as many as a fabric has.
    pub(crate) const MOST_GPUS: u32 = 1 << 16;

    /// The greatest coordinate of a GPU or a switch, m.
    pub(crate) const MOST_M: f64 = 1e5;

    /// The longest delay of a metre of fibre, ns.
    pub(crate) const MOST_NS_PER_M: f64 = 1000.0;
}

pub(crate) mod units_display {
    /// Digits that a size has which people write in decimal units.
    pub(crate) const MOST_DIGITS: usize = 4;
}

pub(crate) mod workload_waits {
    /// Most nodes of a circle that a message names.
    pub(crate) const MOST_NAMED: usize = 8;
}
