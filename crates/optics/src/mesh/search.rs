//! The cheapest path between two MZIs: A* with the distance on the grid, on all wavelengths at once.
//!
//! A state is a wavelength and a cell; a circuit keeps its wavelength. Among paths that cost the same the search
//! follows the one that is furthest on its way, and then the lowest wavelength, so that on an empty mesh it looks at
//! little more than the path.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::grid::Side;

use super::layout::Mesh;
use super::routing::Path;
use crate::circuit::Circuit;

/// Cost of a step over a free place, so that no path is cheaper than this for every step of the grid's distance.
pub(super) const STEP: u32 = 16;
/// Cost of a place that may not be used.
pub(super) const BLOCKED: u32 = u32::MAX;
/// Difference that comes from adding decibels in different orders.
pub(super) const LOSS_TOLERANCE_DB: f64 = 1e-9;

/// Searches on one mesh, which share their memory.
pub(super) struct Search<'a> {
    mesh: &'a Mesh,
    cells: usize,
    /// For each state the search that last reached it, what it cost, and the side that it was left by.
    reached: Vec<u32>,
    cost: Vec<u32>,
    came_by: Vec<u8>,
    searches: u32,
    states: u64,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'a> Search<'a> {
    pub fn new(mesh: &'a Mesh) -> Self {
        let cells = mesh.grid().cells() as usize;
        let states = cells * mesh.wavelengths() as usize;
        Self {
            mesh,
            cells,
            reached: vec![0; states],
            cost: vec![0; states],
            came_by: vec![0; states],
            searches: 0,
            states: 0,
            queue: BinaryHeap::new(),
        }
    }

    /// States that all searches have looked at so far.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The cheapest path of a circuit; `cost` says what a place costs, at least [`STEP`], or [`BLOCKED`]. The mesh's
    /// limit on the loss is kept where `limited`. O(states · log states), or for each loss that a path may have where
    /// it is limited.
    pub fn cheapest(&mut self, circuit: Circuit, limited: bool, cost: impl Fn(usize) -> u32) -> Option<Path> {
        match self.mesh.limit_db() {
            Some(limit_db) if limited && self.mesh.settings().max_loss_db.is_some() => {
                self.within(circuit, limit_db, cost)
            }
            // Few paths need more than a laser gives: the cheapest of all is mostly one that does not.
            Some(limit_db) if limited => {
                let path = self.unlimited(circuit, &cost)?;
                let loss_db = self.mesh.passed(&path.cells).map_or(f64::INFINITY, |passed| self.mesh.loss_db(passed));
                if loss_db <= limit_db { Some(path) } else { self.within(circuit, limit_db, cost) }
            }
            _ => self.unlimited(circuit, cost),
        }
    }

    fn unlimited(&mut self, circuit: Circuit, cost: impl Fn(usize) -> u32) -> Option<Path> {
        let grid = self.mesh.grid();
        let (rows, columns, cells) = (grid.rows(), grid.columns(), self.cells as u32);
        let (goal_row, goal_column) = grid.place(circuit.destination);
        self.searches += 1;
        self.queue.clear();
        let key = |cost: u32, row: u32, column: u32| {
            let ahead = STEP * (row.abs_diff(goal_row) + column.abs_diff(goal_column));
            u64::from(cost.saturating_add(ahead)) << 32 | u64::from(u32::MAX - cost)
        };
        let (row, column) = grid.place(circuit.source);
        for wavelength in 0..self.mesh.wavelengths() {
            let state = wavelength * cells + circuit.source;
            self.reached[state as usize] = self.searches;
            self.cost[state as usize] = 0;
            self.queue.push(Reverse((key(0, row, column), state)));
        }
        while let Some(Reverse((place_in_queue, state))) = self.queue.pop() {
            let here = self.cost[state as usize];
            if place_in_queue as u32 != u32::MAX - here {
                continue;
            }
            self.states += 1;
            let cell = state % cells;
            if cell == circuit.destination {
                return Some(self.path(circuit.source, state));
            }
            let (row, column) = (cell / columns, cell % columns);
            for side in Side::ALL {
                let (next, row, column) = match side {
                    Side::North if row > 0 => (state - columns, row - 1, column),
                    Side::East if column + 1 < columns => (state + 1, row, column + 1),
                    Side::South if row + 1 < rows => (state + columns, row + 1, column),
                    Side::West if column > 0 => (state - 1, row, column - 1),
                    _ => continue,
                };
                let step = cost(state as usize * 4 + side.index());
                if step == BLOCKED {
                    continue;
                }
                let (total, at) = (here.saturating_add(step), next as usize);
                if self.reached[at] != self.searches || total < self.cost[at] {
                    self.reached[at] = self.searches;
                    self.cost[at] = total;
                    self.came_by[at] = side.index() as u8;
                    self.queue.push(Reverse((key(total, row, column), next)));
                }
            }
        }
        None
    }

    fn path(&self, source: u32, mut state: u32) -> Path {
        let wavelength = state / self.cells as u32;
        let first = wavelength * self.cells as u32;
        let mut cells = vec![state - first];
        while state - first != source {
            let back = Side::ALL[usize::from(self.came_by[state as usize])].opposite();
            let Some(before) = self.mesh.grid().beside(state - first, back) else { break };
            state = first + before;
            cells.push(before);
        }
        cells.reverse();
        Path { wavelength, cells }
    }

    /// The cheapest path that loses at most `limit_db`: of the ways to a state, those are kept of which no other is
    /// both cheaper and loses less.
    fn within(&mut self, circuit: Circuit, limit_db: f64, cost: impl Fn(usize) -> u32) -> Option<Path> {
        let grid = self.mesh.grid();
        let mut ways: Vec<Way> = Vec::new();
        // Ways leave the queue in the order of their cost at each state, so that only a smaller loss is news.
        let mut least_db = vec![f64::INFINITY; self.reached.len()];
        let mut queue = BinaryHeap::new();
        let key = |way: &Way, cell: u32| {
            let total = way.cost.saturating_add(STEP * grid.distance(cell, circuit.destination));
            u64::from(total) << 32 | u64::from(u32::MAX - way.cost)
        };
        let fits = |loss_db: f64, cell: u32| {
            loss_db + self.mesh.least_loss_db(cell, circuit.destination) <= limit_db + LOSS_TOLERANCE_DB
        };
        if !fits(0.0, circuit.source) {
            return None;
        }
        for wavelength in 0..self.mesh.wavelengths() {
            let state = wavelength * self.cells as u32 + circuit.source;
            let way = Way { state, cost: 0, loss_db: 0.0, before: usize::MAX };
            queue.push(Reverse((key(&way, circuit.source), ways.len())));
            ways.push(way);
        }
        while let Some(Reverse((_, index))) = queue.pop() {
            let way = ways[index];
            let cell = way.state % self.cells as u32;
            if way.loss_db >= least_db[way.state as usize] {
                continue;
            }
            least_db[way.state as usize] = way.loss_db;
            self.states += 1;
            if cell == circuit.destination {
                let mut cells = vec![cell];
                let mut before = way.before;
                while let Some(earlier) = ways.get(before) {
                    cells.push(earlier.state % self.cells as u32);
                    before = earlier.before;
                }
                cells.reverse();
                return Some(Path { wavelength: way.state / self.cells as u32, cells });
            }
            for side in Side::ALL {
                let Some(other) = grid.beside(cell, side) else { continue };
                let step = cost(way.state as usize * 4 + side.index());
                let loss_db = way.loss_db + self.mesh.loss_db(self.mesh.passes(cell, side));
                let state = way.state - cell + other;
                if step == BLOCKED || !fits(loss_db, other) || loss_db >= least_db[state as usize] {
                    continue;
                }
                let next = Way { state, cost: way.cost.saturating_add(step), loss_db, before: index };
                queue.push(Reverse((key(&next, other), ways.len())));
                ways.push(next);
            }
        }
        None
    }

    /// The least that a circuit loses on an empty mesh; `None` where no path joins its ends.
    pub fn least_loss_db(&self, circuit: Circuit) -> Option<f64> {
        interruption::check();
        let grid = self.mesh.grid();
        let mut least_db = vec![f64::INFINITY; self.cells];
        let mut queue = BinaryHeap::from([Reverse((0_u64, circuit.source))]);
        least_db[circuit.source as usize] = 0.0;
        while let Some(Reverse((bits, cell))) = queue.pop() {
            let here_db = f64::from_bits(bits);
            if cell == circuit.destination {
                return Some(here_db);
            }
            if here_db > least_db[cell as usize] {
                continue;
            }
            for side in Side::ALL {
                let Some(other) = grid.beside(cell, side).filter(|_| self.mesh.lanes(cell, side) > 0) else { continue };
                let loss_db = here_db + self.mesh.loss_db(self.mesh.passes(cell, side));
                if loss_db < least_db[other as usize] {
                    least_db[other as usize] = loss_db;
                    // Bits of numbers that are not negative are in the order of the numbers.
                    queue.push(Reverse((loss_db.to_bits(), other)));
                }
            }
        }
        None
    }
}

/// A way from the source to a state.
#[derive(Clone, Copy)]
struct Way {
    state: u32,
    cost: u32,
    loss_db: f64,
    before: usize,
}
