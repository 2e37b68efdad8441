//! Columns in the order of their arcs, entries one after the other.

use std::ops::Range;

use crate::restricted_master::Column;

/// Positions of the columns of each arc, and their entries.
#[derive(Debug)]
pub(super) struct Layout {
    /// First place of each arc's columns, and the end of the last.
    arc_starts: Vec<u32>,
    /// Per place: its column.
    column_at: Vec<u32>,
    /// First entry of each place, and the end of the last.
    entry_starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Layout {
    /// O(entries of all columns).
    pub(super) fn new(arcs: usize, columns: &[Column]) -> Self {
        let mut arc_starts = vec![0; arcs + 1];
        for column in columns {
            arc_starts[column.arc as usize + 1] += 1;
        }
        for arc in 0..arcs {
            arc_starts[arc + 1] += arc_starts[arc];
        }
        let mut free = arc_starts.clone();
        let mut column_at = vec![0; columns.len()];
        for (index, column) in columns.iter().enumerate() {
            let place = &mut free[column.arc as usize];
            column_at[*place as usize] = index as u32;
            *place += 1;
        }
        let mut entry_starts = Vec::with_capacity(columns.len() + 1);
        entry_starts.push(0);
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for &index in &column_at {
            for &(row, value) in &columns[index as usize].entries {
                rows.push(row);
                values.push(value);
            }
            entry_starts.push(rows.len() as u32);
        }
        Self { arc_starts, column_at, entry_starts, rows, values }
    }

    pub(super) fn arcs(&self) -> usize {
        self.arc_starts.len() - 1
    }

    pub(super) fn columns(&self) -> usize {
        self.column_at.len()
    }

    pub(super) fn entries(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn largest_entry(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// The places of each arc's columns.
    pub(super) fn places(&self) -> impl Iterator<Item = Range<usize>> {
        self.arc_starts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// Values by column, by place.
    pub(super) fn placed(&self, by_column: &[f64]) -> Vec<f64> {
        self.column_at.iter().map(|&column| by_column[column as usize]).collect()
    }

    /// Values by place, by column; zero for columns up to `columns` that have no place yet.
    pub(super) fn by_column(&self, placed: &[f64], columns: usize) -> Vec<f64> {
        let mut by_column = vec![0.0; columns];
        for (&column, &value) in self.column_at.iter().zip(placed) {
            by_column[column as usize] = value;
        }
        by_column
    }

    /// Rows and values of the entries between two ends.
    #[inline]
    fn entries_at(&self, ends: &[u32]) -> (&[u32], &[f64]) {
        let range = ends[0] as usize..ends[1] as usize;
        (&self.rows[range.clone()], &self.values[range])
    }

    /// Length of the column at each place under `prices`.
    pub(super) fn lengths(&self, prices: &[f64], lengths: &mut [f64]) {
        for (length, ends) in lengths.iter_mut().zip(self.entry_starts.windows(2)) {
            let (rows, values) = self.entries_at(ends);
            let mut sum = 0.0;
            for (&row, &value) in rows.iter().zip(values) {
                sum += prices[row as usize] * value;
            }
            *length = sum;
        }
    }

    /// Loads of this many rows when columns have `shares`.
    pub(super) fn loads(&self, shares: &[f64], rows: usize) -> Vec<f64> {
        let mut loads = vec![0.0; rows];
        self.set_loads(shares, &mut loads);
        loads
    }

    /// Writes the loads of the rows when columns have `shares` into `loads`, replacing its content.
    pub(super) fn set_loads(&self, shares: &[f64], loads: &mut [f64]) {
        loads.fill(0.0);
        for (&share, ends) in shares.iter().zip(self.entry_starts.windows(2)) {
            if share != 0.0 {
                let (rows, values) = self.entries_at(ends);
                for (&row, &value) in rows.iter().zip(values) {
                    loads[row as usize] += share * value;
                }
            }
        }
    }

    /// The length of every arc's shortest column.
    pub(super) fn shortest(&self, prices: &[f64]) -> Vec<f64> {
        let mut lengths = vec![0.0; self.columns()];
        self.lengths(prices, &mut lengths);
        self.places().map(|places| lengths[places].iter().copied().fold(f64::INFINITY, f64::min)).collect()
    }
}
