//! The linear program over the paths known so far: shares of the paths of each arc, least load.
//!
//! ```text
//! min L   s.t.   Σ_p x_p = 1 for each arc,   Σ_p a_op·x_p + s_o = L for each link orbit o,   x, s ≥ 0
//! ```
//!
//! Revised simplex with an explicit inverse, in which the convexity rows cost nothing: each arc has a *key*
//! path whose share is what the others leave (generalised upper bounds; Dantzig and Van Slyke 1967), so the
//! basis has one row per link orbit. It is warm when paths are added, and its prices are a row of the
//! inverse.
//!
//! Why not a library: column generation asks for columns added to a solved program and for its prices. Among the
//! pure-Rust solvers, `microlp` gives no prices and solves again after each added row, and `clarabel` starts cold and
//! stops at 1e-8. `benches/front.rs` compares.

mod pivot;

use crate::dense_inverse::DenseInverse;

/// A path as a column: what it adds to the load of each link orbit when its arc takes no other.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) arc: u32,
    /// (link orbit, load), each orbit once.
    pub(crate) entries: Vec<(u32, f64)>,
}

impl Column {
    fn length(&self, prices: &[f64]) -> f64 {
        self.entries.iter().map(|&(row, load)| prices[row as usize] * load).sum()
    }
}

/// A basic variable.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Basic {
    Load,
    Slack(u32),
    Path(u32),
}

/// Steps and pivots smaller than this are noise; loads and prices are of order 1.
const ZERO: f64 = 1e-11;
/// Pivots between checks of the residual.
const CHECK_EVERY: usize = 128;

/// The program and its basis.
#[derive(Debug)]
pub(crate) struct RestrictedMaster {
    /// Link orbits.
    rows: usize,
    columns: Vec<Column>,
    is_basic: Vec<bool>,
    /// Key path of each arc.
    key: Vec<u32>,
    /// Share of the key path of each arc.
    key_share: Vec<f64>,
    /// Positions in the basis of the other basic paths of each arc.
    others: Vec<Vec<u32>>,
    basis: Vec<Basic>,
    values: Vec<f64>,
    /// Row i belongs to `basis[i]`.
    inverse: DenseInverse,
    load_position: usize,
    /// Pivots in a row that did not lower the load.
    stalled: usize,
    /// Pivots so far.
    pivots: usize,
}

impl RestrictedMaster {
    /// Starts with one path per arc: `first[a].arc == a`.
    pub(crate) fn new(rows: usize, first: Vec<Column>) -> Self {
        let arcs = first.len();
        let mut load = vec![0.0; rows];
        for column in &first {
            for &(row, value) in &column.entries {
                load[row as usize] += value;
            }
        }
        let busiest = (0..rows).reduce(|best, row| if load[row] > load[best] { row } else { best }).unwrap_or(0);
        // The column of L is −1 in every row; the busiest row has it instead of its slack.
        let mut inverse = DenseInverse::identity(rows);
        inverse.replace(busiest, &vec![-1.0; rows]);
        let basic = |row| if row == busiest { Basic::Load } else { Basic::Slack(row as u32) };
        Self {
            rows,
            is_basic: vec![true; arcs],
            key: (0..arcs as u32).collect(),
            key_share: vec![1.0; arcs],
            others: vec![Vec::new(); arcs],
            basis: (0..rows).map(basic).collect(),
            values: (0..rows)
                .map(|row| if row == busiest { load[busiest] } else { load[busiest] - load[row] })
                .collect(),
            inverse,
            load_position: busiest,
            columns: first,
            stalled: 0,
            pivots: 0,
        }
    }

    pub(crate) fn add(&mut self, column: Column) {
        self.columns.push(column);
        self.is_basic.push(false);
    }

    /// Gives the columns away, in the order in which they were added; the program is empty then.
    pub(crate) fn take_columns(&mut self) -> Vec<Column> {
        std::mem::take(&mut self.columns)
    }

    /// Pivots made so far.
    pub(crate) fn pivots(&self) -> usize {
        self.pivots
    }

