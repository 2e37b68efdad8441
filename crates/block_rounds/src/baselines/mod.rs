//! Two of the fixed topologies that the paper compares with (§5.1), as strategies.
//!
//! | baseline | topology | flows |
//! |---|---|---|
//! | MixNet | one, greedily from the matrix | rounds, as ours |
//! | TopoOpt | one union of shifted rings | rounds on one shortest path each |
//!
//! Where a baseline brings no schedule the paper applies its own, and so do these. The other two are no strategies of
//! rounds: FAST's matchings and DirectConnect's concurrent flow are only planners.

mod mixnet;
mod topo_opt;

pub use mixnet::mixnet;
pub use topo_opt::topo_opt;
