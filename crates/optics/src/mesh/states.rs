//! The state of every MZI: which of its inputs goes to which of its outputs, on each wavelength.
//!
//! A cell of the mesh switches light between the waveguides of its four sides and its tile's transmitters and
//! receivers. On one wavelength its state joins each input in use to one output.

use crate::grid::Side;

use super::layout::Mesh;
use super::routing::Route;

/// The place where light enters or leaves an MZI.
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
    /// The place where the light comes in. A waveguide's side is the one that it enters by.
    pub input: Port,
    /// The place where the light goes out.
    pub output: Port,
}

/// The states of all MZIs that light passes, by cell, wavelength and input. Transmitters of a cell, and its receivers,
/// are numbered from 0 in the order of the circuits.
pub fn states<'a>(mesh: &Mesh, routes: impl IntoIterator<Item = &'a Route>) -> Vec<Setting> {
    let mut transmitters = vec![0; mesh.grid().cells() as usize];
    let mut receivers = vec![0; mesh.grid().cells() as usize];
    let next = |counts: &mut [u32], cell: u32| {
        counts[cell as usize] += 1;
        counts[cell as usize] - 1
    };
    let mut settings = Vec::new();
    for route in routes {
        let [source, .., destination] = route.cells[..] else { continue };
        let ends = [next(&mut transmitters, source), next(&mut receivers, destination)];
        settings.extend(states_of(mesh, route, ends));
    }
    settings.sort_unstable();
    settings
}

/// The states that lead light along a route, from the first to the last MZI; `ends` are the numbers of the transmitter
/// and of the receiver among those of their tiles.
pub fn states_of(mesh: &Mesh, route: &Route, [transmitter, receiver]: [u32; 2]) -> Vec<Setting> {
    let wavelength = route.wavelength;
    let mut input = Port::Tile(transmitter);
    let mut settings = Vec::with_capacity(route.cells.len());
    for (pair, &lane) in route.cells.windows(2).zip(&route.lanes) {
        let Some(side) = mesh.grid().side_towards(pair[0], pair[1]) else { break };
        settings.push(Setting { cell: pair[0], wavelength, input, output: Port::Waveguide(side, lane) });
        input = Port::Waveguide(side.opposite(), lane);
    }
    let last = route.cells.last().map(|&cell| Setting { cell, wavelength, input, output: Port::Tile(receiver) });
    settings.extend(last);
    settings
}
