//! Arrayed waveguide grating routers (AWGRs) with a tunable laser at every input.
//!
//! `awgr:N` or `awgr:NxW`: routers of N ports, lasers of W ≤ N wavelengths (N without it). A router is passive: light of
//! wavelength w, from 0, which enters at input i leaves at output (i + w) mod N. GPUs a·N to a·N + N − 1 are group a, of
//! G groups; transmitter k of the GPUs of group a is at the inputs of router (a, k), whose outputs are at receiver k of
//! the GPUs of group (a + k) mod G. So a circuit from group a to group b takes a port k with k ≡ b − a (mod G), and only
//! an offset below W between input and output has a wavelength.

use model::{Connection, Error, Fabric, Link, Result, Shape, Switch, Topology, Translations, counted};

use crate::cutoffs::kinds_awgr::MOST_PORTS;
use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};
use crate::parallel::{Colouring, Cost, DARK, decompose};

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

    /// Groups of GPUs, each with a router for each port.
    ///
    /// # Errors
    /// GPUs that do not fill their groups.
    fn groups(self, shape: &Shape) -> Result<u32> {
        let (gpus, size) = (shape.gpus(), self.size);
        if gpus > size && !gpus.is_multiple_of(size) {
            let accepts = format!("at most {size} GPUs, or a multiple of it, with optics of routers of {size} ports");
            return Err(Error::value("gpus", gpus, accepts));
        }
        Ok(gpus.div_ceil(size))
    }

    /// The wavelength that a router leads from the input of a GPU to the output of another; `None` where lasers do not
    /// have it.
    fn wavelength(self, link: &Link) -> Option<u32> {
        let offset = (link.dst % self.size + self.size - link.src % self.size) % self.size;
        (offset < self.wavelengths).then_some(offset)
    }

    /// The number of groups from a circuit's source on to its destination.
    fn distance(self, groups: u32, link: &Link) -> u32 {
        (link.dst / self.size + groups - link.src / self.size) % groups
    }

    /// The circuits of a topology by the distance between their groups, each with as many ports as lead so far.
    ///
    /// # Errors
    /// A circuit without a wavelength, or more circuits than ports.
    fn by_distance(self, shape: &Shape, topology: &Topology) -> Result<Vec<Topology>> {
        let groups = self.groups(shape)?;
        let links = topology.expanded();
        if let Some(link) = links.iter().find(|link| self.wavelength(link).is_none()) {
            return Err(Error::infeasible(
                "optics",
                format!(
                    "{}: the circuit from GPU {} to GPU {} needs a wavelength that lasers of {} do not have",
                    topology.name(),
                    link.src,
                    link.dst,
                    self.wavelengths
                ),
            ));
        }
        (0..groups)
            .map(|distance| {
                let so_far = links.iter().filter(|link| self.distance(groups, link) == distance).copied();
                let part = Topology::new(topology.name(), Translations::trivial(shape.gpus()), so_far)?;
                let ports = ports_of(shape, groups, distance).count() as u32;
                if part.degree() > ports {
                    return Err(Error::infeasible(
                        "optics",
                        format!(
                            "{}: {} of a GPU to or from the group {} on, where {}",
                            topology.name(),
                            counted(u64::from(part.degree()), "circuit"),
                            distance,
                            match ports {
                                0 => "no port leads".to_string(),
                                ports => format!("{} of it lead", counted(u64::from(ports), "port")),
                            }
                        ),
                    ));
                }
                Ok(part)
            })
            .collect()
    }
}

/// The ports whose routers lead to the group so many on.
fn ports_of(shape: &Shape, groups: u32, distance: u32) -> impl Iterator<Item = u32> {
    (distance..shape.ports()).step_by(groups as usize)
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
        let routers = Routers::parse(parameters)?;
        let groups = routers.groups(shape)?;
        let (mut switches, mut ends) = (Vec::new(), Vec::new());
        for (group, port) in (0..groups).flat_map(|group| (0..shape.ports()).map(move |port| (group, port))) {
            switches.push(Switch { name: format!("awgr-{group}.{port}"), ports: routers.size });
            let (from, to) = (group * routers.size, (group + port) % groups * routers.size);
            let gpu = |first: u32, place: u32| first + place;
            let end = |place: u32| match from == to {
                true => gpu(from, place).to_string(),
                false => format!("{}>, >{}", gpu(from, place), gpu(to, place)),
            };
            ends.push((0..routers.size.min(shape.gpus())).map(end).collect());
        }
        Ok(PortMap { switches, ends })
    }

    fn admits(&self, parameters: &str, shape: &Shape, topology: &Topology) -> Result<()> {
        Routers::parse(parameters)?.by_distance(shape, topology).map(|_| ())
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
        let shape = &fabric.shape;
        let groups = routers.groups(shape)?;
        if !fabric.reconfiguration.delay().terms().by_port_s.is_empty() {
            let accepts = "one delay for all ports, as all lasers take as long to tune";
            return Err(Error::value("reconfiguration_delay", "a delay for each port", accepts));
        }
        let parts = held.iter().map(|held| {
            let refused = |error: Error| Error::infeasible("optics", format!("{}, {}", error.reason(), held.when()));
            routers.by_distance(shape, held.topology).map_err(refused)
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let mut connections = vec![vec![Vec::new(); (groups * shape.ports()) as usize]; held.len()];
        let mut least_connects = 0;
        for distance in 0..groups {
            let ports: Vec<u32> = ports_of(shape, groups, distance).collect();
            if ports.is_empty() {
                continue;
            }
            let topologies: Vec<&Topology> = parts.iter().map(|parts| &parts[distance as usize]).collect();
            let order: Vec<usize> = (0..ports.len()).collect();
            let decomposed = decompose(&topologies, &order, &vec![1.0; ports.len()], false, &fewest);
            least_connects += decomposed.least_connects;
            for (connections, colouring) in connections.iter_mut().zip(&decomposed.colourings) {
                for (&port, out) in ports.iter().zip(&colouring.out) {
                    for (src, &dst) in (0..).zip(out).filter(|(_, dst)| **dst != DARK) {
                        let router = src / routers.size * shape.ports() + port;
                        let (ingress, egress) = (src % routers.size + 1, dst % routers.size + 1);
                        connections[router as usize].push(Connection { ingress, egress });
                    }
                }
            }
        }
        Ok(Assignment { connections, least_connects })
    }
}

/// Connections that are set up, as every laser takes as long to tune.
fn fewest(_place: usize, before: &Colouring, after: &Colouring) -> Cost {
    Cost { charge_s: 0.0, weighted: (after.circuits() - before.kept(after)) as f64 }
}
