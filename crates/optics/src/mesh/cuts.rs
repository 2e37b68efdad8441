//! Cuts: sets of cells that more circuits have to leave than there are places to leave by. One of them proves that the
//! circuits cannot be routed at once, on any paths and wavelengths.

use std::fmt;

use model::counted;

use crate::grid::{Grid, Side};

use super::layout::Mesh;
use crate::circuit::Circuit;
use crate::cutoffs::mesh_cuts::{MOST_GROWN, MOST_RECTANGLE_WORK};

/// A set of cells that more circuits have to leave than there are places to leave by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The cells, in order.
    pub inside: Vec<u32>,
    /// Circuits from inside to outside.
    pub circuits: u64,
    /// Places, that is (waveguide or fibre, wavelength), from inside to outside.
    pub places: u64,
    /// The grid that the cells are of.
    pub grid: Grid,
}

impl Cut {
    /// The cut around cells; `None` where the circuits may all leave.
    fn around(mesh: &Mesh, circuits: &[Circuit], inside: &[bool]) -> Option<Self> {
        let leaving = circuits.iter().filter(|circuit| leaves(**circuit, inside)).count() as u64;
        let grid = mesh.grid();
        let cells: Vec<u32> = (0..grid.cells()).filter(|&cell| inside[cell as usize]).collect();
        let mut lanes = 0;
        for &cell in &cells {
            for side in Side::ALL {
                if grid.beside(cell, side).is_some_and(|other| !inside[other as usize]) {
                    lanes += u64::from(mesh.lanes(cell, side));
                }
            }
        }
        let places = lanes * u64::from(mesh.wavelengths());
        (leaving > places).then_some(Self { inside: cells, circuits: leaving, places, grid })
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<(u32, u32)> = self.inside.iter().map(|&cell| self.grid.place(cell)).collect();
        let rows = (places.iter().map(|at| at.0).min(), places.iter().map(|at| at.0).max());
        let columns = (places.iter().map(|at| at.1).min(), places.iter().map(|at| at.1).max());
        let cells = match (rows, columns) {
            ((Some(top), Some(bottom)), (Some(left), Some(right))) => {
                let span = |word: &str, first: u32, last: u32| match first == last {
                    true => format!("{word} {first}"),
                    false => format!("{word}s {first} to {last}"),
                };
                let (rows, columns) = (span("row", top, bottom), span("column", left, right));
                let all_rows = top == 0 && bottom + 1 == self.grid.rows();
                let all_columns = left == 0 && right + 1 == self.grid.columns();
                let filled = self.inside.len() as u32 == (bottom + 1 - top) * (right + 1 - left);
                match (filled, all_rows, all_columns) {
                    (false, ..) => format!(
                        "{} in {rows}, {columns} (MZI {} first)",
                        counted(self.inside.len() as u64, "MZI"),
                        self.inside[0]
                    ),
                    (true, true, false) => columns,
                    (true, false, true) => rows,
                    _ => format!("{rows}, {columns}"),
                }
            }
            _ => "no cell".into(),
        };
        write!(
            out,
            "{} must leave {cells}, and the waveguides out of there carry at most {}",
            counted(self.circuits, "circuit"),
            self.places
        )
    }
}

fn leaves(circuit: Circuit, inside: &[bool]) -> bool {
    inside[circuit.source as usize] && !inside[circuit.destination as usize]
}

/// A cut by straight lines that proves that the circuits cannot be routed, if one is found: every part of the grid on
/// one side of a line, every single cell, and on small grids every rectangle, each from inside and from outside.
pub fn straight(mesh: &Mesh, circuits: &[Circuit]) -> Option<Cut> {
    let grid = mesh.grid();
    let parts = (1..grid.columns()).map(|column| [0, grid.rows(), 0, column]);
    let parts = parts.chain((1..grid.rows()).map(|row| [0, row, 0, grid.columns()]));
    if let Some(cut) = halves(mesh, circuits, parts) {
        return Some(cut);
    }
    if let Some(cut) = single_cells(mesh, circuits) {
        return Some(cut);
    }
    let pairs = |count: u32| u64::from(count) * u64::from(count + 1) / 2;
    let work = circuits.len() as u64 + u64::from(grid.rows() + grid.columns());
    if pairs(grid.rows()) * pairs(grid.columns()) * work > MOST_RECTANGLE_WORK {
        return None;
    }
    let ends = |count: u32| (0..count).flat_map(move |first| (first + 1..=count).map(move |past| (first, past)));
    let rectangles = ends(grid.rows())
        .flat_map(|(top, bottom)| ends(grid.columns()).map(move |(left, right)| [top, bottom, left, right]));
    halves(mesh, circuits, rectangles)
}

