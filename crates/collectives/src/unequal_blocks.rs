//! The All-to-All of a matrix, decomposed into matchings when these are first asked for.

use std::sync::{Arc, OnceLock};

use model::{Result, Schedule};

use crate::unequal_all_to_all::{direct_from_matrix, splits_entries, whole_from_matrix};

/// The All-to-All of a matrix of bytes. Planners that choose algorithms need only its blocks; the matchings of its
/// decomposition, which take longer to find than a first plan, are found for the others.
#[derive(Debug, Clone)]
pub struct UnequalBlocks {
    whole: Arc<Schedule>,
    /// The rows where blocks are split among matchings.
    rows: Option<Arc<[Vec<f64>]>>,
    direct: Arc<OnceLock<Result<Schedule>>>,
}

impl PartialEq for UnequalBlocks {
    fn eq(&self, other: &Self) -> bool {
        (&self.whole, &self.rows) == (&other.whole, &other.rows)
    }
}

impl From<Schedule> for UnequalBlocks {
    /// The blocks of a schedule, which stands for the decomposition too.
    fn from(schedule: Schedule) -> Self {
        Self { whole: Arc::new(schedule), rows: None, direct: Arc::default() }
    }
}

impl UnequalBlocks {
    /// The All-to-All that moves `matrix[src][dst]` bytes, and its buffer m in bytes.
    ///
    /// # Errors
    /// The errors of [`direct_from_matrix`].
    pub fn of_matrix(matrix: Vec<Vec<f64>>) -> Result<(Self, f64)> {
        let (whole, buffer) = whole_from_matrix(&matrix)?;
        let rows = splits_entries(&matrix).then(|| Arc::from(matrix));
        Ok((Self { rows, ..Self::from(whole) }, buffer))
    }

    /// A schedule in which every block goes whole in one step, or the one that the blocks are from.
    pub fn whole(&self) -> &Schedule {
        &self.whole
    }

    /// The schedule of [`direct_from_matrix`], or the one that the blocks are from.
    ///
    /// # Errors
    /// No error for a matrix that was accepted.
    pub fn direct(&self) -> Result<&Schedule> {
        let Some(rows) = &self.rows else { return Ok(&self.whole) };
        let decomposed = || direct_from_matrix(rows).map(|(schedule, _)| schedule);
        self.direct.get_or_init(decomposed).as_ref().map_err(Clone::clone)
    }

    /// The same blocks, never split: [`UnequalBlocks::direct`] is [`UnequalBlocks::whole`].
    pub fn unsplit(&self) -> Self {
        Self { whole: self.whole.clone(), rows: None, direct: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whole or split among matchings, as many bytes go from every rank to every other, and the buffer is the same.
        #[test]
        fn whole_blocks_hold_the_bytes_of_the_decomposition(
            n in 2usize..10, entries in prop::collection::vec(prop_oneof![1 => Just(0.0), 3 => 1.0f64..1e6], 100),
        ) {
            let matrix: Vec<Vec<f64>> = (0..n).map(|src| entries[src * 10..src * 10 + n].to_vec()).collect();
            prop_assume!((0..n).any(|src| (0..n).any(|dst| src != dst && matrix[src][dst] > 0.0)));
            let (blocks, buffer) = UnequalBlocks::of_matrix(matrix.clone()).unwrap();
            let (direct, same) = direct_from_matrix(&matrix).unwrap();
            prop_assert_eq!((blocks.direct().unwrap(), buffer), (&direct, same));
            for schedule in [blocks.whole(), &direct] {
                let Some(pieces) = schedule.chunks().as_pieces() else { continue };
                let mut sent = vec![vec![0.0; n]; n];
                pieces.iter().for_each(|piece| sent[piece.src as usize][piece.dst as usize] += piece.share * buffer);
                for (src, dst) in (0..n).flat_map(|src| (0..n).map(move |dst| (src, dst))) {
                    prop_assert!((sent[src][dst] - matrix[src][dst]).abs() <= 1e-12 * matrix[src][dst]);
                }
            }
            let unsplit = blocks.unsplit();
            prop_assert_eq!(unsplit.direct().unwrap(), blocks.whole());
        }
    }
}
