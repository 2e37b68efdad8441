//! Chunks spread over one topology that stays: who sends which chunk over which circuit, round by round.
//!
//! Every origin has a block that all ranks want, cut into parts. Broadcast has one origin, AllGather all ranks; a
//! ReduceScatter is an AllGather backwards on the circuits turned round. Where topology and origins share translations,
//! one origin of each orbit is looked at, and what it sends stands for what its images send.
//!
//! ```text
//! Topology ─▶ Network ─▶ steps of rounds, in which every circuit carries a chunk ─▶ Sent
//! ```

mod network;
mod sets;
mod spread;
mod steps;

pub use network::Network;
pub use steps::{ChunkStep, Length, rounds, steps};

use model::Rank;

/// A part of an origin's block that goes over a link; with it, for every translation of the network, its image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    /// Sender.
    pub src: Rank,
    /// Receiver, one link from the sender.
    pub dst: Rank,
    /// Rank whose block it is from.
    pub origin: Rank,
    /// Index of the part of the block.
    pub part: u32,
}