    /// Prices of a unit of load on each link orbit: not negative, sum 1. At an optimum no path of an arc is shorter
    /// under these prices than its basic ones.
    pub(crate) fn prices(&self) -> Vec<f64> {
        let mut prices: Vec<f64> = self.inverse.row(self.load_position).iter().map(|value| (-value).max(0.0)).collect();
        let sum: f64 = prices.iter().sum();
        prices.iter_mut().for_each(|price| *price /= sum);
        prices
    }

    /// Length of the key path of `arc` under `prices`.
    pub(crate) fn key_length(&self, arc: usize, prices: &[f64]) -> f64 {
        self.columns[self.key[arc] as usize].length(prices)
    }

    /// (path, share) of every path in use, shares above zero, adding up to 1 for each arc.
    pub(crate) fn shares(&self) -> Vec<(u32, f64)> {
        let mut shares = Vec::new();
        for (arc, &key) in self.key.iter().enumerate() {
            let others = self.others[arc].iter().filter_map(|&position| match self.basis[position as usize] {
                Basic::Path(path) => Some((path, self.values[position as usize])),
                Basic::Load | Basic::Slack(_) => None,
            });
            let start = shares.len();
            shares.extend(others.chain([(key, self.key_share[arc])]).filter(|&(_, share)| share > ZERO));
            let sum: f64 = shares[start..].iter().map(|&(_, share)| share).sum();
            shares[start..].iter_mut().for_each(|(_, share)| *share /= sum);
            shares[start..].sort_unstable_by_key(|&(path, _)| path);
        }
        shares
    }

    /// Load of each link orbit when paths carry `shares`.
    pub(crate) fn loads(&self, shares: &[(u32, f64)]) -> Vec<f64> {
        let mut loads = vec![0.0; self.rows];
        for &(path, share) in shares {
            for &(row, load) in &self.columns[path as usize].entries {
                loads[row as usize] += share * load;
            }
        }
        loads
    }

    /// Lowers the load until no known path is shorter than its arc's by more than `tolerance`, or numerical
    /// trouble stops it, and says so; or until this many pivots are made. The caller bounds what is left.
    pub(crate) fn solve(&mut self, tolerance: f64, most_pivots: usize) -> bool {
        let mut fresh = false;
        for pivots in 1..=most_pivots {
            interruption::check();
            let Some(entering) = self.entering(tolerance) else {
                if fresh || self.is_accurate() || !self.refactor() {
                    return true;
                }
                fresh = true;
                continue;
            };
            let moved = self.pivot(entering);
            self.pivots += 1;
            if !moved || (pivots % CHECK_EVERY == 0 && !self.is_accurate()) {
                if (fresh && !moved) || !self.refactor() {
                    return true;
                }
                fresh = true;
            } else {
                fresh = false;
            }
        }
        false
    }

    /// The column of a variable in the working basis: paths count relative to their arc's key.
    fn working_column(&self, variable: Basic) -> Vec<(u32, f64)> {
        match variable {
            Basic::Load => (0..self.rows as u32).map(|row| (row, -1.0)).collect(),
            Basic::Slack(row) => vec![(row, 1.0)],
            Basic::Path(path) => {
                let column = &self.columns[path as usize];
                let key = &self.columns[self.key[column.arc as usize] as usize];
                let mut entries = column.entries.clone();
                entries.extend(key.entries.iter().map(|&(row, load)| (row, -load)));
                entries
            }
        }
    }

    /// Minus what the key paths load each row with: the right-hand side of the working basis.
    fn right_side(&self) -> Vec<f64> {
        let mut side = vec![0.0; self.rows];
        for &key in &self.key {
            for &(row, load) in &self.columns[key as usize].entries {
                side[row as usize] -= load;
            }
        }
        side
    }

