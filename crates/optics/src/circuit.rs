//! A circuit that is asked for.

use model::{Error, Result};

use crate::cutoffs::circuit::MOST_CIRCUITS;
use crate::grid::Grid;

/// A circuit from cell to cell of a grid: from MZI to MZI, or from server to server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// The cell that it starts from.
    pub source: u32,
    /// The cell that it ends at.
    pub destination: u32,
}

/// # Errors
/// A circuit whose ends are no two cells of the grid, or too many circuits; names `circuits`.
pub(crate) fn check_circuits(grid: Grid, circuits: &[Circuit]) -> Result<()> {
    if circuits.len() > MOST_CIRCUITS {
        return Err(Error::value("circuits", circuits.len(), format!("at most {MOST_CIRCUITS}")));
    }
    let cells = grid.cells();
    for (index, circuit) in circuits.iter().enumerate() {
        let Circuit { source, destination } = *circuit;
        if source >= cells || destination >= cells || source == destination {
            let accepts = format!("two different numbers from 0 to {}", cells - 1);
            return Err(Error::value(&format!("circuits[{index}]"), format!("({source}, {destination})"), accepts));
        }
    }
    Ok(())
}
