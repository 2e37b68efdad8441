//! Circuits between servers on fibres: paths on the grid of servers so that the busiest edge carries least (PCCL,
//! algorithm 4).
//!
//! ```text
//! Servers, Circuits ─▶ route ─▶ FibreRouting ─▶ check
//!              └─────▶ bound ──────┘
//! ```

mod checker;
mod cuts;
mod router;
mod servers;

pub use checker::check;
pub use cuts::{FibreBound, bound};
pub use router::{FibreRouting, route};
pub use servers::{Fibre, Servers};
