//! Cut-offs of this crate: the limits of its searches, and the sizes up to which something is tried. A module holds
//! the cut-offs of the file of the same name; `docs/reference/cutoffs.md` lists those of all crates.

pub(crate) mod context {
    /// Most topologies that plans of a family begin or end with: where it has all ports for itself, and where it shares
    /// them.
    pub(crate) const MOST_TOPOLOGIES: [usize; 2] = [14, 4];
}

pub(crate) mod jobs {
    /// Communications of an iteration that is small.
    pub(crate) const FEW: usize = 10;
}

pub(crate) mod kept {
    /// Most combinations of topologies, one of each family, that are tried where the optical layer limits circuits.
    pub(crate) const MOST_TOGETHER: usize = 200;
}

pub(crate) mod known_plans {
    /// Variants of plans that are kept for other iterations.
    pub(crate) const MOST_VARIANTS: usize = 1024;
}

pub(crate) mod library_stock {
    /// Most topologies of a large group that plans are looked for from.
    pub(crate) const MOST_OF_LARGE: usize = 3;

    /// Ranks of a group up to which plans of an All-to-All of a matrix are looked for as closely as those of others.
    pub(crate) const MOST_RANKS_OF_MATRIX: u32 = 8;
}

pub(crate) mod orders_branching {
    /// Most nodes of an iteration whose orders are looked through.
    pub(crate) const MOST_NODES: usize = 40;
}

pub(crate) mod orders_exchanges {
    /// Work, in steps of timelines, that the exchanges may cost.
    pub(crate) const MOST_WORK: usize = 20_000_000;
}

pub(crate) mod orders {
    /// Nodes of an iteration that has all rules tried for each choice of plans and ports.
    pub(crate) const FEW: usize = 64;
}

pub(crate) mod overlap {
    /// Work, in steps of timelines, that the search may cost.
    pub(crate) const MOST_WORK: usize = 1_500_000_000;

    /// Most choices of ports that are tried.
    pub(crate) const MOST_TRIED: usize = 4000;

    /// Allotments of a small iteration from which ports are improved.
    pub(crate) const MOST_DESCENTS: usize = 6;

    /// Most lanes that are told apart where the ports are cut in two.
    pub(crate) const MOST_SIDES: usize = 5;
}

pub(crate) mod series {
    /// Work, in steps, that the search for the best first state may cost.
    pub(crate) const MOST_WORK: usize = 400_000_000;
}

pub(crate) mod splits {
    /// Most splits that are tried.
    pub(crate) const MOST: usize = 128;

    /// Families up to which ports of different rates are given to them in all orders.
    pub(crate) const MOST_IN_ALL_ORDERS: usize = 3;
}

pub(crate) mod timeline {
    /// Most iterations that are followed until two are alike.
    pub(crate) const MOST_ROUNDS: usize = 12;

    /// Most iterations after these, all in the order of the last: events that alternate are then at rest.
    pub(crate) const MOST_ORDERED_ROUNDS: usize = 8;
}
