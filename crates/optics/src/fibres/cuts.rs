//! A lower bound on the busiest edge: what has to leave a part of the grid is carried by the edges that leave it.

use model::{Result, counted};

use crate::circuit::{Circuit, check_circuits};
use crate::grid::Side;

use super::servers::{Fibre, Servers};
use crate::cutoffs::fibres_cuts::MOST_WORK;

/// Lower bound on the circuits on the busiest edge, for any paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibreBound {
    /// Circuits on the busiest edge, at least.
    pub circuits: u32,
    /// The reason, in words.
    pub reason: String,
}

/// The largest bound of the circuits there are already, of all edges together, and of rectangles (on large grids of the
/// parts on either side of a line): circuits that leave one, with those already on its edges, spread evenly. O(rows² ·
/// columns² · circuits).
///
/// # Errors
/// A circuit whose ends are no two servers; names `circuits`.
pub fn bound(servers: &Servers, circuits: &[Circuit]) -> Result<FibreBound> {
    let grid = servers.grid();
    check_circuits(grid, circuits)?;
    let most = servers.existing().iter().max().copied().unwrap_or(0);
    let mut best = FibreBound { circuits: most, reason: "circuits that are already there".into() };
    let steps: u64 = circuits.iter().map(|one| u64::from(grid.distance(one.source, one.destination))).sum();
    let one_way = u64::from(grid.rows() * (grid.columns() - 1) + grid.columns() * (grid.rows() - 1));
    let edges = one_way * if servers.fibre() == Fibre::OneWay { 2 } else { 1 };
    let existing: u64 = servers.existing().iter().copied().map(u64::from).sum();
    raise(&mut best, existing + steps, edges, || {
        format!("{} of shortest paths over {}", counted(steps, "step"), counted(edges, "edge"))
    });
    let ends: Vec<_> = circuits.iter().map(|one| (grid.place(one.source), grid.place(one.destination))).collect();
    for [top, bottom, left, right] in rectangles(servers, circuits.len() as u64) {
        interruption::check();
        let within = |(row, column): (u32, u32)| (top..bottom).contains(&row) && (left..right).contains(&column);
        let (mut leaving, mut entering) = (0_u64, 0_u64);
        for &(source, destination) in &ends {
            match (within(source), within(destination)) {
                (true, false) => leaving += 1,
                (false, true) => entering += 1,
                _ => {}
            }
        }
        let (mut count, mut there_out, mut there_in) = (0, 0, 0);
        let mut border = |server: u32, side: Side| {
            if let Some(other) = grid.beside(server, side) {
                count += 1;
                there_out += u64::from(servers.existing()[servers.edge(server, side)]);
                there_in += u64::from(servers.existing()[servers.edge(other, side.opposite())]);
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
        let part = || {
            let span = |word: &str, first: u32, past: u32| match past - first {
                1 => format!("{word} {first}"),
                _ => format!("{word}s {first} to {}", past - 1),
            };
            format!("{}, {}", span("row", top, bottom), span("column", left, right))
        };
        let crossing = |many: u64, verb: &str| {
            format!("{} that {verb} {} by {}", counted(many, "circuit"), part(), counted(count, "edge"))
        };
        match servers.fibre() {
            Fibre::OneWay => {
                raise(&mut best, leaving + there_out, count, || crossing(leaving, "leave"));
                raise(&mut best, entering + there_in, count, || crossing(entering, "enter"));
            }
            Fibre::BothWays => {
                let both = leaving + entering;
                raise(&mut best, both + there_out, count, || crossing(both, "leave or enter"));
            }
        }
    }
    Ok(best)
}

/// Raises the bound where `sum` spread evenly over `edges` is more.
fn raise(best: &mut FibreBound, sum: u64, edges: u64, reason: impl Fn() -> String) {
    if edges > 0 && sum.div_ceil(edges) > u64::from(best.circuits) {
        *best = FibreBound { circuits: sum.div_ceil(edges) as u32, reason: reason() };
    }
}

/// First row, past the last, first column, past the last.
fn rectangles(servers: &Servers, circuits: u64) -> Vec<[u32; 4]> {
    let (rows, columns) = (servers.grid().rows(), servers.grid().columns());
    let pairs = |count: u32| u64::from(count) * u64::from(count + 1) / 2;
    if pairs(rows) * pairs(columns) * (circuits + u64::from(rows + columns)) > MOST_WORK {
        let lines = (1..columns).map(|column| [0, rows, 0, column]);
        return lines.chain((1..rows).map(|row| [0, row, 0, columns])).collect();
    }
    let ends = |count: u32| (0..count).flat_map(move |first| (first + 1..=count).map(move |past| (first, past)));
    ends(rows).flat_map(|(top, bottom)| ends(columns).map(move |(left, right)| [top, bottom, left, right])).collect()
}
