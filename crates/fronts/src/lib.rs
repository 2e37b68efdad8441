//! Hops–load fronts of a (topology, traffic pattern) pair, and the routes behind them.
//!
//! A step costs α + δ·hops + β·m_i·load (HARVEST eq. 4). Neither hops nor load depends on α, β, δ, α_r or
//! m_i, so a pair's [`Front`] is computed once and serves every size and delay. Under concurrent flow the
//! two trade off: longer paths spread traffic over more links. Under the other routings the front has one
//! point.
//!
//! Everything is computed on the quotient by the translations that topology and traffic share: averaging
//! a routing over a group that keeps both loses nothing, so one source per orbit of ranks and one capacity
//! row per orbit of links suffice.
//!
//! Conventions, for all routings: `count` parallel circuits act as one link of `count` times the
//! bandwidth; a load of 1 is the time of a transfer of weight 1 on one circuit, so loads fall below 1
//! where parallel circuits or several paths carry a transfer.
//!
//! ```text
//! Topology ─▶ RoutingNetwork ─┬─▶ estimate        hops and a lower bound, in O(arcs)
//!   Traffic ─▶ Quotient ├─▶ single path, equal split
//!                       ├─▶ price bound     a sharper lower bound, in rounds of shortest paths
//!                       ├─▶ given routes    what paths attain that were made with the topology
//!                       ├─▶ balanced paths  one path per arc, quickly, near the flow
//!                       └─▶ concurrent flow = restricted master + hop-limited search
//! ```
//!
//! **Large flows.** [`RoutingNetwork::front`] takes any pair, and splits evenly what is larger still. The master is
//! solved by a simplex, or, where that would take long, by a primal-dual method that a limit on its operations stops:
//! 262 144 arcs and 3072 orbits of links take a few seconds. Every [`Point`] says what is left: `load` is attained by
//! its routes, and no routing with its hops has less than `lower`. [`RoutingNetwork::routes_behind`] gives the routes
//! of a front without solving it again.

mod balanced_paths;
mod concurrent_flow;
mod cutoffs;
mod dense_inverse;
mod digit_distances;
mod effort;
mod equal_split;
mod front;
mod given_routes;
mod hop_limited;
mod kept_distances;
mod kept_routes;
mod known_fronts;
mod mirror;
mod network;
mod path_pool;
mod price_bound;
mod primal_dual;
mod quotient;
mod restricted_master;
mod single_path;

pub use front::{Estimate, Front, LoadBound, Point};
pub use known_fronts::KnownFronts;
pub use mirror::{mirrored_routes, mirrored_traffic};
pub use network::RoutingNetwork;
