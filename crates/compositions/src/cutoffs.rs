//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod all_reduce {
    /// Compositions whose times are close are all worth pricing exactly.
    pub(crate) const WORTH_PRICING: usize = 2;
}

pub(crate) mod at_once {
    /// Most ranks whose routes on a graph without symmetry are made; of more, most pairs that the graph's symmetry does
    /// not move to each other.
    pub(crate) const MOST_RANKS: u32 = 1024;
    pub(crate) const MOST_PAIRS: u64 = 1 << 16;

    /// Most orbits of ranks of a symmetry by which a step of all pairs is written, up to so many ranks; of more ranks,
    /// any symmetry that the graph has.
    pub(crate) const MOST_ORBITS: u32 = 16;
    pub(crate) const MOST_CYCLIC: u32 = 512;
}

pub(crate) mod broadcast {
    /// Parts times ranks that are looked at, at most.
    pub(crate) const MOST_SENT: u64 = 1 << 20;

    /// Parts squared times ranks, at most: the rarest part is sought among all for each that is sent.
    pub(crate) const MOST_COMPARED: u64 = 1 << 31;

    /// Rounds of a broadcast, at most.
    pub(crate) const MOST_ROUNDS: u32 = 2048;

    /// Hops of a step up to which every number is looked at; above, by an eighth more each time, and all that are left.
    pub(crate) const ALL_HOPS: u32 = 8;
}

pub(crate) mod broadcast_kept {
    /// Number kept of each kind.
    pub(crate) const MOST_KEPT: usize = 8;
}

pub(crate) mod broadcast_one_topology {
    /// Ranks squared up to which every rank's part of a scatter is gathered from it on its own ways.
    pub(crate) const MOST_PAIRS: u64 = 1 << 18;

    /// Parts times ranks up to which rounds are made twice.
    pub(crate) const MOST_SENT_TWICE: u64 = 1 << 16;
}

pub(crate) mod by_ports {
    /// Chunks that a rank which lacks no port owns, in the ways that are tried.
    pub(crate) const CHUNKS_A_RANK: [u32; 3] = [1, 2, 4];

    /// Parts of the share by which a rank with fewer ports is no slower than the others.
    pub(crate) const SHARES: [f64; 4] = [0.0, 0.8, 0.9, 0.97];

    /// Chunks of the buffer.
    pub(crate) const MOST_CHUNKS: u32 = 640;

    /// Ways, the most promising ones, that become plans.
    pub(crate) const MOST_TAKEN: usize = 3;
}

pub(crate) mod chunk_rounds {
    /// Most parts of a block.
    pub(crate) const MOST_PARTS: u32 = 16;

    /// Most steps of an AllReduce by segments.
    pub(crate) const MOST_STEPS: u64 = 1 << 10;

    /// Numbers of parts that are tried, those of the least bounds.
    pub(crate) const WORTH_A_TRY: usize = 4;

    /// Most work of one spread, in chunks that are placed.
    pub(crate) const MOST_WORK: u64 = 1 << 18;

    /// Chunks that go over a link, of all spreads that are kept.
    pub(crate) const MOST_KEPT: usize = 1 << 21;
}

pub(crate) mod circulants {
    /// Topologies of a span whose flows are computed.
    pub(crate) const WORTH_A_FLOW: usize = 4;

    /// Spans up to which three circuits are tried in every combination.
    pub(crate) const MOST_FOR_TRIPLES: u32 = 48;

    /// Spans up to which every rank sends to every other at once: beyond it there are too many flows, and coordinates
    /// take fewer hops.
    pub(crate) const MOST_AT_ONCE: u32 = 4096;

    /// Ranks that are searched on all topologies of a span; beyond it fewer topologies are looked at, those that are
    /// nearest to what is known to be best.
    pub(crate) const MOST_SEARCHED: u32 = 1 << 24;
}

pub(crate) mod composition {
    /// Bytes in which a composition is executed, at most (`Chunks::executed_bytes`): with the rest that a plan needs, 4
    /// GiB.
    pub(crate) const MOST_EXECUTED: u64 = 3 << 30;
}

pub(crate) mod digit_phases {
    /// More digits than this are built only of radix 2.
    pub(crate) const MOST_DIGITS: usize = 3;

    /// Places up to which every number of steps is tried.
    pub(crate) const MOST_PLACES: u32 = 64;
}

pub(crate) mod flood {
    /// Most blocks of a flood times the ranks from which others are translated, and that times the circuits of a rank.
    pub(crate) const MOST_PAIRS: u64 = 5 << 20;
    pub(crate) const MOST_LINKS: u64 = 1 << 26;

    /// Hops of all steps that are tried in addition to those chosen by price.
    pub(crate) const MOST_HOPS: u32 = 3;
}

pub(crate) mod flood_lengths {
    /// Hops of the longest step that is priced.
    pub(crate) const LONGEST: u32 = 8;
}

pub(crate) mod following {
    /// Chunks times ranks up to which a collective with a root follows the steps of one without.
    pub(crate) const MOST_SENT: u64 = 1 << 20;
}

pub(crate) mod gaps {
    /// Ranks whose gaps are looked at: n³ of time a step.
    pub(crate) const MOST_RANKS: u32 = 128;

    /// Most steps of an AllGather.
    pub(crate) const MOST_STEPS: usize = 10;
}

pub(crate) mod whole_crate {
    /// Most ranks of a composition of collectives with as many blocks as ranks: as many as a fabric has.
    pub const MOST_RANKS: u32 = 65_536;

