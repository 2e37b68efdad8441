//! Direct All-to-All for a matrix of unequal blocks: the matchings of its BvN decomposition.

use model::{Chunks, Error, Op, Piece, Result, Schedule, Step, Transfer, Translations};

use crate::algorithms::direct;
use crate::birkhoff;

/// Larger matrices are refused: a plan of one has the paths of n² blocks.
pub const MAX_MATRIX_RANKS: usize = 512;
/// Matrices of more ranks are not decomposed, which takes up to n² matchings of n transfers: their blocks stay whole.
const MAX_DECOMPOSED: usize = 256;
/// Larger entries are refused: beyond 2^53 a float no longer counts single bytes.
const MAX_BYTES: f64 = 9_007_199_254_740_992.0;
/// Bits that the buffer m has after scaling to whole numbers; entries are exact down to m·2^−100.
const BITS: i32 = 100;

/// The direct All-to-All that moves `matrix[src][dst]` bytes, and its buffer m in bytes: the largest row or
/// column sum, the diagonal included.
///
/// The diagonal is data that stay where they are; no step sends them. Steps are the matchings of the
/// other entries' decomposition, the largest coefficient first (HARVEST §3.3); coefficients add up to
/// at most m, so that no schedule of matchings moves the data in less transmission time. Where all
/// blocks between different ranks are equal, the steps are the n−1 shifts in order.
///
/// At most n² − 2n + 2 steps, O(n³) each at worst; the bytes of an entry's pieces add up to it to 1e-15. Beyond 256
/// ranks entries are not split: each goes, the largest first, into the first matching that has room for it, which makes
/// 2n − 3 of them at most, of entries of similar size.
///
/// # Errors
/// A matrix that is not square with 2 to 512 rows, an entry that is negative, not finite or above 2^53,
/// nothing to send, or a buffer of less than one byte or of more than 2^53. All name `matrix`.
pub fn direct_from_matrix(matrix: &[Vec<f64>]) -> Result<(Schedule, f64)> {
    let buffer = buffer_of(matrix)?;
    let schedule = match shifts_of_equal(matrix, buffer)? {
        Some(shifts) => shifts,
        None if splits_entries(matrix) => of_matchings(matrix, matchings(matrix, buffer)?, buffer)?,
        None => of_matchings(matrix, whole_entries(matrix), buffer)?,
    };
    Ok((schedule, buffer))
}

/// The All-to-All of [`direct_from_matrix`], each block whole in one step, and its buffer m in bytes: found in
/// O(n² log n), where the decomposition takes O(n⁵) at worst.
///
/// # Errors
/// The errors of [`direct_from_matrix`].
pub(crate) fn whole_from_matrix(matrix: &[Vec<f64>]) -> Result<(Schedule, f64)> {
    let buffer = buffer_of(matrix)?;
    let schedule = match shifts_of_equal(matrix, buffer)? {
        Some(shifts) => shifts,
        None => of_matchings(matrix, whole_entries(matrix), buffer)?,
    };
    Ok((schedule, buffer))
}

/// Whether blocks are split among steps, so that the decomposition differs from [`whole_from_matrix`].
pub(crate) fn splits_entries(matrix: &[Vec<f64>]) -> bool {
    matrix.len() <= MAX_DECOMPOSED && equal_block(matrix).is_none()
}

/// The buffer m of a matrix, which is checked.
fn buffer_of(matrix: &[Vec<f64>]) -> Result<f64> {
    check(matrix)?;
    let n = matrix.len();
    let row_sums = matrix.iter().map(|row| row.iter().sum::<f64>());
    let column_sums = (0..n).map(|dst| matrix.iter().map(|row| row[dst]).sum::<f64>());
    let buffer = row_sums.chain(column_sums).fold(0.0, f64::max);
    if buffer < 1.0 {
        return Err(refuse(format!("a buffer of {buffer:?} bytes"), "at least one byte in some row or column"));
    }
    if buffer > MAX_BYTES {
        let found = format!("a buffer of {buffer:?} bytes, those of the busiest row or column,");
        return Err(refuse(found, "at most 2^53 bytes in every row and column"));
    }
    Ok(buffer)
}

/// The bytes of every block between different ranks, where they are equal.
fn equal_block(matrix: &[Vec<f64>]) -> Option<f64> {
    let (n, block) = (matrix.len(), matrix[0][1]);
    (0..n).all(|src| (0..n).all(|dst| src == dst || matrix[src][dst] == block)).then_some(block)
}

