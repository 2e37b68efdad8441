//! What the paper compares with (§5.1), for equal blocks: the costs that its figures 11 and 12 set side by side.
//!
//! | baseline | topologies | flows |
//! |---|---|---|
//! | MixNet | one, greedily from the matrix | rounds, as ours |
//! | FAST | as many as matchings need | direct |
//! | DirectConnect | generalised Kautz or circulant | maximum concurrent flow |
//! | TopoOpt | one union of shifted rings | rounds on one shortest path each |
//!
//! Where a baseline brings no schedule the paper applies its own, and so do these. For unequal blocks FAST is the
//! planner `bvn` on the matchings that `collectives::direct_from_matrix` makes.

mod direct_connect;
mod fast;
mod mixnet;
mod topo_opt;

pub use direct_connect::{DirectConnect, direct_connect};
pub use fast::fast;
pub use mixnet::mixnet;
pub use topo_opt::topo_opt;
