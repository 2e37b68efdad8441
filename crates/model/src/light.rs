//! Light in a mesh of MZIs: the way of every circuit, and the states of the MZIs that make it.

use std::collections::BTreeSet;

use crate::connection::Connection;
use crate::{Error, Result};

/// The way of a circuit's light.
#[derive(Debug, Clone, PartialEq)]
pub struct LightPath {
    /// The ports that it joins.
    pub connection: Connection,
    /// The MZIs that it passes.
    pub mzis: Vec<u32>,
    /// The number of the waveguide or fibre from each MZI to the next, among those in parallel.
    pub waveguides: Vec<u32>,
    /// Wavelength of the light.
    pub wavelength: u32,
    /// The loss on its way.
    pub loss_db: f64,
    /// Power that its laser launches, mW; `None` where nothing is said about it.
    pub launch_mw: Option<f64>,
    /// Metres of fibre on its way; `None` where nothing is said about lengths.
    pub fibre_m: Option<f64>,
}

/// The place where light enters or leaves an MZI, and its number among those there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MziPort {
    /// A waveguide or fibre on the side of the row above.
    North(u32),
    /// A waveguide or fibre on the side of the next column.
    East(u32),
    /// A waveguide or fibre on the side of the row below.
    South(u32),
    /// A waveguide or fibre on the side of the column before.
    West(u32),
    /// A transmitter of the tile, where light enters, or a receiver, where it leaves.
    Tile(u32),
}

/// The state of an MZI for light of one wavelength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MziState {
    /// The MZI.
    pub mzi: u32,
    /// The wavelength.
    pub wavelength: u32,
    /// The port at which light enters.
    pub input: MziPort,
    /// The port at which light leaves.
    pub output: MziPort,
}

/// The light of one configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Light {
    /// The path of light of every connection.
    pub paths: Vec<LightPath>,
    /// The states of the MZIs that light passes.
    pub mzis: Vec<MziState>,
}

impl Light {
    /// Checks that each connection in `joined` has exactly one path of light and that there are no other paths; that no
    /// two paths have the same wavelength on one waveguide; and that no input or output of an MZI is used twice on one
    /// wavelength.
    ///
    /// # Errors
    /// The first path or state that violates this, with a place under `field`.
    pub(crate) fn check(&self, field: &str, mut joined: Vec<Connection>) -> Result<()> {
        let mut lit: Vec<Connection> = self.paths.iter().map(|path| path.connection).collect();
        lit.sort_unstable();
        joined.sort_unstable();
        if lit != joined {
            return Err(Error::malformed(
                format!("{field}.light"),
                "there must be one path of light for each connection, from its ingress to its egress port",
            ));
        }
        let mut used = BTreeSet::new();
        for (index, path) in self.paths.iter().enumerate() {
            let place = format!("{field}.light[{index}]");
            if path.mzis.len() != path.waveguides.len() + 1 {
                return Err(Error::malformed(place, "the path must have one waveguide from each MZI to the next"));
            }
            if !path.loss_db.is_finite() || path.loss_db < 0.0 {
                return Err(Error::malformed(format!("{place}.loss_db"), "it must be a number of dB, 0 or more"));
            }
            if path.launch_mw.is_some_and(|launch_mw| !launch_mw.is_finite() || launch_mw < 0.0) {
                return Err(Error::malformed(format!("{place}.launch_mw"), "it must be a number of mW, 0 or more"));
            }
            if path.fibre_m.is_some_and(|fibre_m| !fibre_m.is_finite() || fibre_m < 0.0) {
                return Err(Error::malformed(format!("{place}.fibre_m"), "it must be a number of metres, 0 or more"));
            }
            for (pair, &waveguide) in path.mzis.windows(2).zip(&path.waveguides) {
                if !used.insert((pair[0], pair[1], waveguide, path.wavelength)) {
                    let reason = format!(
                        "waveguide {waveguide} from MZI {} to MZI {} carries wavelength {} already",
                        pair[0], pair[1], path.wavelength
                    );
                    return Err(Error::malformed(place, reason));
                }
            }
        }
        let (mut inputs, mut outputs) = (BTreeSet::new(), BTreeSet::new());
        for (index, state) in self.mzis.iter().enumerate() {
            let fresh = inputs.insert((state.mzi, state.wavelength, state.input))
                && outputs.insert((state.mzi, state.wavelength, state.output));
            if !fresh {
                let (mzi, wavelength) = (state.mzi, state.wavelength);
                let reason = format!("the input or output of MZI {mzi} is already in use on wavelength {wavelength}");
                return Err(Error::malformed(format!("{field}.mzis[{index}]"), reason));
            }
        }
        Ok(())
    }
}
