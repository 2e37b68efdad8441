//! Bytes of an All-to-All whose blocks differ.

use crate::{Error, Result, units};

/// The most places of a matrix.
const MAX_PLACES: usize = 512;

/// Bytes from each place of a group to each: row = source, column = destination, the diagonal data that stay.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteMatrix(Vec<Vec<u64>>);

/// A matrix with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMatrix {
    /// Name of the matrix.
    pub name: String,
    /// The bytes.
    pub matrix: ByteMatrix,
}

/// The matrix of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixUse {
    /// Index of the matrix.
    pub matrix: usize,
    /// Whether rows are destinations: data on their way back.
    pub transposed: bool,
}

impl ByteMatrix {
    /// # Errors
    /// A matrix that is not square with 2 to 512 rows, that sends nothing, or with a row or column of more than 2^53
    /// bytes; all name `field`.
    pub fn new(field: &str, rows: Vec<Vec<u64>>) -> Result<Self> {
        let places = rows.len();
        if !(2..=MAX_PLACES).contains(&places) {
            let found = format!("{places} rows");
            return Err(Error::value(field, found, format!("2 to {MAX_PLACES} rows, as many as columns")));
        }
        if let Some((index, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != places) {
            let found = format!("row {index} with {} entries in a matrix of {places} rows", row.len());
            return Err(Error::value(field, found, "as many columns as rows"));
        }
        if rows
            .iter()
            .enumerate()
            .all(|(src, row)| row.iter().enumerate().all(|(dst, &bytes)| src == dst || bytes == 0))
        {
            return Err(Error::value(field, "a matrix that sends nothing", "some bytes off the diagonal"));
        }
        let made = Self(rows);
        let busiest = made.sums().max().unwrap_or(0);
        let busiest = u64::try_from(busiest).ok().filter(|&bytes| units::size_in_range(field, bytes).is_ok());
        busiest.map(|_| made).ok_or_else(|| {
            let found = "more than 2^53 bytes in a row or column";
            Error::value(field, found, "at most 2^53 bytes in every row and column")
        })
    }

    /// The sum of several matrices of one size; `None` for fewer than two, for different sizes, or where it is too large.
    pub fn sum<'a>(matrices: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let all: Vec<&Self> = matrices.collect();
        let [first, others @ ..] = all.as_slice() else { return None };
        let mut rows = first.0.clone();
        for other in others {
            for (row, added) in rows.iter_mut().zip(&other.0) {
                for (bytes, added) in row.iter_mut().zip(added) {
                    *bytes = bytes.checked_add(*added)?;
                }
            }
        }
        let alike = others.iter().all(|other| other.0.len() == rows.len());
        (alike && !others.is_empty()).then(|| Self::new("matrix", rows).ok()).flatten()
    }

    /// Bytes `[source][destination]`.
    pub fn rows(&self) -> &[Vec<u64>] {
        &self.0
    }

    /// m: the bytes of the busiest row or column, its own block included.
    pub fn buffer_bytes(&self) -> u64 {
        self.sums().max().map_or(0, |bytes| bytes as u64)
    }

    /// Bytes that a place sends to others, and that it receives from them.
    pub fn exchanged_bytes(&self, place: usize) -> (f64, f64) {
        let others = |(other, bytes): (usize, u64)| if other == place { 0.0 } else { bytes as f64 };
        let sent = self.0[place].iter().copied().enumerate().map(others).sum();
        let received = self.0.iter().map(|row| row[place]).enumerate().map(others).sum();
        (sent, received)
    }

    /// The most bytes that some place exchanges with others in one direction.
    pub fn busiest_exchange(&self) -> f64 {
        let ways = (0..self.0.len()).map(|place| self.exchanged_bytes(place));
        ways.fold(0.0, |most, (sent, received)| most.max(sent).max(received))
    }

    /// The matrix of the way back.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self((0..self.0.len()).map(|place| self.0.iter().map(|row| row[place]).collect()).collect())
    }

    /// Bytes of every row, then of every column.
    fn sums(&self) -> impl Iterator<Item = u128> {
        let rows = self.0.iter().map(|row| row.iter().map(|&bytes| u128::from(bytes)).sum());
        let columns = (0..self.0.len()).map(|column| self.0.iter().map(|row| u128::from(row[column])).sum());
        rows.chain(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_is_that_of_the_busiest_row_or_column() {
        let matrix = ByteMatrix::new("matrix", vec![vec![1, 2, 3], vec![40, 5, 6], vec![7, 8, 9]]).unwrap();
        assert_eq!((matrix.buffer_bytes(), matrix.transposed().buffer_bytes()), (51, 51));
        assert_eq!(matrix.transposed().rows(), [vec![1, 40, 7], vec![2, 5, 8], vec![3, 6, 9]]);
    }

    #[test]
    fn matrices_add_up() {
        let of = |rows: Vec<Vec<u64>>| ByteMatrix::new("matrix", rows).unwrap();
        let (one, other) = (of(vec![vec![0, 1], vec![2, 0]]), of(vec![vec![5, 0], vec![3, 1]]));
        let sum = ByteMatrix::sum([&one, &other].into_iter()).unwrap();
        assert_eq!(sum.rows(), [vec![5, 1], vec![5, 1]]);
        let three = of(vec![vec![0, 1, 0]; 3]);
        assert_eq!(ByteMatrix::sum([&one].into_iter()).or(ByteMatrix::sum([&one, &three].into_iter())), None);
    }

    #[test]
    fn matrices_that_are_none_are_refused() {
        let most = 1u64 << 53;
        for (rows, said) in [
            (vec![vec![1]], "2 to 512 rows"),
            (vec![vec![0, 1], vec![1]], "as many columns as rows"),
            (vec![vec![1, 0], vec![0, 1]], "off the diagonal"),
            (vec![vec![0, most], vec![0, 1]], "2^53"),
            (vec![vec![0, u64::MAX], vec![u64::MAX, u64::MAX]], "2^53"),
        ] {
            let error = ByteMatrix::new("matrix", rows).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
