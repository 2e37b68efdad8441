//! Sets of ranks as rows of bits.

/// A set of ranks: the bit of each.
pub(super) type Row<const WORDS: usize> = [u64; WORDS];

/// Puts a rank into a row.
pub(super) fn set<const WORDS: usize>(row: &mut Row<WORDS>, rank: usize) {
    row[rank / 64] |= 1 << (rank % 64);
}

/// Puts the ranks of another row into a row.
pub(super) fn add<const WORDS: usize>(row: &mut Row<WORDS>, more: &Row<WORDS>) {
    row.iter_mut().zip(more).for_each(|(row, more)| *row |= more);
}

/// The ranks of a row that another has not.
pub(super) fn without<const WORDS: usize>(row: &Row<WORDS>, less: &Row<WORDS>) -> Row<WORDS> {
    std::array::from_fn(|word| row[word] & !less[word])
}

/// The ranks of a row, in order.
pub(super) fn ranks_of<const WORDS: usize>(row: Row<WORDS>) -> impl Iterator<Item = usize> {
    let mut row = row;
    let mut word = 0;
    std::iter::from_fn(move || {
        while row[word] == 0 {
            word += 1;
            if word == WORDS {
                word = 0;
                return None;
            }
        }
        let bit = row[word].trailing_zeros() as usize;
        row[word] &= row[word] - 1;
        Some(word * 64 + bit)
    })
}
