//! Perfect matchings whose smallest weight is as large as it can be.

/// The bottleneck assignment of a square matrix whose weights only ever decrease. The part of the last matching that is
/// still good is kept.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    n: usize,
    weights: Vec<u128>,
    column_of: Vec<Option<usize>>,
    row_of: Vec<Option<usize>>,
    threshold: u128,
}

impl Bottleneck {
    /// `weights[row·n + column]`; nothing is matched yet.
    pub(crate) fn new(n: usize, weights: Vec<u128>) -> Self {
        debug_assert_eq!(weights.len(), n * n);
        let threshold = weights.iter().copied().max().unwrap_or(0);
        Self { n, weights, column_of: vec![None; n], row_of: vec![None; n], threshold }
    }

    /// Matches every row to a column so that the smallest matched weight is largest. Returns that weight
    /// and the column of every row; `None` when no perfect matching has only positive weights.
    ///
    /// The threshold method: it starts from an upper bound, the last answer, and searches augmenting paths over
    /// weights that reach it. Where a search is stuck, Hall's condition fails at that threshold, so it falls to
    /// the largest weight that leaves the searched rows. O(n²) per path, at most n paths.
    pub(crate) fn matching(&mut self) -> Option<(u128, Vec<usize>)> {
        for row in 0..self.n {
            if let Some(column) = self.column_of[row].filter(|&column| self.weight(row, column) < self.threshold) {
                self.column_of[row] = None;
                self.row_of[column] = None;
            }
        }
        for row in 0..self.n {
            interruption::check();
            if self.column_of[row].is_none() {
                self.augment(row)?;
            }
        }
        let columns: Option<Vec<usize>> = self.column_of.iter().copied().collect();
        Some((self.threshold, columns?))
    }

    /// Takes `amount` off the weight of every matched pair.
    pub(crate) fn subtract(&mut self, amount: u128) {
        for (row, column) in self.column_of.iter().enumerate() {
            if let Some(column) = column {
                self.weights[row * self.n + column] -= amount;
            }
        }
    }

    fn weight(&self, row: usize, column: usize) -> u128 {
        self.weights[row * self.n + column]
    }

    /// Matches `start` along an augmenting path, lowering the threshold as little as needed.
    fn augment(&mut self, start: usize) -> Option<()> {
        let mut widest: Vec<(u128, usize)> = (0..self.n).map(|column| (self.weight(start, column), start)).collect();
        let mut reached = vec![false; self.n];
        loop {
            interruption::check();
            // A free column at the threshold ends the search, so it goes first.
            let next = (0..self.n).filter(|&column| !reached[column]).max_by_key(|&column| {
                let width = widest[column].0.min(self.threshold);
                (width, self.row_of[column].is_none(), std::cmp::Reverse(column))
            })?;
            self.threshold = self.threshold.min(widest[next].0);
            if self.threshold == 0 {
                return None;
            }
            reached[next] = true;
            let Some(row) = self.row_of[next] else {
                self.flip(next, start, &widest);
                return Some(());
            };
            for (column, best) in widest.iter_mut().enumerate() {
                let width = self.weights[row * self.n + column];
                if width > best.0 && !reached[column] {
                    *best = (width, row);
                }
            }
        }
    }

    /// Matches along the path that ends in the free column `end`.
    fn flip(&mut self, end: usize, start: usize, widest: &[(u128, usize)]) {
        let mut column = end;
        loop {
            let row = widest[column].1;
            let before = self.column_of[row].replace(column);
            self.row_of[column] = Some(row);
            match before {
                Some(previous) if row != start => column = previous,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best_by_force(n: usize, weights: &[u128]) -> u128 {
        fn search(n: usize, weights: &[u128], row: usize, used: u32, least: u128) -> u128 {
            if row == n {
                return least;
            }
            (0..n)
                .filter(|column| used & (1 << column) == 0)
                .map(|column| search(n, weights, row + 1, used | 1 << column, least.min(weights[row * n + column])))
                .max()
                .unwrap_or(0)
        }
        search(n, weights, 0, 0, u128::MAX)
    }

    proptest! {
        #[test]
        fn the_smallest_weight_is_the_largest_possible_while_weights_fall(
            n in 1usize..6,
            seed in prop::collection::vec(0u128..40, 25),
        ) {
            let mut weights = seed[..n * n].to_vec();
            let mut bottleneck = Bottleneck::new(n, weights.clone());
            loop {
                let best = best_by_force(n, &weights);
                let Some((least, columns)) = bottleneck.matching() else {
                    prop_assert_eq!(best, 0);
                    break;
                };
                prop_assert_eq!(least, best);
                let mut sorted = columns.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..n).collect::<Vec<_>>());
                prop_assert_eq!((0..n).map(|row| weights[row * n + columns[row]]).min(), Some(least));
                for row in 0..n {
                    weights[row * n + columns[row]] -= least;
                }
                bottleneck.subtract(least);
            }
        }
    }
}
