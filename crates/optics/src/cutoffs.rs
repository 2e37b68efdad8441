//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod circuit {
    /// Circuits at most, so that what uses a place is counted in 16 bits.
    pub(crate) const MOST_CIRCUITS: usize = 65_535;
}

pub(crate) mod fibres_cuts {
    /// Rectangles times circuits that are looked at one by one; if there are more, only the parts on one side of a
    /// line.
    pub(crate) const MOST_WORK: u64 = 50_000_000;
}

pub(crate) mod fibres_router {
    /// Circuits times passes at most: a second or so on a grid of 64 servers.
    pub(crate) const MOST_SEARCHES: usize = 150_000;

    /// Where circuits are put anywhere: on shortest paths by lengths of edges that are drawn from 1 to this.
    pub(crate) const LONGEST: u64 = 16;
}

pub(crate) mod grid {
    /// Rows and columns of a grid, each at most this.
    pub(crate) const MOST: u32 = 4096;
}

pub(crate) mod iteration {
    /// Connections of all configurations together: some 200 MB of text.
    pub(crate) const MOST_CONNECTIONS: usize = 1 << 23;

    /// Ports that are tried for circuits between islands until each keeps one as long as it is needed.
    pub(crate) const MOST_TRIED: usize = 1 << 20;
}

pub(crate) mod kinds_awgr {
    /// Ports of a router at most.
    pub(crate) const MOST_PORTS: u32 = 65_536;
}

pub(crate) mod kinds_cubes {
    /// GPUs along a side of a cube at most.
    pub(crate) const MOST_SIDE: u32 = 1024;
}

pub(crate) mod kinds_parallel {
    /// The weight of a connection on a switch of no delay, compared with one on the slowest.
    pub(crate) const LEAST_WEIGHT: f64 = 0.01;
}

pub(crate) mod kinds_wss {
    /// Outputs of a switch at most.
    pub(crate) const MOST_OUTPUTS: u32 = 65_536;

    /// Wavelengths of a fibre at most.
    pub(crate) const MOST_WAVELENGTHS: u32 = 4096;
}

pub(crate) mod mesh_cuts {
    /// Rectangles times circuits that are looked at one by one.
    pub(crate) const MOST_RECTANGLE_WORK: u64 = 20_000_000;

    /// Circuits around whose ends cuts are grown.
    pub(crate) const MOST_GROWN: usize = 64;
}

pub(crate) mod mesh_exhaustive {
    /// Steps of paths that are tried before it gives up.
    pub(crate) const MOST_STEPS: u32 = 400_000;

    /// Circuits and cells beyond which it does not begin.
    pub(crate) const MOST_CIRCUITS: usize = 24;
    pub(crate) const MOST_CELLS: u32 = 64;
}

pub(crate) mod mesh_layout {
    /// MZIs times wavelengths, at most.
    pub(crate) const MOST_PLACES: u64 = 1 << 22;

    /// Waveguides, wavelengths or fibres, each at most this.
    pub(crate) const MOST_LANES: u32 = 4096;

    /// The largest loss in dB, or length in centimetres, that is taken.
    pub(crate) const MOST_LOSS: f64 = 1e6;
}

pub(crate) mod mesh_least_power {
    /// Passes in which circuits take better paths, one by one.
    pub(crate) const MOST_PASSES: u32 = 50;

    /// Pairs of circuits that are given other paths together.
    pub(crate) const MOST_PAIRS: u32 = 2000;

    /// Steps of paths that are tried before the search over all combinations gives up.
    pub(crate) const MOST_STEPS: u32 = 400_000;

    /// Circuits and cells beyond which it does not begin.
    pub(crate) const MOST_CIRCUITS: usize = 24;
    pub(crate) const MOST_CELLS: u32 = 64;
}

pub(crate) mod mesh_lengths {
    /// Times that lengths are changed; and cells that all searches together may look at, about a second's worth.
    pub(crate) const MOST_ROUNDS: usize = 2000;
    pub(crate) const MOST_CELLS: usize = 10_000_000;

    /// Fewer rounds prove too little to begin.
    pub(crate) const FEWEST_ROUNDS: usize = 20;

    /// The longest place.
    pub(crate) const LONGEST: f64 = (1 << 20) as f64;
}

pub(crate) mod mesh_negotiation {
    /// Passes at most.
    pub(crate) const MOST_PASSES: u32 = 400;

    /// No place costs more, so that sums of costs are exact.
    pub(crate) const MOST_COST: u64 = 1 << 20;
}

pub(crate) mod mesh_router {
    /// States that the searches of a negotiation look at, some seconds' worth; and where it is known that some circuits
    /// stay without a route.
    pub(crate) const MOST_STATES: u64 = 40_000_000;
}

pub(crate) mod parallel_exhaustive {
    /// Most changes that are judged, and most circuits that are tried on a switch for one assignment that is found.
    pub(crate) const MOST_CHANGES: usize = 40_000;
}

pub(crate) mod parallel {
    /// Visits of a circuit that the search for something better may take, in addition to one descent.
    pub(crate) const MOST_VISITS: usize = 1_000_000;

    /// Most disturbances of an assignment that nothing improves.
    pub(crate) const MOST_KICKS: usize = 300;
}
