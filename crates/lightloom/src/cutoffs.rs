//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod budget {
    /// Offsets of rings where there are too many GPUs for each.
    pub(crate) const MOST_OFFSETS: u64 = 512;
}

pub(crate) mod forwarding {
    /// GPUs of fabrics whose other GPUs forward: no symmetry of the ranks is one of the whole fabric, so that every flow
    /// is solved for each of them.
    pub(crate) const MOST_GPUS: u32 = 64;
}

pub(crate) mod many_gpus {
    /// Steps of an algorithm that is looked at without being named beyond that. `weave` composes rings itself, so that
    /// those of more steps are not missed.
    pub(crate) const MOST_STEPS: u64 = 4096;
}

pub(crate) mod placement {
    /// Fibres that are measured in the search for an order of GPUs: about a second.
    pub(crate) const MOST_LENGTHS: usize = 1 << 28;
}

pub(crate) mod tiers {
    /// Numbers of parts that are tried for stages that follow each other on both tiers.
    pub(crate) const PIECES: [u32; 15] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192];
    /// Chunks that the transfers of such a plan may name together.
    pub(crate) const MOST_CHUNKS: usize = 1 << 20;
}

pub(crate) mod known_requests {
    /// Requests that are kept ready, each for one start.
    pub(crate) const MOST_KEPT: usize = 512;

    /// Sizes, rates and delays at which the plans of a request are kept.
    pub(crate) const MOST_POINTS: usize = 256;

    /// Ports of all GPUs up to which a request is kept ready: tables of more take too much memory.
    pub(crate) const MOST_PORTS: u64 = 256;
}

pub(crate) mod never_change {
    /// Points whose winners are kept.
    pub(crate) const MOST_KEPT: usize = 1024;
}

pub(crate) mod series {
    /// Topologies that are named of a plan at a point.
    pub(crate) const MOST_NAMED: usize = 4;
}

pub(crate) mod uncertain {
    /// Probabilities with which the slowest parts of an uncertain fabric keep the numbers that candidates are made for.
    pub(crate) const KEPT_WITH: &[f64] = &[0.5, 0.9, 0.99];
}

pub(crate) mod warm_start {
    /// Topologies of a plan that another one begins with: more steps than a search would take.
    pub(crate) const MOST_TOPOLOGIES: usize = 32;

    /// Paths that carry less than this part of a piece are not kept from one plan to the next.
    pub(crate) const LEAST_PART: f64 = 1e-3;
}
