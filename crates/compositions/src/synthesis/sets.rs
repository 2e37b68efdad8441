//! The chunks that ranks have.

use model::Rank;

/// Sets of chunks, one for each rank.
#[derive(Debug, Clone)]
pub(crate) struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    pub(crate) fn new(ranks: usize, chunks: usize) -> Self {
        let words = chunks.div_ceil(64);
        Self { words, bits: vec![0; ranks * words] }
    }

    /// Words of 64 chunks that a set has.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    pub(crate) fn of(&self, rank: Rank) -> &[u64] {
        &self.bits[rank as usize * self.words..(rank as usize + 1) * self.words]
    }

    pub(crate) fn insert(&mut self, rank: Rank, chunk: usize) {
        self.bits[rank as usize * self.words + chunk / 64] |= 1 << (chunk % 64);
    }

    pub(crate) fn remove(&mut self, rank: Rank, chunk: usize) {
        self.bits[rank as usize * self.words + chunk / 64] &= !(1 << (chunk % 64));
    }
}

/// The chunks of the set bits of a word.
pub(crate) fn chunks_of(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros() as usize;
        bits = if bits == 0 { return None } else { bits & (bits - 1) };
        Some(word * 64 + bit)
    })
}
