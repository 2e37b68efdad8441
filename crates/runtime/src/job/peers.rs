//! The processes of a group's other ranks, as one of them watches them.

use std::sync::Mutex;

use rustix::fd::OwnedFd;

use crate::cutoffs::job::SPINS;

/// The processes of the other ranks, each opened when it is first looked at.
#[derive(Debug)]
pub struct Peers {
    pub descriptors: Mutex<Vec<Option<OwnedFd>>>,
    /// Looks before a rank sleeps: none where others need its core.
    pub spins: u32,
}

impl Peers {
    pub fn new(ranks: u32) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let spins = if ranks as usize <= cores { SPINS } else { 0 };
        Self { descriptors: Mutex::new((0..ranks).map(|_| None).collect()), spins }
    }
}
