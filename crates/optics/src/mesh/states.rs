//! The state of every MZI: which of its inputs goes to which of its outputs, on each wavelength.
//!
//! A cell of the mesh switches light between the waveguides of its four sides and its tile's transmitters and
//! receivers. On one wavelength its state joins each input in use to one output.

use crate::grid::Side;

use super::layout::Mesh;
use super::routing::Route;

/// Where light enters or leaves an MZI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// A waveguide or fibre of a side: its number among those in that direction.
    Waveguide(Side, u32),
    /// A transmitter of the tile, as an input, or a receiver, as an output.
    Tile(u32),
}

/// Light of one wavelength through an MZI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// The MZI.
    pub cell: u32,
    /// The wavelength.
    pub wavelength: u32,
    /// Where the light comes in. A waveguide's side is the one that it enters by.
    pub input: Port,
    /// Where it goes out.
    pub output: Port,
}

/// The states of all MZIs that light passes, by cell, wavelength and input. Transmitters of a cell, and its receivers,
/// are numbered from 0 in the order of the circuits.
pub fn states<'a>(mesh: &Mesh, routes: impl IntoIterator<Item = &'a Route>) -> Vec<Setting> {
    let grid = mesh.grid();
    let mut transmitters = vec![0; grid.cells() as usize];
    let mut receivers = vec![0; grid.cells() as usize];
    let next = |counts: &mut [u32], cell: u32| {
        counts[cell as usize] += 1;
        Port::Tile(counts[cell as usize] - 1)
    };
    let mut settings = Vec::new();
    for route in routes {
        let [source, .., destination] = route.cells[..] else { continue };
        let mut input = next(&mut transmitters, source);
        for (pair, &lane) in route.cells.windows(2).zip(&route.lanes) {
            let Some(side) = grid.side_towards(pair[0], pair[1]) else { break };
            let output = Port::Waveguide(side, lane);
            settings.push(Setting { cell: pair[0], wavelength: route.wavelength, input, output });
            input = Port::Waveguide(side.opposite(), lane);
        }
        let output = next(&mut receivers, destination);
        settings.push(Setting { cell: destination, wavelength: route.wavelength, input, output });
    }
    settings.sort_unstable();
    settings
}
