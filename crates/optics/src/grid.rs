//! A grid of cells in rows and columns: MZIs of an interposer, tiles, interposers, servers.

use std::fmt;

pub(crate) use crate::cutoffs::grid::MOST;
use model::{Error, Result};

/// A side of a cell, and so the direction of what leaves it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Towards row 0.
    North,
    /// Towards the last column.
    East,
    /// Towards the last row.
    South,
    /// Towards column 0.
    West,
}

impl Side {
    /// All four sides, in the order of their indices.
    pub const ALL: [Self; 4] = [Self::North, Self::East, Self::South, Self::West];

    /// The place of this side in [`Side::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The side on which a neighbour meets this one.
    pub fn opposite(self) -> Self {
        Self::ALL[(self.index() + 2) % 4]
    }

    /// The name of this side.
    pub fn name(self) -> &'static str {
        ["north", "east", "south", "west"][self.index()]
    }
}

/// Cells in rows and columns, numbered row by row from 0, each next to at most four others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    rows: u32,
    columns: u32,
}

impl Grid {
    /// A grid of this many rows and columns.
    ///
    /// # Errors
    /// A number outside 1 to 4096; names `field`.
    pub fn new(field: &str, rows: u32, columns: u32) -> Result<Self> {
        if (1..=MOST).contains(&rows) && (1..=MOST).contains(&columns) {
            return Ok(Self { rows, columns });
        }
        Err(Error::value(field, format!("{rows}x{columns}"), accepts()))
    }

    /// The grid that is written `ROWSxCOLUMNS`.
    ///
    /// # Errors
    /// Any other text; names `field`.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let shown: String = text.chars().take(60).collect();
        let refuse = || Error::value(field, format!("`{shown}`"), accepts());
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().map_err(|_| refuse()),
            false => Err(refuse()),
        };
        let (rows, columns) = text.split_once('x').ok_or_else(refuse)?;
        Self::new(field, number(rows)?, number(columns)?)
    }

    /// Number of rows.
    pub fn rows(self) -> u32 {
        self.rows
    }

    /// Number of columns.
    pub fn columns(self) -> u32 {
        self.columns
    }

    /// Number of cells.
    pub fn cells(self) -> u32 {
        self.rows * self.columns
    }

    /// Row and column of a cell.
    pub fn place(self, cell: u32) -> (u32, u32) {
        (cell / self.columns, cell % self.columns)
    }

    /// The cell in a row and a column.
    pub fn cell(self, row: u32, column: u32) -> u32 {
        row * self.columns + column
    }

    /// The cell next to one, if the grid goes on there.
    pub fn beside(self, cell: u32, side: Side) -> Option<u32> {
        let (row, column) = self.place(cell);
        match side {
            Side::North => row.checked_sub(1).map(|row| self.cell(row, column)),
            Side::East => (column + 1 < self.columns).then_some(cell + 1),
            Side::South => (row + 1 < self.rows).then_some(cell + self.columns),
            Side::West => column.checked_sub(1).map(|column| self.cell(row, column)),
        }
    }

    /// The side of `from` on which `to` is, where they are next to each other.
    pub fn side_towards(self, from: u32, to: u32) -> Option<Side> {
        if to == from + self.columns {
            return Some(Side::South);
        }
        if from == to + self.columns {
            return Some(Side::North);
        }
        if from.abs_diff(to) != 1 || from / self.columns != to / self.columns {
            return None;
        }
        Some(if to > from { Side::East } else { Side::West })
    }

    /// The least number of steps from cell to cell.
    pub fn distance(self, from: u32, to: u32) -> u32 {
        let (a, b) = (self.place(from), self.place(to));
        a.0.abs_diff(b.0) + a.1.abs_diff(b.1)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}x{}", self.rows, self.columns)
    }
}

fn accepts() -> String {
    format!("ROWSxCOLUMNS, such as 16x16, each from 1 to {MOST}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_meet_on_opposite_sides() {
        let grid = Grid::new("grid", 3, 4).unwrap();
        let mut pairs = 0;
        for cell in 0..grid.cells() {
            for side in Side::ALL {
                if let Some(other) = grid.beside(cell, side) {
                    assert_eq!(grid.beside(other, side.opposite()), Some(cell));
                    assert_eq!((grid.side_towards(cell, other), grid.distance(cell, other)), (Some(side), 1));
                    pairs += 1;
                }
            }
        }
        assert_eq!(pairs, 2 * (3 * 3 + 2 * 4));
    }

    #[test]
    fn text_is_rows_by_columns() {
        assert_eq!(Grid::parse("mesh", "16x8").unwrap(), Grid::new("mesh", 16, 8).unwrap());
        for wrong in ["", "16", "x", "16x", "0x4", "4x5000", "+4x4", "4x4x4", "99999999999x1"] {
            assert!(Grid::parse("mesh", wrong).unwrap_err().to_string().starts_with("mesh: "), "{wrong}");
        }
    }
}
