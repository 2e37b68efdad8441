//! Groups of GPUs whose ports lead to routers by wavelength.
//!
//! GPUs a·K to a·K + K − 1 are group a, of G groups. Fibre k of the GPUs of group a leads through router (a, k) to fibre
//! k of the GPUs of group (a + k) mod G, so that a circuit from group a to group b takes a fibre k with
//! k ≡ b − a (mod G). A fibre carries one circuit, or one for each of its bands of wavelengths; port p of a GPU is band
//! p mod B of fibre ⌊p / B⌋.

use model::{Connection, Error, Fabric, Link, Result, Shape, Switch, Topology, Translations, counted};

use crate::held::Held;
use crate::kind::{Assignment, PortMap};
use crate::parallel::{Colouring, Cost, DARK, decompose};

/// Groups of GPUs, each with a router for each fibre of a GPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Groups {
    /// GPUs of a group, K: fibres that enter a router, and as many that leave it.
    pub size: u32,
    /// Circuits that a fibre carries at once, B.
    pub bands: u32,
    /// The noun for what a circuit takes of a GPU: `port` or `band`.
    pub noun: &'static str,
}

impl Groups {
    /// The number of groups.
    ///
    /// # Errors
    /// GPUs that do not fill their groups, or ports that do not fill their fibres.
    pub(crate) fn count(self, shape: &Shape) -> Result<u32> {
        let (gpus, size) = (shape.gpus(), self.size);
        if gpus > size && !gpus.is_multiple_of(size) {
            let accepts = format!("at most {size} GPUs, or a multiple of it, with optics of routers of {size} ports");
            return Err(Error::value("gpus", gpus, accepts));
        }
        if !shape.ports().is_multiple_of(self.bands) {
            let bands = self.bands;
            let accepts = format!("a multiple of {bands}, one for each band, with optics of {bands} bands a fibre");
            return Err(Error::value("ports", shape.ports(), accepts));
        }
        Ok(gpus.div_ceil(size))
    }

    /// The routers, and the GPUs at their ports; `name` is what their names begin with.
    ///
    /// # Errors
    /// GPUs or ports that do not fill groups or fibres.
    pub(crate) fn port_map(self, shape: &Shape, name: &str) -> Result<PortMap> {
        let (groups, fibres) = (self.count(shape)?, shape.ports() / self.bands);
        let (mut switches, mut ends) = (Vec::new(), Vec::new());
        for (group, fibre) in (0..groups).flat_map(|group| (0..fibres).map(move |fibre| (group, fibre))) {
            switches.push(Switch { name: format!("{name}-{group}.{fibre}"), ports: self.size * self.bands });
            let (from, to) = (group * self.size, (group + fibre) % groups * self.size);
            let end = |port: u32| match (from == to, port / self.bands) {
                (true, place) => (from + place).to_string(),
                (false, place) => format!("{}>, >{}", from + place, to + place),
            };
            ends.push((0..self.size.min(shape.gpus()) * self.bands).map(end).collect());
        }
        Ok(PortMap { switches, ends })
    }

    /// The circuits of a topology by the number of groups from source on to destination, each with as many ports as lead
    /// so far.
    ///
    /// # Errors
    /// More circuits than ports.
    pub(crate) fn by_distance(self, shape: &Shape, topology: &Topology) -> Result<Vec<Topology>> {
        let groups = self.count(shape)?;
        let links = topology.expanded();
        let distance_of = |link: &Link| (link.dst / self.size + groups - link.src / self.size) % groups;
        (0..groups)
            .map(|distance| {
                let so_far = links.iter().filter(|link| distance_of(link) == distance).copied();
                let part = Topology::new(topology.name(), Translations::trivial(shape.gpus()), so_far)?;
                let ports = self.ports_of(shape, groups, distance).count() as u64;
                if u64::from(part.degree()) > ports {
                    let leading = match ports {
                        0 => format!("no {} leads", self.noun),
                        ports => format!("{} of it lead", counted(ports, self.noun)),
                    };
                    let circuits = counted(u64::from(part.degree()), "circuit");
                    let name = topology.name();
                    let reason =
                        format!("{name}: {circuits} of a GPU to or from the group {distance} on, where {leading}");
                    return Err(Error::infeasible("optics", reason));
                }
                Ok(part)
            })
            .collect()
    }

    /// The ports whose routers lead to the group so many on.
    fn ports_of(self, shape: &Shape, groups: u32, distance: u32) -> impl Iterator<Item = u32> {
        (0..shape.ports()).filter(move |port| port / self.bands % groups == distance)
    }

    /// Puts the circuits of topologies on ports, so that few are set up; `admits` says what else a topology has to
    /// keep to.
    ///
    /// # Errors
    /// A topology that routers cannot have, with its steps, or a delay for each port.
    pub(crate) fn assign(
        self,
        fabric: &Fabric,
        held: &[Held],
        admits: impl Fn(&Topology) -> Result<()>,
    ) -> Result<Assignment> {
        let shape = &fabric.shape;
        let (groups, fibres) = (self.count(shape)?, shape.ports() / self.bands);
        if !fabric.reconfiguration.delay().terms().by_port_s.is_empty() {
            let accepts = "one delay for all ports, as all circuits by wavelength take as long to set up";
            return Err(Error::value("reconfiguration_delay", "a delay for each port", accepts));
        }
        let parts = held.iter().map(|held| {
            let refused = |error: Error| Error::infeasible("optics", format!("{}, {}", error.reason(), held.when()));
            admits(held.topology).and_then(|()| self.by_distance(shape, held.topology)).map_err(refused)
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let mut connections = vec![vec![Vec::new(); (groups * fibres) as usize]; held.len()];
        let mut least_connects = 0;
        for distance in 0..groups {
            let ports: Vec<u32> = self.ports_of(shape, groups, distance).collect();
            if ports.is_empty() {
                continue;
            }
            let topologies: Vec<&Topology> = parts.iter().map(|parts| &parts[distance as usize]).collect();
            let order: Vec<usize> = (0..ports.len()).collect();
            let decomposed = decompose(&topologies, &order, &vec![1.0; ports.len()], false, &fewest);
            least_connects += decomposed.least_connects;
            for (connections, colouring) in connections.iter_mut().zip(&decomposed.colourings) {
                for (&port, out) in ports.iter().zip(&colouring.out) {
                    let (fibre, band) = (port / self.bands, port % self.bands);
                    let at = |gpu: u32| gpu % self.size * self.bands + band + 1;
                    for (src, &dst) in (0..).zip(out).filter(|(_, dst)| **dst != DARK) {
                        let router = src / self.size * fibres + fibre;
                        connections[router as usize].push(Connection { ingress: at(src), egress: at(dst) });
                    }
                }
            }
        }
        Ok(Assignment { connections, least_connects })
    }
}

/// Connections that are set up, as each takes as long.
fn fewest(_place: usize, before: &Colouring, after: &Colouring) -> Cost {
    Cost { charge_s: 0.0, weighted: (after.circuits() - before.kept(after)) as f64 }
}
