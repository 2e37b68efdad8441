//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod around_faults {
    /// GPUs up to which plans are mended; among more, those that leave a port of every GPU free are taken.
    pub(crate) const MOST_GPUS: u32 = 128;

    /// Ways to give up circuits that are tried for a plan.
    pub(crate) const MOST_MENDINGS: usize = 6;

    /// Mended topologies on which algorithms are composed anew.
    pub(crate) const MOST_BASES: usize = 6;

    /// Roles that are tried for GPUs at which something is broken.
    pub(crate) const MOST_TRIED: u32 = 100_000;

    /// Time of a repaired plan over that of the fastest repair, up to which one with fewer new circuits is taken.
    pub(crate) const MOST_OVER_FASTEST: f64 = 1.1;
}

pub(crate) mod best_composition {
    /// Routed traffic entries of a composed plan above which another that is as fast and has fewer is taken.
    pub(crate) const MANY_ROUTED: u64 = 1 << 13;

    /// Ranks up to which chunks are spread over the topology of the best composition, too.
    pub(crate) const MOST_FILLED: u32 = 128;
}

pub(crate) mod composition_cost {
    /// Commodities up to which the concurrent flow of a step on a graph of little symmetry is solved, where every rank
    /// has many peers.
    pub(crate) const MOST_COMMODITIES: usize = 256;

    /// Commodities up to which such a flow is solved where every rank has at most `FEW_PEERS` peers.
    pub(crate) const MOST_COMMODITIES_OF_FEW: usize = 1024;

    /// Peers of a rank that leave its paths little choice, so that flows are found soon.
    pub(crate) const FEW_PEERS: u32 = 16;

    /// Commodities times circuits up to which the concurrent flow of unequal blocks is solved.
    pub(crate) const MOST_FLOW: u64 = 1 << 19;
}

pub(crate) mod following_blocks {
    /// Part of the time of what was found that the bound of a collective of blocks may be, for its plan to be followed.
    pub(crate) const WORTH_FOLLOWING: f64 = 0.87;

    /// GPUs up to which a Scatter follows a ReduceScatter, and a Gather an AllGather.
    pub(crate) const MOST_GPUS_OF_SHARES: u32 = 1 << 10;

    /// GPUs up to which a Broadcast follows an AllReduce.
    pub(crate) const MOST_GPUS_OF_SUMS: u32 = 256;
}

pub(crate) mod known_networks {
    /// Additions after which what nothing holds any more is let go.
    pub(crate) const FEWEST_KEPT: usize = 1 << 12;
}

pub(crate) mod known_starts {
    /// GPUs up to which they are looked at.
    pub(crate) const MOST_GPUS: u32 = 16;

    /// Topologies of an optical layer up to which they are looked at, for any number of GPUs.
    pub(crate) const MOST_OF_LAYER: usize = 4;

    /// Shapes whose starts are kept.
    pub(crate) const MOST_KEPT: usize = 16;
}

pub(crate) mod limited_fronts {
    /// GPUs above which all fronts of a candidate share a quarter of the work that fewer do.
    pub(crate) const MANY_RANKS: u32 = 512;
}

pub(crate) mod many_gpus {
    /// GPUs up to which every default candidate, every algorithm and every start is looked at.
    pub const MOST_FOR_ALL: u32 = 4096;

    /// GPUs that may look different from each other to a pattern on a topology beyond that: flows are computed for one
    /// of each kind.
    pub const MOST_KINDS: u32 = 64;
}

pub(crate) mod mixed_rates {
    /// GPUs up to which algorithms are composed for circuits of different rates.
    pub(crate) const MOST_GPUS: u32 = 128;

    /// GPUs up to which an All-to-All is composed for circuits of different rates, and all dealings are tried: the flows of
    /// all pairs on circuits that are not alike take seconds for each.
    pub(crate) const MOST_GPUS_OF_ALL_PAIRS: u32 = 32;

    /// Ways to deal out the circuits of a topology to ports of different rates that are tried for a run of steps.
    pub(crate) const MOST_DEALINGS: usize = 24;

    /// Such ways that are tried where flows take long.
    pub(crate) const FEW_DEALINGS: usize = 1;

    /// Ways to deal out a topology of small diameter on which algorithms are composed.
    pub(crate) const MOST_WAYS: usize = 4;

    /// Rates down to which ports count as alike in turn; of more, the fastest ones and the slowest.
    pub(crate) const MOST_THRESHOLDS: usize = 4;

    /// Parts of the reconfiguration delay for which algorithms are composed, too, where pairs have different rates.
    pub(crate) const QUICKER: [f64; 2] = [0.5, 0.1];

    /// GPUs up to which a plan is made for the fast pairs alone, where pairs have different rates.
    pub(crate) const MOST_GPUS_OF_FAST_PAIRS: u32 = 64;
}

pub(crate) mod planners_exact_permutations {
    /// Most GPUs that are tried: 9! = 362 880 permutations.
    pub(crate) const MOST_GPUS: u32 = 9;
}

pub(crate) mod planners_exact {
    /// Most (step, permutation) pairs, of ten bytes each.
    pub(crate) const MOST_PAIRS: usize = 1 << 27;
}

pub(crate) mod planners_pccl_step_search {
    /// GPUs from which the fronts of a path are computed side by side; below it a front takes microseconds.
    pub(crate) const LEAST_SIDE_BY_SIDE: u32 = 1024;
}

pub(crate) mod planners_synthesize {
    /// Work on one topology: under a second.
    pub(crate) const MOST_WORK: u64 = 1 << 21;
}

pub(crate) mod profile_table {
    /// Work on all fronts of a candidate, about in nanoseconds, above which each is given a part of it.
    pub(crate) const MOST_WORK: u64 = 1 << 31;

    /// Work on a front from which another one is looked for that is its mirror image: that of 64 orbits of links.
    pub(crate) const LEAST_MIRRORED_WORK: u64 = 3 << 18;
}

pub(crate) mod topology_search {
    /// Circulants that are all looked at without being asked for.
    pub(crate) const MOST_CIRCULANTS: u64 = 5_000;

    /// Circulants that are all looked at where there is a budget.
    pub(crate) const MOST_CIRCULANTS_IN_BUDGET: u64 = 50_000;

    /// Steps of a schedule beyond which nothing is searched.
    pub(crate) const MOST_STEPS: usize = 32;

    /// Ranks beyond which nothing is searched without a budget.
    pub(crate) const MOST_RANKS: u32 = 128;

    /// Equal messages of a step without symmetry beyond which nothing is searched without a budget: such steps follow
    /// the links of a graph that they were composed for.
    pub(crate) const MOST_MESSAGES: usize = 128;

    /// Most moves of local search, with any budget.
    pub(crate) const MOST_EVALUATIONS: u64 = 1 << 40;

    /// Messages of a step of an unequal All-to-All up to which circulants are looked at: they serve such a step no
    /// better than circuits that are made for its pairs, and their flows have no symmetry.
    pub(crate) const MOST_UNEQUAL_MESSAGES: usize = 132;
}

pub(crate) mod weave {
    /// Within this factor of the bound for any algorithm nothing else is tried for an unequal All-to-All among many GPUs.
    pub(crate) const ENOUGH: f64 = 1.005;
}
