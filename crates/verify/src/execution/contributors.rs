//! Sets of ranks that contributed to a sum, each kept once however many chunks have it.
//!
//! In a schedule that treats chunks alike, most chunks that a rank holds have the same contributors. So sets are
//! shared, and what was found in a step for one chunk, a set moved by a translation or two sets joined, is found once
//! for all.

use std::collections::BTreeMap;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use model::{Rank, Translations};

/// Contributors of a chunk. Kept in this normal form, so that equal sets are equal values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sum {
    One(Rank),
    /// At least two ranks and not all.
    Part(Arc<FixedBitSet>),
    All,
}

/// The key that tells sums of one step apart: which rank, or where the set is kept. Equal sets may be kept at two
/// places.
type Key = (u8, usize);

impl Sum {
    fn key(&self) -> Key {
        match self {
            Self::One(rank) => (0, *rank as usize),
            Self::Part(ranks) => (1, Arc::as_ptr(ranks) as usize),
            Self::All => (2, 0),
        }
    }

    fn contributors(&self, ranks: usize) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(ranks);
        match self {
            Self::One(rank) => set.insert(*rank as usize),
            Self::Part(part) => set.union_with(part),
            Self::All => set.insert_range(..),
        }
        set
    }

    /// The union of the two sets.
    ///
    /// # Errors
    /// The first rank that is in both.
    fn joined(&self, other: &Self, ranks: usize) -> Result<Self, usize> {
        let mut both = self.contributors(ranks);
        let added = other.contributors(ranks);
        if let Some(twice) = both.intersection(&added).next() {
            return Err(twice);
        }
        both.union_with(&added);
        Ok(if both.count_ones(..) == ranks { Self::All } else { Self::Part(Arc::new(both)) })
    }

    /// A rank that is not in it.
    pub(super) fn missing(&self, ranks: usize) -> Option<usize> {
        self.contributors(ranks).zeroes().next()
    }
}

/// Two sums and what they are together, or the first rank that is in both.
type Joined = (Sum, Sum, Result<Sum, usize>);

/// The sums found in one step.
pub(super) struct Found<'a> {
    group: &'a Translations,
    ranks: usize,
    /// By sum and element. The sums that keys tell of are held, so that no other comes to their place.
    moved: BTreeMap<(Key, u32), (Sum, Sum)>,
    joined: BTreeMap<(Key, Key), Joined>,
}

impl<'a> Found<'a> {
    /// Nothing yet; `ranks` contribute.
    pub(super) fn new(group: &'a Translations, ranks: usize) -> Self {
        Self { group, ranks, moved: BTreeMap::new(), joined: BTreeMap::new() }
    }

    /// The sum whose contributors are those of `sum` moved by `element`.
    pub(super) fn moved(&mut self, sum: &Sum, element: u32) -> Sum {
        match sum {
            Sum::One(rank) => Sum::One(self.group.apply(element, *rank)),
            Sum::Part(ranks) if element != 0 => {
                let moved = || (sum.clone(), Sum::Part(Arc::new(translated(self.group, element, ranks))));
                self.moved.entry((sum.key(), element)).or_insert_with(moved).1.clone()
            }
            same => same.clone(),
        }
    }

    /// The sum of two.
    ///
    /// # Errors
    /// The first rank that contributed to both.
    pub(super) fn joined(&mut self, sum: &Sum, other: &Sum) -> Result<Sum, usize> {
        let joined = || (sum.clone(), other.clone(), sum.joined(other, self.ranks));
        self.joined.entry((sum.key(), other.key())).or_insert_with(joined).2.clone()
    }
}

/// Every rank of a set moved by an element. O(ranks / word) where the group is Z_n, else O(ranks of the set).
fn translated(group: &Translations, element: u32, set: &FixedBitSet) -> FixedBitSet {
    let ranks = set.len();
    let mut moved = FixedBitSet::with_capacity(ranks);
    if *group == Translations::cyclic(group.ranks()) {
        let element = element as usize;
        shift_into(set.as_slice(), element as isize, moved.as_mut_slice());
        shift_into(set.as_slice(), element as isize - ranks as isize, moved.as_mut_slice());
        // Bits that were moved beyond the last rank have come round.
        let spare = moved.as_slice().len() * BITS - ranks;
        if let Some(last) = moved.as_mut_slice().last_mut().filter(|_| spare > 0) {
            *last &= usize::MAX >> spare;
        }
    } else {
        moved.extend(set.ones().map(|rank| group.apply(element, rank as Rank) as usize));
    }
    moved
}

const BITS: usize = usize::BITS as usize;

/// Adds to `into` the bits of `from`, each `by` places on; those that leave it are lost.
fn shift_into(from: &[usize], by: isize, into: &mut [usize]) {
    let (blocks, bits) = (by.div_euclid(BITS as isize), by.rem_euclid(BITS as isize) as u32);
    let block = |index: isize| usize::try_from(index).ok().and_then(|index| from.get(index)).copied().unwrap_or(0);
    for (index, block_into) in (0isize..).zip(into) {
        let at = index - blocks;
        *block_into |= block(at) << bits;
        if bits > 0 {
            *block_into |= block(at - 1) >> (BITS as u32 - bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_is_moved_rank_by_rank(
            (count, period) in (2u32..90, 1u32..4), ranks in prop::collection::btree_set(0u32..270, 2..40), by in 0u32..270,
        ) {
            let n = count * period;
            let set: FixedBitSet = ranks.iter().filter(|rank| **rank < n).map(|rank| *rank as usize).collect();
            let mut grown = FixedBitSet::with_capacity(n as usize);
            grown.union_with(&set);
            for group in [Translations::cyclic(n), Translations::periodic(n, period), Translations::trivial(n)] {
                let element = group.canonical(by % n).1;
                let expected: FixedBitSet =
                    grown.ones().map(|rank| group.apply(element, rank as Rank) as usize).collect();
                let moved = translated(&group, element, &grown);
                prop_assert_eq!(moved.len(), n as usize);
                prop_assert_eq!(moved.ones().collect::<Vec<_>>(), expected.ones().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn sums_are_joined_once_and_tell_who_is_in_both() {
        let group = Translations::cyclic(3);
        let mut found = Found::new(&group, 3);
        let pair = found.joined(&Sum::One(0), &Sum::One(1)).unwrap();
        assert!(
            matches!((&pair, &found.joined(&Sum::One(0), &Sum::One(1)).unwrap()), (Sum::Part(a), Sum::Part(b)) if Arc::ptr_eq(a, b))
        );
        assert_eq!(found.joined(&pair, &Sum::One(1)), Err(1));
        assert_eq!(found.joined(&pair, &Sum::One(2)), Ok(Sum::All));
        assert_eq!(pair.missing(3), Some(2));
        let moved = found.moved(&pair, 2);
        assert_eq!(found.joined(&moved, &Sum::One(1)), Ok(Sum::All));
    }
}