/// The n−1 shifts, where all blocks between different ranks are equal.
fn shifts_of_equal(matrix: &[Vec<f64>], buffer: f64) -> Result<Option<Schedule>> {
    let n = matrix.len();
    let Some(block) = equal_block(matrix) else { return Ok(None) };
    if (0..n).all(|rank| matrix[rank][rank] == block) {
        return direct::shifts(n as u32).map(Some);
    }
    let shift = |distance: usize| (0..n).map(|src| (src, (src + distance) % n, block)).collect();
    of_matchings(matrix, (1..n).map(shift).collect(), buffer).map(Some)
}

fn refuse(value: impl ToString, accepts: &str) -> Error {
    Error::value("matrix", value, accepts)
}

fn check(matrix: &[Vec<f64>]) -> Result<()> {
    let n = matrix.len();
    if !(2..=MAX_MATRIX_RANKS).contains(&n) {
        return Err(refuse(format!("{n} rows"), &format!("2 to {MAX_MATRIX_RANKS} rows, as many as columns")));
    }
    let mut sends = false;
    for (src, row) in matrix.iter().enumerate() {
        interruption::check();
        if row.len() != n {
            let found = format!("row {src} with {} entries in a matrix of {n} rows", row.len());
            return Err(refuse(found, "as many columns as rows"));
        }
        for (dst, &bytes) in row.iter().enumerate() {
            if !(0.0..=MAX_BYTES).contains(&bytes) {
                let found = format!("{bytes:?} in row {src}, column {dst}");
                return Err(refuse(found, "finite numbers of bytes from 0 to 2^53"));
            }
            sends |= src != dst && bytes > 0.0;
        }
    }
    if sends { Ok(()) } else { Err(refuse("a matrix that sends nothing", "some bytes off the diagonal")) }
}

/// `(src, dst, bytes)` per matching, the largest coefficient first.
fn matchings(matrix: &[Vec<f64>], buffer: f64) -> Result<Vec<Vec<(usize, usize, f64)>>> {
    let n = matrix.len();
    // A power of two, so that scaling is exact; the buffer is at least one byte and below 2^62.
    let scale = 2f64.powi(BITS - buffer.log2().ceil() as i32);
    let mut whole = vec![0u128; n * n];
    for (src, row) in matrix.iter().enumerate() {
        for (dst, &bytes) in row.iter().enumerate().filter(|&(dst, &bytes)| src != dst && bytes > 0.0) {
            // However small, a block is sent.
            whole[src * n + dst] = ((bytes * scale).round() as u128).max(1);
        }
    }
    let mut matchings = birkhoff::decompose(n, whole)?;
    let coefficient = |matching: &birkhoff::Matching| matching.iter().map(|entry| entry.2).max();
    matchings.sort_by_key(|matching| std::cmp::Reverse(coefficient(matching)));
    let in_bytes = |(src, dst, amount): (usize, usize, u128)| (src, dst, amount as f64 / scale);
    Ok(matchings.into_iter().map(|matching| matching.into_iter().map(in_bytes).collect()).collect())
}

/// `(src, dst, bytes)` per matching, every entry whole: first fit, the largest first.
///
/// An entry finds room at the latest behind the n − 2 others of its row and the n − 2 of its column.
fn whole_entries(matrix: &[Vec<f64>]) -> Vec<Vec<(usize, usize, f64)>> {
    let n = matrix.len();
    let cells = (0..n).flat_map(|src| (0..n).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst);
    let mut entries: Vec<(usize, usize, f64)> =
        cells.map(|(src, dst)| (src, dst, matrix[src][dst])).filter(|entry| entry.2 > 0.0).collect();
    entries.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut matchings: Vec<Vec<(usize, usize, f64)>> = Vec::new();
    // By row and by column, the matchings that have an entry of it, 64 to a word.
    let mut taken = [vec![Vec::<u64>::new(); n], vec![Vec::<u64>::new(); n]];
    for entry in interruption::checked(entries) {
        let word = |side: usize, at: usize, word: usize| taken[side][at].get(word).copied().unwrap_or(0);
        let both = |index: usize| word(0, entry.0, index) | word(1, entry.1, index);
        let index = (0..).find(|&index| both(index) != u64::MAX).unwrap_or(0);
        let bit = both(index).trailing_ones() as usize;
        for (side, at) in [(0, entry.0), (1, entry.1)] {
            let words = &mut taken[side][at];
            if words.len() <= index {
                words.resize(index + 1, 0);
            }
            words[index] |= 1 << bit;
        }
        let matching = index * 64 + bit;
        if matchings.len() <= matching {
            matchings.push(Vec::new());
        }
        matchings[matching].push(entry);
    }
    matchings
}

