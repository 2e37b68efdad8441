//! Circuits through a mesh of MZIs (PCCL, §4.2, algorithm 3, appendix B).
//!
//! ```text
//! Mesh, Circuits ─▶ route ─▶ Routing ─▶ states
//!                               └────────▶ check
//! ```

mod checker;
mod cuts;
mod exhaustive;
mod fibre_keys;
mod launch;
mod layout;
mod least_power;
mod lengths;
mod negotiation;
mod over_budget;
mod over_time;
mod placement;
mod router;
mod routing;
mod search;
mod states;

pub use checker::{check, check_cut, check_lengths, follow};
pub use cuts::{Cut, straight as cut_by_a_line};
pub use launch::loss_reason;
pub(crate) use launch::over_budget;
pub use layout::{Losses, Mesh, MeshSettings, Passed};
pub use lengths::Lengths;
pub use over_budget::{LaserPlace, OverBudget};
pub(crate) use over_time::over_time;
pub use placement::{Placed, launch_power, parse_settings, place};
pub use router::{route, route_beside};
pub use routing::{Impossible, Method, Route, Routing, Unrouted};
pub use states::{Port, Setting, states, states_of};
