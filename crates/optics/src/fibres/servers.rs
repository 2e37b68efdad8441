//! Servers on a grid, and what the edges between them carry.

use model::{Error, Result};

use crate::grid::{Grid, Side};

/// The circuit that one fibre of an edge carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fibre {
    /// Light in one direction: an edge has fibres of its own in each, as in algorithm 4, whose edges (u, v) are
    /// directed.
    OneWay,
    /// Light in both: circuits in either direction count together.
    BothWays,
}

/// Servers on a grid, each joined to its neighbours by fibres, some of which carry circuits already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    grid: Grid,
    fibre: Fibre,
    /// Circuits already there, by index of edge.
    existing: Vec<u32>,
}

impl Servers {
    /// Servers on a grid; `existing` lists (from, to, circuits already there) of edges, which add up.
    ///
    /// # Errors
    /// An edge that the grid does not have; names `existing`.
    pub fn new(grid: Grid, fibre: Fibre, existing: &[(u32, u32, u32)]) -> Result<Self> {
        let mut servers = Self { grid, fibre, existing: vec![0; grid.cells() as usize * 4] };
        for (index, &(from, to, circuits)) in existing.iter().enumerate() {
            let inside = from < grid.cells() && to < grid.cells() && circuits < 1 << 24;
            let side = if inside { grid.side_towards(from, to) } else { None };
            let Some(side) = side else {
                let value = format!("({from}, {to}, {circuits})");
                let accepts = format!("two neighbours of the {grid} servers, and fewer than {} circuits", 1 << 24);
                return Err(Error::value(&format!("existing[{index}]"), value, accepts));
            };
            let edge = servers.edge(from, side);
            servers.existing[edge] += circuits;
        }
        Ok(servers)
    }

    /// The servers.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The circuit that one fibre carries.
    pub fn fibre(&self) -> Fibre {
        self.fibre
    }

    /// Circuits already on each edge, by index.
    pub fn existing(&self) -> &[u32] {
        &self.existing
    }

    /// Index of the edge by which a server is left; both directions have one where a fibre carries both.
    pub fn edge(&self, server: u32, side: Side) -> usize {
        let backwards = matches!(side, Side::North | Side::West) && self.fibre == Fibre::BothWays;
        match self.grid.beside(server, side) {
            Some(other) if backwards => other as usize * 4 + side.opposite().index(),
            _ => server as usize * 4 + side.index(),
        }
    }
}
