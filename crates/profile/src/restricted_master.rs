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
//! Why not a library: column generation asks for columns added to a solved program and for its prices.
//! Of the pure-Rust solvers, `microlp` gives no prices and solves again after each added row, and `clarabel`
//! starts cold and stops at 1e-8. `benches/front.rs` compares.

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

/// What becomes basic: a variable of the working basis.
#[derive(Debug, Clone, Copy)]
enum Leaving {
    Position(usize),
    Key(u32),
}

/// Steps and pivots smaller than this are noise; loads and prices are of order 1.
const ZERO: f64 = 1e-11;
/// Pivot elements below this would spoil the inverse.
const SMALLEST_PIVOT: f64 = 1e-9;
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
    inverse: Vec<f64>,
    load_position: usize,
    /// Pivots in a row that did not lower the load.
    stalled: usize,
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
        let mut inverse = vec![0.0; rows * rows];
        for row in 0..rows {
            inverse[row * rows + row] = 1.0;
            inverse[row * rows + busiest] = -1.0;
        }
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
        }
    }

    pub(crate) fn add(&mut self, column: Column) {
        self.columns.push(column);
        self.is_basic.push(false);
    }

    /// What a unit of load on each link orbit costs: not negative, sum 1. At an optimum no path of an arc is
    /// shorter under these prices than its basic ones.
    pub(crate) fn prices(&self) -> Vec<f64> {
        let row = &self.inverse[self.load_position * self.rows..][..self.rows];
        let mut prices: Vec<f64> = row.iter().map(|value| (-value).max(0.0)).collect();
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

    /// Lowers the load until no known path is shorter than its arc's by more than `tolerance`, or until
    /// numerical trouble or a limit on pivots stops it; the caller bounds what is left either way.
    pub(crate) fn solve(&mut self, tolerance: f64) {
        let limit = 20_000 + 50 * (self.rows + self.columns.len());
        self.stalled = 0;
        let mut fresh = false;
        for pivots in 1..=limit {
            let Some(entering) = self.entering(tolerance) else {
                if fresh || self.is_accurate() || !self.refactor() {
                    return;
                }
                fresh = true;
                continue;
            };
            let moved = self.pivot(entering);
            if !moved || (pivots % CHECK_EVERY == 0 && !self.is_accurate()) {
                if (fresh && !moved) || !self.refactor() {
                    return;
                }
                fresh = true;
            } else {
                fresh = false;
            }
        }
    }

    /// The slack or path that would lower the load fastest; the first one after a long stall, which cannot
    /// cycle (Bland's rule).
    fn entering(&self, tolerance: f64) -> Option<Basic> {
        let first = self.stalled > 2 * self.rows + 100;
        let prices: Vec<f64> =
            self.inverse[self.load_position * self.rows..][..self.rows].iter().map(|value| -value).collect();
        let mut best = (0.0, None);
        for (row, price) in prices.iter().enumerate() {
            if -price > ZERO && -price > best.0 {
                best = (-price, Some(Basic::Slack(row as u32)));
                if first {
                    return best.1;
                }
            }
        }
        let lengths: Vec<f64> = (0..self.key.len()).map(|arc| self.key_length(arc, &prices)).collect();
        for (index, column) in self.columns.iter().enumerate() {
            if self.is_basic[index] {
                continue;
            }
            let gain = lengths[column.arc as usize] - column.length(&prices);
            if gain > tolerance && gain > best.0 {
                best = (gain, Some(Basic::Path(index as u32)));
                if first {
                    return best.1;
                }
            }
        }
        best.1
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

    fn arc_of(&self, variable: Basic) -> Option<usize> {
        if let Basic::Path(path) = variable { Some(self.columns[path as usize].arc as usize) } else { None }
    }

    /// Brings `entering` into the basis. False when no acceptable pivot exists.
    fn pivot(&mut self, entering: Basic) -> bool {
        let column = self.working_column(entering);
        let mut change: Vec<f64> = self
            .inverse
            .chunks_exact(self.rows)
            .map(|row| column.iter().map(|&(index, value)| row[index as usize] * value).sum())
            .collect();
        let arc = self.arc_of(entering);
        // How fast each key's share falls: what its arc's other shares and the entering one gain.
        let key_change: Vec<f64> = self
            .others
            .iter()
            .enumerate()
            .map(|(index, others)| {
                let lost: f64 = others.iter().map(|&position| change[position as usize]).sum();
                f64::from(u8::from(arc == Some(index))) - lost
            })
            .collect();
        let Some((leaving, step)) = self.leaving(&change, &key_change) else { return false };
        for (value, change) in self.values.iter_mut().zip(&change) {
            *value -= step * change;
        }
        for (share, change) in self.key_share.iter_mut().zip(&key_change) {
            *share -= step * change;
        }
        self.stalled = if step * change[self.load_position] > ZERO { 0 } else { self.stalled + 1 };
        let position = match leaving {
            Leaving::Position(position) => position,
            Leaving::Key(of) if self.others[of as usize].is_empty() => {
                // Only the entering path can push out the only path of an arc; the basis keeps its columns.
                let Basic::Path(path) = entering else { return false };
                self.is_basic[self.key[of as usize] as usize] = false;
                self.is_basic[path as usize] = true;
                self.key[of as usize] = path;
                self.key_share[of as usize] = step;
                return true;
            }
            Leaving::Key(of) => {
                let position = self.exchange_key(of as usize);
                change[position] = key_change[of as usize];
                position
            }
        };
        self.replace(position, entering, step, &change);
        true
    }

    /// The basic variable that reaches zero first and the step to it; among near ties the one with the
    /// largest pivot element (Harris 1973).
    fn leaving(&self, change: &[f64], key_change: &[f64]) -> Option<(Leaving, f64)> {
        let positions = (0..self.rows)
            .filter(|&position| position != self.load_position)
            .map(|position| (Leaving::Position(position), self.values[position], change[position]));
        let keys = (0..self.key.len()).map(|arc| (Leaving::Key(arc as u32), self.key_share[arc], key_change[arc]));
        let candidates: Vec<(Leaving, f64, f64)> =
            positions.chain(keys).filter(|&(_, _, change)| change > SMALLEST_PIVOT).collect();
        let reach = candidates.iter().map(|&(_, value, change)| (value.max(0.0) + ZERO) / change).reduce(f64::min)?;
        let mut best: Option<(Leaving, f64, f64)> = None;
        for (leaving, value, change) in candidates {
            let ratio = value.max(0.0) / change;
            if ratio <= reach && best.is_none_or(|(_, _, largest)| change > largest) {
                best = Some((leaving, ratio, change));
            }
        }
        best.map(|(leaving, step, _)| (leaving, step))
    }

    /// Makes the other basic path of `arc` with the largest share its key. The old key takes its position,
    /// which is returned.
    fn exchange_key(&mut self, arc: usize) -> usize {
        let others = &self.others[arc];
        let mut position = others[0] as usize;
        for &other in others {
            if self.values[other as usize] > self.values[position] {
                position = other as usize;
            }
        }
        // With the new key, position's column turns into its negative and it is taken from the other
        // columns of the arc; the inverse changes in this one row.
        let rows = self.rows;
        for column in 0..rows {
            let sum: f64 = others.iter().map(|&other| self.inverse[other as usize * rows + column]).sum();
            self.inverse[position * rows + column] = -sum;
        }
        if let Basic::Path(path) = self.basis[position] {
            self.basis[position] = Basic::Path(self.key[arc]);
            self.key[arc] = path;
        }
        std::mem::swap(&mut self.values[position], &mut self.key_share[arc]);
        position
    }

    /// The pivot proper: `entering` takes `position`, whose variable has just reached zero.
    fn replace(&mut self, position: usize, entering: Basic, step: f64, change: &[f64]) {
        let rows = self.rows;
        if let Basic::Path(path) = self.basis[position] {
            let arc = self.columns[path as usize].arc as usize;
            self.is_basic[path as usize] = false;
            self.others[arc].retain(|&other| other as usize != position);
        }
        let pivot_row: Vec<f64> =
            self.inverse[position * rows..][..rows].iter().map(|value| value / change[position]).collect();
        for (index, row) in self.inverse.chunks_exact_mut(rows).enumerate() {
            let factor = change[index];
            if index == position {
                row.copy_from_slice(&pivot_row);
            } else if factor != 0.0 {
                row.iter_mut().zip(&pivot_row).for_each(|(value, pivot)| *value -= factor * pivot);
            }
        }
        self.basis[position] = entering;
        self.values[position] = step;
        if let Basic::Path(path) = entering {
            self.is_basic[path as usize] = true;
            self.others[self.columns[path as usize].arc as usize].push(position as u32);
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
        for (value, row) in self.values.iter_mut().zip(self.inverse.chunks_exact(self.rows)) {
            *value += row.iter().zip(&residual).map(|(inverse, error)| inverse * error).sum::<f64>();
        }
        self.set_key_shares();
        accepted(&self.residual(), self.values[self.load_position])
    }

    /// What the rows lack with the current values.
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

    /// Inverts the basis anew (Gauss–Jordan, partial pivoting) and recomputes all values. False, and
    /// nothing changed, when the basis is singular to double precision.
    fn refactor(&mut self) -> bool {
        let n = self.rows;
        let width = 2 * n;
        let mut work = vec![0.0; n * width];
        for (position, &variable) in self.basis.iter().enumerate() {
            for (row, load) in self.working_column(variable) {
                work[row as usize * width + position] += load;
            }
            work[position * width + n + position] = 1.0;
        }
        for column in 0..n {
            let size = |row: usize, work: &[f64]| work[row * width + column].abs();
            let best = (column..n).reduce(|a, b| if size(b, &work) > size(a, &work) { b } else { a }).unwrap_or(column);
            if size(best, &work) < ZERO {
                return false;
            }
            if best != column {
                let (low, high) = work.split_at_mut(best * width);
                low[column * width..][..width].swap_with_slice(&mut high[..width]);
            }
            let pivot: Vec<f64> = {
                let row = &mut work[column * width..][..width];
                let scale = row[column];
                row.iter_mut().for_each(|value| *value /= scale);
                row.to_vec()
            };
            for (index, row) in work.chunks_exact_mut(width).enumerate() {
                let factor = row[column];
                if index != column && factor != 0.0 {
                    row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
                }
            }
        }
        for (target, row) in self.inverse.chunks_exact_mut(n).zip(work.chunks_exact(width)) {
            target.copy_from_slice(&row[n..]);
        }
        let side = self.right_side();
        for (value, row) in self.values.iter_mut().zip(self.inverse.chunks_exact(n)) {
            *value = row.iter().zip(&side).map(|(inverse, side)| inverse * side).sum();
        }
        self.set_key_shares();
        true
    }
}