/// The first rectangle (first row, past the last row, first column, past the last) that circuits cannot all leave or
/// enter.
fn halves(mesh: &Mesh, circuits: &[Circuit], rectangles: impl Iterator<Item = [u32; 4]>) -> Option<Cut> {
    let grid = mesh.grid();
    let wavelengths = u64::from(mesh.wavelengths());
    let ends: Vec<_> = circuits.iter().map(|one| (grid.place(one.source), grid.place(one.destination))).collect();
    for [top, bottom, left, right] in rectangles {
        interruption::check();
        let within = |(row, column): (u32, u32)| (top..bottom).contains(&row) && (left..right).contains(&column);
        let (mut out, mut back) = (0_u64, 0_u64);
        for &(source, destination) in &ends {
            match (within(source), within(destination)) {
                (true, false) => out += 1,
                (false, true) => back += 1,
                _ => {}
            }
        }
        let (mut places_out, mut places_back) = (0, 0);
        let mut border = |cell: u32, side: Side| {
            if let Some(other) = grid.beside(cell, side) {
                places_out += u64::from(mesh.lanes(cell, side)) * wavelengths;
                places_back += u64::from(mesh.lanes(other, side.opposite())) * wavelengths;
            }
        };
        for column in left..right {
            border(grid.cell(top, column), Side::North);
            border(grid.cell(bottom - 1, column), Side::South);
        }
        for row in top..bottom {
            border(grid.cell(row, left), Side::West);
            border(grid.cell(row, right - 1), Side::East);
        }
        if out > places_out || back > places_back {
            let inside: Vec<bool> =
                (0..grid.cells()).map(|cell| within(grid.place(cell)) == (out > places_out)).collect();
            return Cut::around(mesh, circuits, &inside);
        }
    }
    None
}

/// A cell that has more circuits than places.
fn single_cells(mesh: &Mesh, circuits: &[Circuit]) -> Option<Cut> {
    let grid = mesh.grid();
    let mut ends: Vec<u32> = circuits.iter().flat_map(|one| [one.source, one.destination]).collect();
    ends.sort_unstable();
    // Where a cell has a neighbour at all, every wavelength has a place.
    let busy = ends.chunk_by(|a, b| a == b).filter(|same| same.len() as u64 > u64::from(mesh.wavelengths()));
    let cells = busy.map(|same| {
        let (row, column) = grid.place(same[0]);
        [row, row + 1, column, column + 1]
    });
    halves(mesh, circuits, cells)
}

/// A cut of any shape: cells are added in the order of their distance from an end of a circuit that has no route, where
/// a place is the longer the more it was fought over. By linear programming such lengths prove that circuits do not
/// fit, and one of the balls around an end is a cut where a cut proves it.
pub(super) fn grown(
    mesh: &Mesh,
    circuits: &[Circuit],
    without_route: &[usize],
    length: impl Fn(usize) -> u32,
) -> Option<Cut> {
    let grid = mesh.grid();
    let edges = grid.cells() as usize * 4;
    let lengths: Vec<u64> = (0..edges)
        .map(|edge| {
            (0..mesh.wavelengths() as usize).map(|wavelength| u64::from(length(wavelength * edges + edge))).sum()
        })
        .collect();
    for &index in without_route.iter().take(MOST_GROWN) {
        interruption::check();
        let circuit = circuits[index];
        for outwards in [true, false] {
            let start = if outwards { circuit.source } else { circuit.destination };
            let order = by_distance(mesh, start, outwards, &lengths);
            if let Some(inside) = first_ball(mesh, circuits, &order, outwards) {
                return Cut::around(mesh, circuits, &inside);
            }
        }
    }
    None
}

/// Cells in the order of their distance from one, or to it.
fn by_distance(mesh: &Mesh, start: u32, outwards: bool, lengths: &[u64]) -> Vec<u32> {
    use std::cmp::Reverse;
    let grid = mesh.grid();
    let mut distances = vec![u64::MAX; grid.cells() as usize];
    distances[start as usize] = 0;
    let mut queue = std::collections::BinaryHeap::from([Reverse((0, start))]);
    let mut order = Vec::new();
    while let Some(Reverse((distance, cell))) = queue.pop() {
        if distance > distances[cell as usize] {
            continue;
        }
        order.push(cell);
        for side in Side::ALL {
            let Some(other) = grid.beside(cell, side) else { continue };
            let (from, by) = if outwards { (cell, side) } else { (other, side.opposite()) };
            if mesh.lanes(from, by) == 0 {
                continue;
            }
            let total = distance + lengths[from as usize * 4 + by.index()];
            if total < distances[other as usize] {
                distances[other as usize] = total;
                queue.push(Reverse((total, other)));
            }
        }
    }
    order
}

/// The smallest number of first cells that more circuits must leave (`outwards`) or enter than places do; as the set
/// that circuits leave.
fn first_ball(mesh: &Mesh, circuits: &[Circuit], order: &[u32], outwards: bool) -> Option<Vec<bool>> {
    let grid = mesh.grid();
    let cells = grid.cells() as usize;
    // At each cell the far ends of the circuits that start there (or end there), and the near ends of the others.
    let mut far = vec![Vec::new(); cells];
    let mut near = vec![Vec::new(); cells];
    for circuit in circuits {
        let (from, to) =
            if outwards { (circuit.source, circuit.destination) } else { (circuit.destination, circuit.source) };
        far[from as usize].push(to);
        near[to as usize].push(from);
    }
    let mut inside = vec![false; cells];
    let (mut crossing, mut places) = (0_i64, 0_i64);
    for &cell in order {
        inside[cell as usize] = true;
        crossing += far[cell as usize].iter().filter(|&&to| !inside[to as usize]).count() as i64;
        crossing -= near[cell as usize].iter().filter(|&&from| from != cell && inside[from as usize]).count() as i64;
        for side in Side::ALL {
            let Some(other) = grid.beside(cell, side) else { continue };
            let out = i64::from(mesh.lanes(cell, side));
            let back = i64::from(mesh.lanes(other, side.opposite()));
            let (leaving, entering) = if outwards { (out, back) } else { (back, out) };
            places += if inside[other as usize] { -entering } else { leaving };
        }
        if crossing > places * i64::from(mesh.wavelengths()) {
            return Some(inside.into_iter().map(|within| within == outwards).collect());
        }
    }
    None
}
