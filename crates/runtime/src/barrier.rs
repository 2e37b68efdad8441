//! The interface of a barrier: a way for all ranks to wait for each other.

use crate::system::Shared;

/// Bytes of a cache line; what different processes write is on different ones.
pub const LINE: usize = 64;

/// A barrier. Rounds are counted from 1, and every rank waits in every round.
pub trait Barrier {
    /// Returns when all ranks wait in this round, or have waited.
    fn wait(&self, rank: usize, round: u32);
}

/// A barrier's name, and how it is made in memory that is all zero.
pub struct Kind {
    /// The name that users write.
    pub name: &'static str,
    /// A description in a line.
    pub summary: &'static str,
    /// The publication of the barrier.
    pub source: &'static str,
    /// Bytes for this many ranks, from the start of the memory.
    pub footprint: fn(usize) -> usize,
    /// Makes the barrier for a number of ranks; the last argument: whether every rank may have a core of its own, so
    /// that spinning delays no other process.
    pub make: for<'a> fn(&'a Shared, usize, bool) -> Box<dyn Barrier + 'a>,
}

/// Whether a counter of rounds has come to one, also after it began again from 0.
pub fn has_come(counted: u32, round: u32) -> bool {
    counted.wrapping_sub(round) as i32 >= 0
}

#[cfg(test)]
mod tests {
    use super::has_come;

    #[test]
    fn counters_may_begin_again() {
        assert!(has_come(5, 5) && has_come(6, 5) && !has_come(4, 5));
        assert!(has_come(1, u32::MAX) && !has_come(u32::MAX, 1));
    }
}
