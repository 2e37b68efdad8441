//! Light in bands through wavelength-selective switches, numbered as `docs/circuits.md` says.

use std::collections::BTreeSet;

use model::{Circuits, Connection, Error, Result, Shape, counted};

use crate::report::{Check, Tally};

/// Cross-connects of `wss:K`, `wss:KxB` or `wss:KxBxW` under a fabric.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selective {
    /// Outputs of a switch, K.
    outputs: u32,
    /// Bands of a fibre, B.
    bands: u32,
    /// Wavelengths of a fibre, W.
    wavelengths: u32,
    /// Groups of K GPUs.
    groups: u32,
    /// Fibres of a GPU.
    fibres: u32,
}

impl Selective {
    /// # Errors
    /// Text that describes no such switches, or fibres that the ports of the GPUs do not fill.
    pub(super) fn of(text: &str, shape: &Shape) -> Result<Self> {
        let given = || text.chars().take(60).collect::<String>();
        let refused = || Error::value("optics", format!("`{}`", given()), "`wss:K`, `wss:KxB` or `wss:KxBxW`");
        let told = text.strip_prefix("wss:").unwrap_or("").split('x').map(|number| number.parse::<u32>().ok());
        let told = told.collect::<Option<Vec<u32>>>().filter(|told| !told.contains(&0) && told.len() <= 3);
        let told = told.ok_or_else(refused)?;
        let outputs = told[0];
        let bands = told.get(1).copied().unwrap_or(1);
        let wavelengths = told.get(2).copied().unwrap_or(bands);
        let is_whole = wavelengths.is_multiple_of(bands) && shape.ports().is_multiple_of(bands);
        if !is_whole || outputs.checked_mul(bands).is_none() {
            return Err(refused());
        }
        Ok(Self { outputs, bands, wavelengths, groups: shape.gpus().div_ceil(outputs), fibres: shape.ports() / bands })
    }

    /// Cross-connects, and the ports that each needs.
    pub(super) fn switches(self) -> (usize, u32) {
        ((self.groups * self.fibres) as usize, self.outputs * self.bands)
    }

    /// The GPUs at the ends of a connection of cross-connect (group, fibre).
    pub(super) fn ends(self, switch: usize, connection: &Connection) -> (u32, u32) {
        let (group, fibre) = (switch as u32 / self.fibres, switch as u32 % self.fibres);
        let other = (group + fibre) % self.groups;
        let place = |port: u32| (port - 1) / self.bands;
        (group * self.outputs + place(connection.ingress), other * self.outputs + place(connection.egress))
    }

    /// Follows each wavelength of each circuit from its fibre to the fibre that it is led to: its band is that of both
    /// ports, and no fibre, on either side, has a wavelength twice.
    pub(super) fn wavelengths_check(self, circuits: &Circuits) -> Check {
        let width = self.wavelengths / self.bands;
        let mut tally = Tally::new("wavelengths");
        for (index, configuration) in circuits.configurations().iter().enumerate() {
            interruption::check();
            for (switch, setting) in circuits.switches().iter().zip(&configuration.switches) {
                let at = || format!("configuration {}, {}", index + 1, switch.name);
                let (told, needed) = (setting.wavelengths.len(), setting.connections.len());
                if !tally.expect(told == needed, || {
                    format!("{} has {} for {needed} connections", at(), counted(told as u64, "wavelength"))
                }) {
                    continue;
                }
                let mut lit = BTreeSet::new();
                for (Connection { ingress, egress }, &first) in setting.connections.iter().zip(&setting.wavelengths) {
                    let band_of = |port: u32| (port - 1) % self.bands;
                    let fibre_of = |port: u32| (port - 1) / self.bands;
                    let is_one_band = band_of(*ingress) == band_of(*egress) && first == band_of(*ingress) * width;
                    tally.expect(is_one_band, || {
                        format!(
                            "{}: light from wavelength {first} on, where ingress port {ingress} has band {} and egress \
                             port {egress} band {}, of {} each",
                            at(),
                            band_of(*ingress),
                            band_of(*egress),
                            counted(u64::from(width), "wavelength")
                        )
                    });
                    for wavelength in u64::from(first)..u64::from(first) + u64::from(width) {
                        for (side, fibre) in [("leaves", fibre_of(*ingress)), ("reaches", fibre_of(*egress))] {
                            tally.expect(lit.insert((side, fibre, wavelength)), || {
                                format!("{}: wavelength {wavelength} {side} GPU {fibre} of its group twice", at())
                            });
                        }
                    }
                }
            }
        }
        tally.into_check("wavelength", "followed from fibre to fibre, none twice on one")
    }
}