    /// Most ranks of an All-to-All, which has as many blocks as pairs.
    pub const MOST_ALL_TO_ALL_RANKS: u32 = 8192;
}

pub(crate) mod narrow_graphs {
    /// Ranks up to which collectives of blocks are tried on several Kautz graphs.
    pub(crate) const MOST_FOR_ALL: u32 = 128;
}

pub(crate) mod library {
    /// Ranks up to which generator sets of every size are made.
    pub(crate) const MOST_FOR_EVERY_SET: u32 = 32;

    /// Most rings of a set above that number of ranks; the sizes that are tried grow by a factor of 1.5.
    pub(crate) const MOST_RINGS: u32 = 64;

    /// Libraries that are kept.
    pub(crate) const MOST_KEPT: usize = 32;
}

pub(crate) mod one_pass_base {
    /// Vertices up to which digraphs are searched.
    pub(crate) const MOST_VERTICES: u32 = 64;

    /// Circulant digraphs of a number of vertices that are looked at closely.
    pub(crate) const WORTH_LEVELS: usize = 4;
}

pub(crate) mod one_pass {
    /// Chunks that all ranks together send in a step of several hops, or collect.
    pub(crate) const MOST_SENT: u64 = 1 << 18;

    /// Passes that are priced exactly: the program is nearly right.
    pub(crate) const WORTH_PRICING: usize = 1;
}

pub(crate) mod outward_trees {
    /// Most counts of ranks behind links that are kept, by level and length of a step.
    pub(crate) const MOST_COUNTS: usize = 1 << 22;
}

pub(crate) mod unequal_library {
    /// Circuits that the search from all ranks may pass, over the steps of a way.
    pub(crate) const MOST_SEARCHED: usize = 40_000_000;

    /// Most estimates of one way.
    pub(crate) const MOST_MOVES: usize = 4_000;

    /// Most steps of a way that is improved.
    pub(crate) const MOST_IMPROVED_STEPS: usize = 8;

    /// Ranks up to which sets of shifted rings are looked for, and rings of a set.
    pub(crate) const MOST_SHIFTED: usize = 256;
    pub(crate) const MOST_RINGS: usize = 32;

    /// Ranks up to which the topologies that planners choose from by default are looked at.
    pub(crate) const MOST_FOR_KNOWN: usize = 128;

    /// Libraries that are kept.
    pub(crate) const MOST_KEPT: usize = 8;
}

pub(crate) mod unequal {
    /// Ways that are made compositions.
    pub(crate) const MOST_WAYS: usize = 3;

    /// Ways that are made compositions where only what is sure to be quick is tried: their flows take long.
    pub(crate) const MOST_WAYS_AT_ANY_TIME: usize = 1;

    /// Ranks from which only what is sure to be quick is tried without a budget.
    pub(crate) const LEAST_AT_ANY_TIME: u32 = 48;

    /// With so many ranks and no budget: steps from which ways without waiting bytes are tried.
    pub(crate) const LEAST_STEPS_BESIDE_WAITING: usize = 9;

    /// With so many ranks and no budget: ports up to which phases of equal blocks are tried; with more ports, one step
    /// takes few hops.
    pub(crate) const MOST_PORTS_OF_PHASES: u32 = 2;
}

pub(crate) mod unequal_waiting {
    /// Ranks from which fewer topologies are tried.
    pub(crate) const MANY_RANKS: usize = 200;

    /// Within this factor of what the startup and the busiest rank's bytes take, no other topologies are tried.
    pub(crate) const ENOUGH: f64 = 1.005;

    /// Ranks from which only the best candidate of one step and that of several get all rounds.
    pub(crate) const FEW_CLOSELY: usize = 96;

    /// Within this factor of the best time after the first rounds a candidate gets all.
    pub(crate) const WORTH_FINISHING: f64 = 1.2;

    /// Within this factor of the best time after the first rounds circuits of two steps are exchanged.
    pub(crate) const WORTH_EXCHANGING: f64 = 1.1;

    /// Exchanges that are tried for each circuit of a step.
    pub(crate) const TRIALS_OF_A_CIRCUIT: usize = 160;

    /// Steps up to which circuits of given topologies are exchanged, as in the search without them.
    pub(crate) const MOST_EXCHANGED_STEPS: usize = 2;

    /// The part of all bytes that two matrices have in common at least where one's paths serve the other.
    pub(crate) const LEAST_IN_COMMON: f64 = 0.8;

    /// Exchanges that are tried for each circuit of a step from topologies that are given.
    pub(crate) const TRIALS_FROM_GIVEN: usize = 40;

    /// Exchanges that are tried, times ranks, at most.
    pub(crate) const MOST_TRIED: usize = 5_000_000;

    /// The least by which the weight of a pair of hot ranks is multiplied.
    pub(crate) const LEAST_WEIGHT: f64 = 0.02;

    /// Paths that are cheaper by less than this, relatively, get no bytes of others.
    pub(crate) const WORTH_MOVING: f64 = 1e-4;

    /// Part of the busiest rank's bytes from which a pair is heavy, and shifts of its bytes in a round, at most.
    pub(crate) const LEAST_HEAVY: f64 = 0.05;
    pub(crate) const MOST_SHIFTS: usize = 8;

    /// A path keeps no less than this part of the bytes of its pair.
    pub(crate) const LEAST_PART: f64 = 1e-3;
}
