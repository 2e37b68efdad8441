//! The Birkhoff–von Neumann decomposition: a matrix as a weighted sum of matchings, in exact arithmetic.

use model::{Error, Result};

use crate::bottleneck::Bottleneck;

/// The entries that one matching carries: `(row, column, amount)`, at most one entry per row and per column.
pub(crate) type Matching = Vec<(usize, usize, u128)>;

/// Splits `matrix` (`[row·n + column]`) into matchings that add up to it exactly; their number is at most
/// n² − 2n + 2, and the sum of their largest amounts is at most the largest row or column sum.
///
/// Rows and columns are first filled up to equal sums with dummy traffic, on the diagonal where possible
/// and left out of the result. Then the matching with the largest smallest entry is taken off again
/// and again; each zeroes an entry, hence the number (Johnson, Dulmage & Mendelsohn, Canadian Mathematical
/// Bulletin 3, 1960; the greedy choice: Dufossé & Uçar, Linear Algebra and its Applications 497, 2016).
/// O(n³) per matching at worst.
///
/// # Errors
/// No error for sums that fit in 128 bits; the type covers a matching that cannot be found.
pub(crate) fn decompose(n: usize, mut matrix: Vec<u128>) -> Result<Vec<Matching>> {
    let (padded, mut remaining) = fill_up(n, &matrix);
    let mut bottleneck = Bottleneck::new(n, padded);
    let mut matchings = Vec::new();
    while remaining > 0 {
        let Some((coefficient, columns)) = bottleneck.matching() else {
            return Err(Error::infeasible("matrix", "it has no decomposition into matchings"));
        };
        bottleneck.subtract(coefficient);
        remaining -= coefficient;
        let mut carried = Matching::new();
        for (row, &column) in columns.iter().enumerate() {
            // Dummy traffic comes last in its cell, so that early matchings carry as much as they can.
            let left = &mut matrix[row * n + column];
            let amount = coefficient.min(*left);
            *left -= amount;
            if amount > 0 {
                carried.push((row, column, amount));
            }
        }
        if !carried.is_empty() {
            matchings.push(carried);
        }
    }
    Ok(matchings)
}

/// `matrix` with traffic added until every row and column has the same sum, and that sum.
fn fill_up(n: usize, matrix: &[u128]) -> (Vec<u128>, u128) {
    let row_sum = |row: usize| matrix[row * n..(row + 1) * n].iter().sum::<u128>();
    let column_sum = |column: usize| (0..n).map(|row| matrix[row * n + column]).sum::<u128>();
    let rows: Vec<u128> = (0..n).map(row_sum).collect();
    let columns: Vec<u128> = (0..n).map(column_sum).collect();
    let sum = rows.iter().chain(&columns).copied().max().unwrap_or(0);
    let mut row_slack: Vec<u128> = rows.iter().map(|row| sum - row).collect();
    let mut column_slack: Vec<u128> = columns.iter().map(|column| sum - column).collect();
    let mut padded = matrix.to_vec();
    let diagonal = (0..n).map(|rank| (rank, rank));
    let rest = (0..n).flat_map(|row| (0..n).map(move |column| (row, column)));
    for (row, column) in diagonal.chain(rest) {
        let added = row_slack[row].min(column_slack[column]);
        padded[row * n + column] += added;
        row_slack[row] -= added;
        column_slack[column] -= added;
    }
    (padded, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matchings_add_up_exactly_and_are_few(
            n in 1usize..9,
            entries in prop::collection::vec(prop_oneof![Just(0u128), 1u128..8, 1u128..1_000_000_000], 64),
        ) {
            let matrix = entries[..n * n].to_vec();
            let matchings = decompose(n, matrix.clone()).unwrap();
            prop_assert!(matchings.len() <= (n - 1) * (n - 1) + 1);
            let mut sum = vec![0; n * n];
            let mut busiest = 0;
            for matching in &matchings {
                let mut rows: Vec<usize> = matching.iter().map(|entry| entry.0).collect();
                let mut columns: Vec<usize> = matching.iter().map(|entry| entry.1).collect();
                columns.sort_unstable();
                rows.dedup();
                columns.dedup();
                prop_assert!(rows.len() == matching.len() && columns.len() == matching.len());
                for &(row, column, amount) in matching {
                    sum[row * n + column] += amount;
                }
                busiest += matching.iter().map(|entry| entry.2).max().unwrap_or(0);
            }
            prop_assert_eq!(&sum, &matrix);
            let (_, most) = fill_up(n, &matrix);
            prop_assert!(busiest <= most);
        }
    }
}
