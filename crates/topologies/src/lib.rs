//! Topology families by name, and the candidate families from which planners choose.
//!
//! A family turns ranks, their grid and their ports ([`model::Shape`]) into the circuits of one
//! [`model::Topology`], with the largest translation symmetry that is known for it. [`build`] reads a
//! *spec*, `NAME` or `NAME:PARAMETERS`, and the name of what it builds is a spec of the same circuits.
//! [`candidates::build`] joins families of candidates and specs into one list without duplicates.
//!
//! Adding a family is one file in `families/` or `candidates/` and its line in the registry there.

mod candidate_family;
pub mod candidates;
mod cutoffs;
mod dedupe;
mod diameter;
mod edge_list;
mod explanation;
mod explicit_links;
mod families;
mod family;
pub mod metacyclic;
mod parameters;
mod ring_offsets;

pub use diameter::Diameter;
pub use edge_list::from_links;
pub use explanation::{Along, Explanation};
pub use families::{REGISTRY, build};
pub use family::Family;
