//! Wavelength-selective switches (WSSs) that steer bands of wavelengths.
//!
//! `wss:K`, `wss:KxB` or `wss:KxBxW`: each port of a GPU sends W wavelengths (B without it) on a fibre, in B bands of W / B
//! consecutive ones (one band without it). A switch of one input and K outputs steers each band to any of its outputs,
//! each of which is coupled into the fibre of one receiver, so that no two GPUs may send a band to the same fibre. Groups
//! of K GPUs ([`Groups`]) have such switches for each fibre; together the K switches of a fibre are a cross-connect of K
//! fibres, which holds a matching of GPUs in each band. No band is converted to another.
//!
//! A circuit is one band. Its rate, the bandwidth of a port of the fabric, is W / B times that of a wavelength; more
//! bands between the same two GPUs are parallel circuits.

use model::{Connection, Error, Fabric, Result, Shape, Topology};

use crate::cutoffs::kinds_wss::{MOST_OUTPUTS, MOST_WAVELENGTHS};
use crate::groups::Groups;
use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};

/// Cross-connects of wavelength-selective switches.
pub(super) struct Wss;

/// The switches of a fabric.
#[derive(Debug, Clone, Copy)]
struct Selective {
    /// Outputs of a switch, K.
    outputs: u32,
    /// Bands of a fibre, B.
    bands: u32,
    /// Wavelengths of a fibre, W.
    wavelengths: u32,
}

impl Selective {
    fn parse(parameters: &str) -> Result<Self> {
        let numbers: Option<Vec<u32>> = parameters.split('x').map(|number| number.parse().ok()).collect();
        let (outputs, bands, wavelengths) = match numbers.as_deref() {
            Some(&[outputs]) => (outputs, 1, 1),
            Some(&[outputs, bands]) => (outputs, bands, bands),
            Some(&[outputs, bands, wavelengths]) => (outputs, bands, wavelengths),
            _ => (0, 0, 0),
        };
        let is_whole = bands > 0 && wavelengths > 0 && wavelengths.is_multiple_of(bands);
        if is_whole && (2..=MOST_OUTPUTS).contains(&outputs) && wavelengths <= MOST_WAVELENGTHS {
            return Ok(Self { outputs, bands, wavelengths });
        }
        let given: String = parameters.chars().take(60).collect();
        let accepts = format!(
            "`wss:K`, `wss:KxB` or `wss:KxBxW`: switches of K outputs, from 2 to {MOST_OUTPUTS}, fibres of B bands and W \
             wavelengths, at most {MOST_WAVELENGTHS} and a multiple of B, such as wss:16x4x32"
        );
        let colon = if given.is_empty() { "" } else { ":" };
        Err(Error::value("optics", format!("`wss{colon}{given}`"), accepts))
    }

    fn groups(self) -> Groups {
        Groups { size: self.outputs, bands: self.bands, noun: "band" }
    }
}

impl Kind for Wss {
    fn name(&self) -> &'static str {
        "wss"
    }

    fn parameters(&self) -> &'static str {
        "K[xB[xW]]"
    }

    fn summary(&self) -> &'static str {
        "wavelength-selective switches (WSSs) of K outputs: B bands of W / B wavelengths a fibre, each led by itself; in \
         groups of K GPUs"
    }

    fn source(&self) -> &'static str {
        "Chen et al. 2012, OSA; Porter et al. 2013, Mordia; Chen et al. 2017, MegaSwitch"
    }

    fn numbering(&self) -> &'static str {
        "group a has GPUs a·K to a·K + K − 1; band b of fibre f of its GPU i is at ingress port i·B + b + 1 of \
         cross-connect a.f, whose egress port i·B + b + 1 is band b of fibre f at GPU i of the group f on (all from 0); \
         the wavelength of a connection is the first of its band, b·W / B"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        Selective::parse(parameters).map(|_| ())
    }

    fn port_map(&self, parameters: &str, shape: &Shape) -> Result<PortMap> {
        Selective::parse(parameters)?.groups().port_map(shape, self.name())
    }

    fn admits(&self, parameters: &str, shape: &Shape, topology: &Topology) -> Result<()> {
        Selective::parse(parameters)?.groups().by_distance(shape, topology).map(|_| ())
    }

    fn wavelength(&self, parameters: &str, connection: &Connection) -> Option<u32> {
        let Selective { bands, wavelengths, .. } = Selective::parse(parameters).ok()?;
        Some((connection.ingress - 1) % bands * (wavelengths / bands))
    }

    fn assign(&self, parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        Selective::parse(parameters)?.groups().assign(fabric, held, |_| Ok(()))
    }
}