    /// Whether the basic values satisfy the rows, if need be after one step of iterative refinement.
    fn is_accurate(&mut self) -> bool {
        let accepted = |residual: &[f64], load: f64| residual.iter().all(|error| error.abs() <= ZERO * (1.0 + load));
        let residual = self.residual();
        if accepted(&residual, self.values[self.load_position]) {
            return true;
        }
        for (position, value) in self.values.iter_mut().enumerate() {
            *value += self.inverse.dot(position, &residual);
        }
        self.set_key_shares();
        accepted(&self.residual(), self.values[self.load_position])
    }

    /// The residuals of the rows with the current values.
    fn residual(&self) -> Vec<f64> {
        let mut residual = self.right_side();
        for (&variable, value) in self.basis.iter().zip(&self.values) {
            for (row, load) in self.working_column(variable) {
                residual[row as usize] -= load * value;
            }
        }
        residual
    }

    fn set_key_shares(&mut self) {
        for (share, others) in self.key_share.iter_mut().zip(&self.others) {
            *share = 1.0 - others.iter().map(|&position| self.values[position as usize]).sum::<f64>();
        }
    }

    /// Inverts the basis anew and recomputes all values. False, and nothing changed, when the basis is
    /// singular to double precision.
    fn refactor(&mut self) -> bool {
        let columns: Vec<_> = self.basis.iter().map(|&variable| self.working_column(variable)).collect();
        let Some(inverse) = DenseInverse::of(&columns) else { return false };
        self.inverse = inverse;
        let side = self.right_side();
        for (position, value) in self.values.iter_mut().enumerate() {
            *value = self.inverse.dot(position, &side);
        }
        self.set_key_shares();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Entries = Vec<(u32, f64)>;

    /// A column's entries over `rows` rows, in sixteenths.
    fn entries(rows: u32) -> impl Strategy<Value = Entries> {
        prop::collection::btree_map(0..rows, 1u32..65, 1..4)
            .prop_map(|entries| entries.into_iter().map(|(row, value)| (row, f64::from(value) / 16.0)).collect())
    }

    fn programs() -> impl Strategy<Value = (usize, Vec<Entries>, Vec<(u32, Entries)>)> {
        (1u32..9, 1usize..9).prop_flat_map(|(rows, arcs)| {
            let first = prop::collection::vec(entries(rows), arcs);
            let more = prop::collection::vec((0..arcs as u32, entries(rows)), 0..40);
            (Just(rows as usize), first, more)
        })
    }

    proptest! {
        #[test]
        fn shares_and_prices_prove_each_other_optimal((rows, first, more) in programs(), batches in 1usize..4) {
            let first = first.into_iter().enumerate().map(|(arc, entries)| Column { arc: arc as u32, entries });
            let mut master = RestrictedMaster::new(rows, first.collect());
            let mut last = f64::INFINITY;
            for batch in more.chunks(more.len() / batches + 1) {
                for (arc, entries) in batch {
                    master.add(Column { arc: *arc, entries: entries.clone() });
                }
                prop_assert!(master.solve(1e-13, 10_000));
                let shares = master.shares();
                let load = master.loads(&shares).into_iter().fold(0.0, f64::max);
                prop_assert!(load <= last + 1e-12, "a new path raised the load from {last} to {load}");
                last = load;
                for arc in 0..master.key.len() {
                    let sum: f64 = shares.iter().filter(|(path, _)| master.columns[*path as usize].arc == arc as u32)
                        .map(|(_, share)| share).sum();
                    prop_assert!((sum - 1.0).abs() < 1e-12);
                }
                let prices = master.prices();
                prop_assert!((prices.iter().sum::<f64>() - 1.0).abs() < 1e-12 && prices.iter().all(|&y| y >= 0.0));
                let mut shortest = vec![f64::INFINITY; master.key.len()];
                for column in &master.columns {
                    let best = &mut shortest[column.arc as usize];
                    *best = best.min(column.length(&prices));
                }
                let bound: f64 = shortest.iter().sum();
                prop_assert!((load - bound).abs() <= 1e-10 * load, "{load} against the bound {bound}");
                prop_assert!(master.refactor() && master.residual().iter().all(|error| error.abs() < 1e-10));
            }
        }
    }
}
