//! Copies from one memory of a rank to another.

use std::num::NonZeroU64;

use model::Rank;

/// Copies inside ranks, as columns; each is of at least one element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Copies {
    /// The rank.
    pub rank: Vec<Rank>,
    /// Offset in the memory that is read, in bytes.
    pub source_offset: Vec<u64>,
    /// Offset in the memory that is written, in bytes.
    pub destination_offset: Vec<u64>,
    /// Size, in bytes.
    pub size_bytes: Vec<u64>,
}

impl Copies {
    /// Adds a copy, where there is something to copy.
    pub(super) fn push(&mut self, rank: usize, source_offset: u64, destination_offset: u64, size: u64) {
        if size > 0 {
            self.rank.push(rank as Rank);
            self.source_offset.push(source_offset);
            self.destination_offset.push(destination_offset);
            self.size_bytes.push(size);
        }
    }

    /// These copies, of numbers of elements, in bytes.
    pub(super) fn in_bytes(self, element_bytes: NonZeroU64) -> Self {
        Self {
            rank: self.rank,
            source_offset: in_bytes(self.source_offset, element_bytes),
            destination_offset: in_bytes(self.destination_offset, element_bytes),
            size_bytes: in_bytes(self.size_bytes, element_bytes),
        }
    }
}

/// Numbers of elements in bytes; no workspace, input or output has 2^63 bytes.
pub(super) fn in_bytes(mut elements: Vec<u64>, element_bytes: NonZeroU64) -> Vec<u64> {
    for number in &mut elements {
        *number *= element_bytes.get();
    }
    elements
}