/// A step per matching, a piece per entry; then the pieces that stay.
fn of_matchings(matrix: &[Vec<f64>], matchings: Vec<Vec<(usize, usize, f64)>>, buffer: f64) -> Result<Schedule> {
    let n = matrix.len();
    let own = (0..n).filter(|&rank| matrix[rank][rank] > 0.0).map(|rank| (rank, rank, matrix[rank][rank]));
    let sent = matchings.iter().flatten().copied();
    let pieces = sent
        .chain(own)
        .map(|(src, dst, bytes)| Piece { src: src as u32, dst: dst as u32, share: bytes / buffer })
        .collect();
    let chunks = Chunks::pieces(n as u32, pieces)?;
    let mut next = 0..;
    let mut steps = Vec::with_capacity(matchings.len());
    for matching in &matchings {
        let transfers = matching.iter().zip(next.by_ref()).map(|(&(src, dst, _), chunk)| Transfer {
            src: src as u32,
            dst: dst as u32,
            op: Op::Copy,
            chunks: vec![chunk],
        });
        steps.push(Step::new(Translations::trivial(n as u32), transfers, &chunks)?);
    }
    Schedule::new(direct::NAME, chunks, steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Collective;
    use proptest::prelude::*;

    #[test]
    fn bad_matrices_are_refused_by_name() {
        let bad: &[&[&[f64]]] = &[
            &[],
            &[&[1.0]],
            &[&[0.0, 1.0], &[1.0]],
            &[&[0.0, 1.0, 2.0], &[1.0, 0.0, 2.0]],
            &[&[0.0, -1.0], &[1.0, 0.0]],
            &[&[0.0, f64::NAN], &[1.0, 0.0]],
            &[&[0.0, f64::INFINITY], &[1.0, 0.0]],
            &[&[f64::NAN, 1.0], &[1.0, 0.0]],
            &[&[0.0, 1e300], &[1.0, 0.0]],
            &[&[5.0, 0.0], &[0.0, 7.0]],
            &[&[0.0, 1e-9], &[0.0, 0.0]],
            &[&[0.0, 1e-300], &[0.0, 0.0]],
            &[&[MAX_BYTES, 2.0], &[0.0, 0.0]],
        ];
        for rows in bad {
            let matrix: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
            let error = direct_from_matrix(&matrix).unwrap_err();
            assert!(error.to_string().len() < 200, "{error}");
            assert_eq!(error.field(), "matrix", "{rows:?}: {error}");
        }
        assert!(direct_from_matrix(&vec![vec![1.0; 600]; 600]).is_err());
    }

    proptest! {
        #[test]
        fn whole_entries_are_few_matchings_that_hold_each_once(
            n in 2usize..12, entries in prop::collection::vec(prop_oneof![Just(0.0), 0.5f64..1e6], 144),
        ) {
            let matrix: Vec<Vec<f64>> = (0..n).map(|src| entries[src * 12..src * 12 + n].to_vec()).collect();
            let matchings = whole_entries(&matrix);
            prop_assert!(matchings.len() <= (2 * n).saturating_sub(3).max(1));
            let mut left = matrix.clone();
            for matching in &matchings {
                let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
                    matching.iter().map(|&(src, dst, _)| (src, dst)).unzip();
                for &(src, dst, bytes) in matching {
                    prop_assert!(src != dst && bytes > 0.0 && left[src][dst] == bytes);
                    left[src][dst] = 0.0;
                }
                for ends in [&mut rows, &mut columns] {
                    ends.sort_unstable();
                    ends.dedup();
                    prop_assert_eq!(ends.len(), matching.len());
                }
            }
            prop_assert!((0..n).all(|src| (0..n).all(|dst| src == dst || left[src][dst] == 0.0)));
        }
    }

    #[test]
    fn equal_blocks_give_the_shifts_whatever_stays_local() {
        let (uniform, m) = direct_from_matrix(&vec![vec![4.0; 5]; 5]).unwrap();
        assert_eq!((uniform, m), (direct::shifts(5).unwrap(), 20.0));
        let mut matrix = vec![vec![3.0; 4]; 4];
        for (rank, row) in matrix.iter_mut().enumerate() {
            row[rank] = rank as f64;
        }
        let (schedule, m) = direct_from_matrix(&matrix).unwrap();
        assert_eq!((schedule.steps().len(), schedule.collective(), m), (3, Collective::AllToAll, 12.0));
        for (step, distance) in schedule.steps().iter().zip(1..) {
            assert!(step.transfers().iter().all(|t| t.dst == (t.src + distance) % 4));
            assert_eq!(step.share(), 0.25);
        }
    }

    #[test]
    fn a_tiny_block_beside_a_huge_one_is_still_sent() {
        let matrix = vec![vec![0.0, MAX_BYTES, 1e-40], vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 0.0]];
        let (schedule, _) = direct_from_matrix(&matrix).unwrap();
        let pairs: std::collections::BTreeSet<(u32, u32)> =
            schedule.steps().iter().flat_map(|step| step.transfers()).map(|t| (t.src, t.dst)).collect();
        assert_eq!(pairs.into_iter().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 0)]);
    }
}
