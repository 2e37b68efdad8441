//! The explicit inverse of a basis, changed one column at a time.
//!
//! Dense, because bases here have one row per orbit of links: a handful on a quotient, a few hundred without
//! symmetry, and then most of the inverse is filled.

/// Pivots of an elimination below this mean a singular matrix.
const SINGULAR: f64 = 1e-11;

#[derive(Debug)]
pub(crate) struct DenseInverse {
    size: usize,
    /// Row by row.
    values: Vec<f64>,
}

impl DenseInverse {
    pub(crate) fn identity(size: usize) -> Self {
        let mut values = vec![0.0; size * size];
        (0..size).for_each(|index| values[index * size + index] = 1.0);
        Self { size, values }
    }

    /// The inverse of the matrix of `columns`, given as (row, value), values of the same row added up; `None`
    /// when it is singular. Gauss–Jordan with partial pivoting, O(size³).
    pub(crate) fn of(columns: &[Vec<(u32, f64)>]) -> Option<Self> {
        let size = columns.len();
        let width = 2 * size;
        let mut work = vec![0.0; size * width];
        for (position, column) in columns.iter().enumerate() {
            for &(row, value) in column {
                work[row as usize * width + position] += value;
            }
            work[position * width + size + position] = 1.0;
        }
        for column in 0..size {
            interruption::check();
            let magnitude = |row: usize| work[row * width + column].abs();
            let best = (column..size).reduce(|a, b| if magnitude(b) > magnitude(a) { b } else { a })?;
            if magnitude(best) < SINGULAR {
                return None;
            }
            if best != column {
                let (low, high) = work.split_at_mut(best * width);
                low[column * width..][..width].swap_with_slice(&mut high[..width]);
            }
            let scale = work[column * width + column];
            let pivot: Vec<f64> = work[column * width..][..width].iter().map(|value| value / scale).collect();
            for (index, row) in work.chunks_exact_mut(width).enumerate() {
                if index == column {
                    row.copy_from_slice(&pivot);
                } else {
                    subtract(row, row[column], &pivot);
                }
            }
        }
        let values = work.chunks_exact(width).flat_map(|row| row[size..].iter().copied()).collect();
        Some(Self { size, values })
    }

    pub(crate) fn row(&self, position: usize) -> &[f64] {
        &self.values[position * self.size..][..self.size]
    }

    /// Inverse times a sparse column.
    pub(crate) fn times(&self, column: &[(u32, f64)]) -> Vec<f64> {
        let product = |row: &[f64]| column.iter().map(|&(index, value)| row[index as usize] * value).sum();
        self.values.chunks_exact(self.size).map(product).collect()
    }

    /// One row of the inverse times a dense column.
    pub(crate) fn dot(&self, position: usize, column: &[f64]) -> f64 {
        self.row(position).iter().zip(column).map(|(inverse, value)| inverse * value).sum()
    }

    /// The matrix gets another column at `position`; `image` is the present inverse times that column, and
    /// `image[position]` is not zero. O(size²).
    pub(crate) fn replace(&mut self, position: usize, image: &[f64]) {
        let pivot: Vec<f64> = self.row(position).iter().map(|value| value / image[position]).collect();
        for (index, row) in self.values.chunks_exact_mut(self.size).enumerate() {
            if index == position {
                row.copy_from_slice(&pivot);
            } else {
                subtract(row, image[index], &pivot);
            }
        }
    }

    /// Row `position` becomes minus the sum of the rows at `positions`.
    pub(crate) fn negate_sum(&mut self, position: usize, positions: &[u32]) {
        for column in 0..self.size {
            let sum: f64 = positions.iter().map(|&row| self.values[row as usize * self.size + column]).sum();
            self.values[position * self.size + column] = -sum;
        }
    }
}

fn subtract(row: &mut [f64], factor: f64, other: &[f64]) {
    if factor != 0.0 {
        row.iter_mut().zip(other).for_each(|(value, other)| *value -= factor * other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sparse(dense: &[f64]) -> Vec<(u32, f64)> {
        dense.iter().enumerate().map(|(row, &value)| (row as u32, value)).collect()
    }

    proptest! {
        #[test]
        fn times_the_matrix_is_the_identity_before_and_after_a_replacement(
            size in 1usize..9, entries in prop::collection::vec(-1.0f64..1.0, 72), at in 0usize..9,
        ) {
            // Diagonally dominant, so that it is far from singular.
            let column = |index: usize, at: usize| -> Vec<f64> {
                (0..size).map(|row| entries[index * 8 + row] / 8.0 + if row == at { 2.0 } else { 0.0 }).collect()
            };
            let at = at % size;
            let mut columns: Vec<Vec<f64>> = (0..size).map(|index| column(index, index)).collect();
            let mut inverse = DenseInverse::of(&columns.iter().map(|c| sparse(c)).collect::<Vec<_>>()).unwrap();
            for replaced in [false, true] {
                if replaced {
                    columns[at] = column(8, at);
                    let image = inverse.times(&sparse(&columns[at]));
                    inverse.replace(at, &image);
                }
                for (index, column) in columns.iter().enumerate() {
                    for (row, value) in inverse.times(&sparse(column)).into_iter().enumerate() {
                        let expected = if row == index { 1.0 } else { 0.0 };
                        prop_assert!((value - expected).abs() < 1e-12);
                        prop_assert!((inverse.dot(row, column) - expected).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        assert!(DenseInverse::of(&[vec![(0, 1.0), (1, 2.0)], vec![(0, 2.0), (1, 4.0)]]).is_none());
        assert!(DenseInverse::of(&[vec![(0, 0.0)]]).is_none());
    }
}
