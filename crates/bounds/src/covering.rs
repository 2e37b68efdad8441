//! The least sum of numbers L_i ≥ 0 with Σ_i a_ri·L_i ≥ 1 for every row r, where no a_ri is negative.
//!
//! Prices y_r ≥ 0 of the rows with Σ_r a_ri·y_r ≤ 1 for every i show that the sum is at least Σ_r y_r. They are improved
//! by the simplex method from none on; whenever it ends, what it has is a bound.

use crate::cutoffs::covering::MOST_PIVOTS;

/// Entries below this are rounding.
const NONE: f64 = 1e-9;

/// A lower bound on the sum, and up to rounding the least. `rows` are of equal length.
pub(crate) fn least_sum(rows: &[Vec<f64>]) -> f64 {
    prices(rows).iter().sum()
}

/// The prices that show it. O(rows · length) a pivot.
pub(crate) fn prices(rows: &[Vec<f64>]) -> Vec<f64> {
    let Some(length) = rows.first().map(Vec::len) else { return Vec::new() };
    let prices = rows.len();
    // A line for each i: a price's entries, slacks, and the right side; the last line has what a price still gains.
    let width = prices + length + 1;
    let mut lines: Vec<Vec<f64>> = (0..length)
        .map(|line| {
            let mut entries: Vec<f64> = rows.iter().map(|row| row[line]).collect();
            entries.extend((0..length).map(|slack| f64::from(slack == line)));
            entries.push(1.0);
            entries
        })
        .collect();
    let mut gains: Vec<f64> = (0..width).map(|at| f64::from(at < prices)).collect();
    let mut basis: Vec<usize> = (prices..prices + length).collect();
    for _ in 0..MOST_PIVOTS {
        let entering = (0..width - 1).max_by(|&a, &b| gains[a].total_cmp(&gains[b]).then(b.cmp(&a)));
        let Some(entering) = entering.filter(|&at| gains[at] > NONE) else { break };
        let limit = |line: &usize| lines[*line][width - 1] / lines[*line][entering];
        let leaving = (0..length).filter(|&line| lines[line][entering] > NONE);
        let Some(leaving) = leaving.min_by(|a, b| limit(a).total_cmp(&limit(b))) else { break };
        let scale = 1.0 / lines[leaving][entering];
        lines[leaving].iter_mut().for_each(|entry| *entry *= scale);
        let pivot = lines[leaving].clone();
        let others = lines.iter_mut().enumerate().filter(|(line, _)| *line != leaving).map(|(_, line)| line);
        for line in others.chain([&mut gains]) {
            let times = line[entering];
            if times != 0.0 {
                line.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= times * pivot);
            }
        }
        basis[leaving] = entering;
    }
    let mut paid = vec![0.0; prices];
    for (line, &at) in basis.iter().enumerate().filter(|(_, at)| **at < prices) {
        paid[at] = lines[line][width - 1].max(0.0);
    }
    // What rounding has left above one is divided out, so that the prices are a proof.
    let most = |at: usize| rows.iter().zip(&paid).map(|(row, price)| row[at] * price).sum::<f64>();
    let most = (0..length).map(most).fold(1.0, f64::max);
    paid.iter().map(|price| price / most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_hand() {
        assert_eq!(least_sum(&[]), 0.0);
        assert!((least_sum(&[vec![2.0, 1.0], vec![1.0, 4.0]]) - 4.0 / 7.0).abs() < 1e-12);
        // Three pairs of three: half of each.
        let pairs = [vec![1.0, 1.0, 0.0], vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0]];
        assert!((least_sum(&pairs) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn every_choice_that_covers_is_above() {
        // Rows whose entries repeat without a pattern; the cover of equal numbers that suffices is above.
        for seed in 1..40_u32 {
            let entry = |row: u32, at: u32| f64::from((seed * (7 * row + 3) + 11 * at * at) % 13) / 4.0;
            let rows: Vec<Vec<f64>> = (0..6).map(|row| (0..5).map(|at| entry(row, at) + 0.25).collect()).collect();
            let found = least_sum(&rows);
            let equal = rows.iter().map(|row| 5.0 / row.iter().sum::<f64>()).fold(0.0, f64::max);
            let alone = rows.iter().map(|row| 1.0 / row.iter().copied().fold(0.0, f64::max)).fold(0.0, f64::max);
            assert!(found <= equal + 1e-9 && found >= alone - 1e-9, "{seed}: {alone} {found} {equal}");
        }
    }
}
