//! Topologies that no candidate family holds, searched for the steps that they are to serve.
//!
//! [`Circulants`] are all looked at, and the best is exact; [`local_search`] starts from them and gives up symmetry
//! for lower loads; [`generator_sets`] are the shifted rings of a one-port All-to-All for each number of
//! topologies. A planner puts what they find among its candidates.
//!
//! ```text
//! PricedStep ─▶ Circulants ─▶ local_search ─▶ Topology
//!          n ─▶ generator_sets ─▶ GeneratorSet
//! ```

mod circulants;
mod cutoffs;
mod generator_sets;
mod local_search;
mod priced_step;

pub use circulants::Circulants;
pub use generator_sets::{GeneratorSet, generator_set, generator_sets};
pub use local_search::{NAME as LOCAL_SEARCH_NAME, SearchLimits, local_search};
pub use priced_step::PricedStep;
