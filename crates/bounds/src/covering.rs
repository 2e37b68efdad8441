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
    use microlp::{ComparisonOp, OptimizationDirection, Problem};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sums_by_hand() {
        assert_eq!(least_sum(&[]), 0.0);
        assert!((least_sum(&[vec![2.0, 1.0], vec![1.0, 4.0]]) - 4.0 / 7.0).abs() < 1e-12);
        // Three pairs of three: half of each.
        let pairs = [vec![1.0, 1.0, 0.0], vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0]];
        assert!((least_sum(&pairs) - 1.5).abs() < 1e-12);
    }

    /// The least sum by another solver, over the numbers themselves.
    fn by_microlp(rows: &[Vec<f64>]) -> f64 {
        let mut program = Problem::new(OptimizationDirection::Minimize);
        let numbers: Vec<_> = rows[0].iter().map(|_| program.add_var(1.0, (0.0, f64::INFINITY))).collect();
        for row in rows {
            program.add_constraint(numbers.iter().copied().zip(row.iter().copied()), ComparisonOp::Ge, 1.0);
        }
        program.solve().unwrap().into_solution().unwrap().objective()
    }

    proptest! {
        #[test]
        fn it_is_the_least_sum_of_another_solver(
            rows in (1..9_usize).prop_flat_map(|length| vec(vec(0.01..4.0_f64, length), 1..12)),
        ) {
            let (found, least) = (least_sum(&rows), by_microlp(&rows));
            prop_assert!((found - least).abs() <= 1e-7 * least, "{found} {least}");
        }
    }
}
