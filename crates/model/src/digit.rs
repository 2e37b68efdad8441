//! A coordinate of the ranks.

use crate::Rank;

/// One cyclic coordinate of the ranks: `(rank / stride) % radix`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digit {
    /// Product of the radices below.
    pub stride: u32,
    /// Number of values, at least 2.
    pub radix: u32,
}

impl Digit {
    /// The stride of the next digit.
    pub(crate) fn end(self) -> u32 {
        self.stride * self.radix
    }

    /// The value of this digit in a rank.
    pub(crate) fn of(self, rank: Rank) -> u32 {
        rank / self.stride % self.radix
    }
}
