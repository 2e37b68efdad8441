//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod balanced_paths {
    /// Groups of a source's arcs that are routed one after another, and arcs of a group at least.
    pub(crate) const MOST_GROUPS: usize = 8;
    pub(crate) const FEWEST_OF_A_GROUP: usize = 16;

    /// Arcs up to which paths are compared with an even split over all shortest ones.
    pub(crate) const MOST_SPLIT_ARCS: usize = 1 << 14;

    /// Nodes of all paths that are held at most.
    pub(crate) const MOST_NODES: usize = 1 << 26;
}

pub(crate) mod digit_distances {
    /// Places of a ring up to which its distances are listed, which is looked up in a tenth of the time that it takes
    /// to divide.
    pub(crate) const MOST_LISTED: u32 = 1 << 8;
}

pub(crate) mod effort {
    /// Orbits of links from which a front costs several times a `crate::LoadBound`.
    pub(crate) const LEAST_COSTLY_ORBITS: usize = 64;

    /// Orbits of links above which the simplex is not tried: its inverse would take more than 8 MiB.
    pub(crate) const MOST_ROWS: usize = 1024;

    /// Orbits of links and arcs for each of them from which the primal-dual method is faster from the start.
    pub(crate) const MANY_ORBITS: usize = 128;
    pub(crate) const MANY_ARCS: usize = 4;

    /// Arcs, and orbits of links, up to which the program of concurrent flow is solved, in a second or two: a planner
    /// asks for hundreds of them.
    pub(crate) const MOST_ARCS: usize = 1 << 18;
    pub(crate) const MOST_LINK_ORBITS: usize = 3 << 10;

    /// GPUs above which arcs times orbits of links count too, where a front is costly, and the most of them.
    pub(crate) const MOST_RANKS_WHATEVER_LARGE: usize = 512;
    pub(crate) const MOST_OF_MANY: usize = 1 << 16;

    /// GPUs above which `MOST_OF_MANY` is divided by the square of how many times as many there are, since paths are
    /// searched among all.
    pub(crate) const MOST_RANKS_OF_MANY: usize = 1 << 10;
}

pub(crate) mod equal_split {
    /// Distinct paths of an arc that `routes` lists; above it, as few paths as give the same link loads.
    pub(crate) const MOST_PATHS: usize = 1024;
}

pub(crate) mod kept_distances {
    /// Sources times GPUs up to which each source's distances are searched for at once: 64 MiB.
    pub(crate) const MOST_AT_ONCE: usize = 1 << 24;
}

pub(crate) mod known_fronts {
    /// Links and arcs of a pair whose front is kept, and of all such pairs together.
    pub(crate) const MOST_OF_ONE: usize = 1 << 14;
    pub(crate) const MOST_IN_ALL: usize = 1 << 20;
}

pub(crate) mod path_pool {
    /// Paths that the rounds of `PathPool::spread` find at most.
    pub(crate) const MOST_START_PATHS: usize = 1 << 21;

    /// Parts of the largest transfer by which a hop more has to lower the load: less pays only where that transfer
    /// takes as long as a hundred million hops.
    pub(crate) const LEAST_GAIN_A_HOP: f64 = 1e-8;
}
