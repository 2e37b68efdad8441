//! The construction of a mesh of MZIs, as far as its light depends on it.

use crate::cutoffs::mzi_mesh::{MOST, MOST_LOSS};
use crate::{Error, FibreLengths, LaunchPower, Result, check_interposer_order};

/// A mesh of MZIs on interposers; what the numbers mean is in `docs/circuits.md`. Grids are rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct MziMesh {
    /// MZIs of one interposer.
    pub mzis: [u32; 2],
    /// Tiles of one interposer, a GPU on each; their rows and columns divide those of the MZIs.
    pub tiles: [u32; 2],
    /// Interposers, joined to their neighbours.
    pub interposers: [u32; 2],
    /// Waveguides between neighbouring MZIs, in each direction.
    pub waveguides: u32,
    /// Wavelengths in a waveguide or fibre.
    pub wavelengths: u32,
    /// Fibres between facing sides of neighbouring interposers, in each direction.
    pub fibres: u32,
    /// Transmitters of a tile.
    pub transmitters: u32,
    /// Receivers of a tile.
    pub receivers: u32,
    /// Length of a tile's side in centimetres.
    pub tile_size_cm: f64,
    /// Loss of every crossing from tile to tile.
    pub crossing_loss_db: f64,
    /// Loss of a centimetre of waveguide.
    pub waveguide_loss_db_per_cm: f64,
    /// Loss between a waveguide and a fibre; a fibre has two such ends.
    pub coupling_loss_db: f64,
    /// The most that a circuit may lose, dB; `None` without a limit.
    pub max_loss_db: Option<f64>,
    /// Power of the lasers; `None` where nothing is said about it.
    pub launch_power: Option<LaunchPower>,
    /// Where interposers are; `None` where nothing is said about the lengths of fibres.
    pub fibre_lengths: Option<FibreLengths>,
    /// The interposer of the first GPUs, of the next, and so on; `None` where they fill them row by row.
    pub interposer_order: Option<Vec<u32>>,
}

impl MziMesh {
    /// # Errors
    /// A number that no mesh has, with its place under `field`.
    pub(crate) fn check(&self, field: &str) -> Result<()> {
        let refuse = |name: &str, accepts: String| Err(Error::malformed(format!("{field}.{name}"), accepts));
        for (name, value) in [
            ("waveguides", self.waveguides),
            ("wavelengths", self.wavelengths),
            ("fibres", self.fibres),
            ("transmitters", self.transmitters),
            ("receivers", self.receivers),
        ] {
            if !(1..=MOST).contains(&value) {
                return refuse(name, format!("it is {value}; it must be from 1 to {MOST}"));
            }
        }
        for (name, value) in [
            ("tile_size_cm", self.tile_size_cm),
            ("crossing_loss_db", self.crossing_loss_db),
            ("waveguide_loss_db_per_cm", self.waveguide_loss_db_per_cm),
            ("coupling_loss_db", self.coupling_loss_db),
            ("max_loss_db", self.max_loss_db.unwrap_or(0.0)),
        ] {
            if !(0.0..=MOST_LOSS).contains(&value) {
                return refuse(name, format!("it is {value}; it must be from 0 to {MOST_LOSS:e}"));
            }
        }
        if let Some((name, value, accepts)) = self.launch_power.as_ref().and_then(LaunchPower::fault) {
            return refuse(&format!("launch_power.{name}"), format!("it is {value}; it must be {accepts}"));
        }
        for (name, [rows, columns]) in [("mzis", self.mzis), ("tiles", self.tiles), ("interposers", self.interposers)] {
            if !(1..=MOST).contains(&rows) || !(1..=MOST).contains(&columns) {
                return refuse(name, format!("it is {rows}x{columns}; rows and columns must be from 1 to {MOST}"));
            }
        }
        for axis in 0..2 {
            if self.mzis[axis] * self.interposers[axis] > MOST {
                return refuse("interposers", format!("all together must have at most {MOST}x{MOST} MZIs"));
            }
            if !self.mzis[axis].is_multiple_of(self.tiles[axis]) {
                return refuse("tiles", "their rows and columns must divide those of the MZIs".into());
            }
        }
        if let Some((name, value, accepts)) =
            self.fibre_lengths.as_ref().and_then(|lengths| lengths.fault(self.interposers))
        {
            return refuse(&format!("fibre_lengths.{name}"), format!("it is {value}; it must be {accepts}"));
        }
        let order = self.interposer_order.as_deref();
        if let Some(Err(accepts)) = order.map(|order| check_interposer_order(order, self.interposers)) {
            return refuse("interposer_order", format!("it must name {accepts}"));
        }
        Ok(())
    }
}
