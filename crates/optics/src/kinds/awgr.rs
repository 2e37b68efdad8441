//! Arrayed waveguide grating routers (AWGRs) with a tunable laser at every input.
//!
//! `awgr:N` or `awgr:NxW`: routers of N ports, lasers of W ≤ N wavelengths (N without it). A router is passive: light of
//! wavelength w, from 0, which enters at input i leaves at output (i + w) mod N, so that only an offset below W between
//! input and output has a wavelength. Groups of N GPUs ([`Groups`]) have a router for each port.

use model::{Connection, Error, Fabric, Link, Result, Shape, Topology};

use crate::cutoffs::kinds_awgr::MOST_PORTS;
use crate::groups::Groups;
use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};

/// Passive routers by wavelength.
pub(super) struct Awgr;

/// The routers of a fabric.
#[derive(Debug, Clone, Copy)]
struct Routers {
    /// Inputs of a router, and as many outputs.
    size: u32,
    /// Wavelengths of a laser.
    wavelengths: u32,
}

impl Routers {
    fn parse(parameters: &str) -> Result<Self> {
        let whole = |text: &str| text.parse::<u32>().ok().filter(|number| (1..=MOST_PORTS).contains(number));
        let (size, wavelengths) = match parameters.split_once('x') {
            Some((size, wavelengths)) => (whole(size), whole(wavelengths)),
            None => (whole(parameters), whole(parameters)),
        };
        if let (Some(size @ 2..), Some(wavelengths @ 2..)) = (size, wavelengths)
            && wavelengths <= size
        {
            return Ok(Self { size, wavelengths });
        }
        let given: String = parameters.chars().take(60).collect();
        let accepts = format!(
            "`awgr:N` or `awgr:NxW`: routers of N ports, from 2 to {MOST_PORTS}, lasers of W wavelengths, from 2 to N, such \
            as awgr:16x8"
        );
        let colon = if given.is_empty() { "" } else { ":" };
        Err(Error::value("optics", format!("`awgr{colon}{given}`"), accepts))
    }

    /// The groups of GPUs that routers join, each GPU by one circuit a port.
    fn groups(self) -> Groups {
        Groups { size: self.size, bands: 1, noun: "port" }
    }

    /// The wavelength that a router leads from the input of a GPU to the output of another; `None` where lasers do not
    /// have it.
    fn wavelength(self, link: &Link) -> Option<u32> {
        let offset = (link.dst % self.size + self.size - link.src % self.size) % self.size;
        (offset < self.wavelengths).then_some(offset)
    }

    /// # Errors
    /// A circuit without a wavelength.
    fn has_wavelengths(self, topology: &Topology) -> Result<()> {
        let links = topology.expanded();
        let Some(link) = links.iter().find(|link| self.wavelength(link).is_none()) else { return Ok(()) };
        let (name, Link { src, dst, .. }) = (topology.name(), link);
        Err(Error::infeasible(
            "optics",
            format!(
                "{name}: the circuit from GPU {src} to GPU {dst} needs a wavelength that lasers of {} do not have",
                self.wavelengths
            ),
        ))
    }
}

impl Kind for Awgr {
    fn name(&self) -> &'static str {
        "awgr"
    }

    fn parameters(&self) -> &'static str {
        "N[xW]"
    }

    fn summary(&self) -> &'static str {
        "passive wavelength routers (AWGRs) of N ports, lasers that tune to W wavelengths; in groups of N GPUs"
    }

    fn source(&self) -> &'static str {
        "Ballani et al. 2020, Sirius; Proietti et al. 2013, LIONS"
    }

    fn numbering(&self) -> &'static str {
        "group a has GPUs a·N to a·N + N − 1; transmitter p of its GPU i is at ingress port i + 1 of router a.p, whose \
        egress port i + 1 is at receiver p of GPU i of the group p on (all from 0); wavelength w joins ingress port i to \
        egress port i + w, modulo N"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        Routers::parse(parameters).map(|_| ())
    }

    fn port_map(&self, parameters: &str, shape: &Shape) -> Result<PortMap> {
        Routers::parse(parameters)?.groups().port_map(shape, self.name())
    }

    fn admits(&self, parameters: &str, shape: &Shape, topology: &Topology) -> Result<()> {
        let routers = Routers::parse(parameters)?;
        routers.has_wavelengths(topology)?;
        routers.groups().by_distance(shape, topology).map(|_| ())
    }

    fn wavelength(&self, parameters: &str, connection: &Connection) -> Option<u32> {
        let size = Routers::parse(parameters).ok()?.size;
        Some((connection.egress + size - connection.ingress) % size)
    }

    /// One-way rings and circulants of the offsets that have a wavelength, where all GPUs are one group.
    fn topologies(&self, parameters: &str, shape: &Shape) -> Vec<String> {
        let Ok(routers) = Routers::parse(parameters) else { return Vec::new() };
        if shape.gpus() != routers.size {
            return Vec::new();
        }
        (1..routers.wavelengths).map(|offset| format!("shifted-ring:{offset}")).collect()
    }

    fn assign(&self, parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        let routers = Routers::parse(parameters)?;
        routers.groups().assign(fabric, held, |topology| routers.has_wavelengths(topology))
    }
}
