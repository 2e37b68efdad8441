//! Judges paths between servers; shares no code with what makes them.

use std::collections::BTreeMap;

use model::{Error, Result};

use crate::circuit::Circuit;
use crate::grid::Grid;

use super::servers::Fibre;

/// Checks that each path leads from its circuit's source to its destination over edges of the grid, passing no server
/// twice, and gives the most circuits on one edge.
///
/// # Errors
/// The first fault, with the circuit.
pub fn check(
    grid: Grid,
    fibre: Fibre,
    existing: &[(u32, u32, u32)],
    circuits: &[Circuit],
    paths: &[Vec<u32>],
) -> Result<u32> {
    let rejected = |detail: String| Error::Rejected { check: "fibres".into(), detail };
    if circuits.len() != paths.len() {
        return Err(rejected(format!("{} paths for {} circuits", paths.len(), circuits.len())));
    }
    let key = |from: u32, to: u32| if fibre == Fibre::BothWays && from > to { (to, from) } else { (from, to) };
    let mut loads: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for &(from, to, count) in existing {
        *loads.entry(key(from, to)).or_default() += count;
    }
    for (index, (circuit, path)) in circuits.iter().zip(paths).enumerate() {
        let fault =
            |what: &str| rejected(format!("circuit {index}, {} to {}: {what}", circuit.source, circuit.destination));
        if (path.first(), path.last()) != (Some(&circuit.source), Some(&circuit.destination)) {
            return Err(fault("its path does not lead from its source to its destination"));
        }
        let mut passed = path.clone();
        passed.sort_unstable();
        if passed.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(fault("its path passes a server twice"));
        }
        for pair in path.windows(2) {
            let place = |server: u32| (server / grid.columns(), server % grid.columns());
            let (a, b) = (place(pair[0]), place(pair[1]));
            if a.0 >= grid.rows() || b.0 >= grid.rows() || a.0.abs_diff(b.0) + a.1.abs_diff(b.1) != 1 {
                return Err(fault("two servers of its path are not neighbours"));
            }
            *loads.entry(key(pair[0], pair[1])).or_default() += 1;
        }
    }
    Ok(loads.into_values().max().unwrap_or(0))
}
