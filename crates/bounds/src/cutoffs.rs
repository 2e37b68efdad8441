//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod any_algorithm_all_reduce {
    /// Hops of all steps beyond which pairs are not counted.
    pub(crate) const MOST_HOPS: u32 = 40;
}

pub(crate) mod any_algorithm_all_reduce_parts {
    /// Hops over those to the farthest rank, with which the bound of a Broadcast counts at most `RECEIVED`.
    pub(crate) const HOPS_TO_FARTHEST: f64 = 4.0;

    /// Buffers through a rank's ports that the bound counts at most then: no random fabric is an exception
    /// (`python -m tests.planning.relations --relation bound_of_all_reduce`).
    pub(crate) const RECEIVED: f64 = 1.25;
}

pub(crate) mod any_algorithm_pair_rates {
    /// Ranks up to which the lightest paths between all of them are looked for.
    pub(crate) const MOST_RANKS_OF_PATHS: usize = 256;
}

pub(crate) mod any_algorithm_start {
    /// Roots of a Broadcast that look different, and hops to the rank farthest from one, up to which the hops of each
    /// step are looked at.
    pub(crate) const MOST_ROOTS: usize = 8;
    pub(crate) const MOST_FARTHEST: u32 = 72;
}

pub(crate) mod any_algorithm_start_unequal {
    /// Ranks up to which prices of circuits are looked for; beyond, every circuit costs the same.
    pub(crate) const MOST_PRICED: u32 = 128;

    /// Ranks up to which they are looked for where blocks are equal, and ranks are not all alike: equal prices say
    /// least there.
    pub(crate) const MOST_UNEVEN: u32 = 32;
}

pub(crate) mod any_algorithm_tiers {
    /// Hops over circuits of a path of which words are counted; paths of more count as one that reaches all GPUs.
    pub(crate) const MOST_HOPS: u32 = 40;

    /// Topologies with each of which a bound is found; with more, changes are all that counts.
    pub(crate) const MOST_TOPOLOGIES: u32 = 8;

    /// Steps of an AllReduce of which all delays of paths are tried.
    pub(crate) const MOST_STEPS: u32 = 5;

    /// Delays of paths that are told apart for that.
    pub(crate) const MOST_DELAYS: usize = 12;

    /// Divisions of the price between both tiers.
    pub(crate) const MOST_PRICES: u32 = 40;
}

pub(crate) mod covering {
    /// Steps of the simplex method, after which what it has is taken.
    pub(crate) const MOST_PIVOTS: usize = 400;
}

pub(crate) mod given_schedule_fractional {
    /// More ranks than this are not tried.
    pub(crate) const MOST_RANKS: u32 = 64;

    /// More intervals than this are not solved.
    pub(crate) const MOST_INTERVALS: usize = 24;

    /// More flow variables than this are not solved.
    pub(crate) const MOST_FLOWS: usize = 30_000;
}

pub(crate) mod known {
    /// Most bounds of uniform collectives that are kept; the layouts of a large model have some hundred.
    pub(crate) const MOST: usize = 512;

    /// Bounds of unequal ones, whose keys have every piece. Threads ask for several at a time.
    pub(crate) const MOST_OF_PIECES: usize = 16;
}

pub(crate) mod known_topology {
    /// Distances from ranks that look different up to which all are looked at, four bytes each.
    pub(crate) const MOST_DISTANCES: u64 = 1 << 24;

    /// Pairs of ranks, up to symmetry, up to which distances both ways are looked at.
    pub(crate) const MOST_PAIRS: u64 = 1 << 20;
}

pub(crate) mod mixed_rates {
    /// Parts of the rate of the slowest port that are tried as the unit of all rates.
    pub(crate) const MOST_UNITS_OF_SLOWEST: u32 = 12;

    /// Parts that are tried for small units, of which all together are hardly faster than the ports.
    pub(crate) const MOST_SMALL_UNITS: u32 = 150;
}

pub(crate) mod pairs {
    /// Prices λ that are tried.
    pub(crate) const MOST_PRICES: usize = 24;

    /// Largest sum of hops up to which every sum is tried.
    pub(crate) const MOST_SUMS: u64 = 512;
}

pub(crate) mod repetition {
    /// Doublings of the delay after which a bound is taken to change topologies at any price.
    pub(crate) const MOST_DOUBLINGS: u32 = 64;
}

pub(crate) mod step_loads {
    /// Hops of walks that are counted, and places on them that are looked at for each number of ranks.
    pub(crate) const MOST_WALKED: u32 = 128;
    pub(crate) const MOST_PLACES: u32 = 16;
}

pub(crate) mod step_divisions {
    /// Hops of all steps beyond those to the farthest rank up to which the hops of each step are looked at.
    pub(crate) const MOST_MORE_HOPS: u32 = 20;

    /// Hops of all steps over those to the farthest rank up to which anything is looked at.
    pub(crate) const MOST_TIMES_FARTHEST: u32 = 16;

    /// Hops after those to the farthest rank that are looked at one by one, where they are not divided; the others in
    /// groups.
    pub(crate) const SINGLE: u32 = 128;

    /// Ways to divide hops among a number of steps up to which each is looked at.
    pub(crate) const MOST_DIVISIONS: u64 = 512;
}

pub(crate) mod spreading_on {
    /// Steps up to which the topology itself is looked at.
    pub(crate) const MOST_STEPS: u32 = 12;

    /// Ranks of a cycle both ways whose gaps are looked at.
    pub(crate) const MOST_ON_A_CYCLE: u32 = 128;
}
