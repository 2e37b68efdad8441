//! A description of the optical layer: its kind, and what its switches are.

use model::{
    Connection, Error, Fabric, Fault, Islands, Light, MziMesh, Result, Shape, Topology, counted, unknown_name,
};

use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};
use crate::kinds::REGISTRY;
use crate::mixed_rates;

/// The optical layer under a fabric.
#[derive(Clone)]
pub struct Optics {
    kind: &'static dyn Kind,
    parameters: String,
    names: Vec<String>,
    switch_ports: Option<u32>,
}

impl std::fmt::Debug for Optics {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Optics({})", self.spelling())
    }
}

impl Optics {
    /// `crossbar`, or a kind with its parameters after a colon, such as `islands:4x2`.
    ///
    /// # Errors
    /// An unknown kind, or parameters that it does not take.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, parameters) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let found = REGISTRY.iter().find(|kind| kind.name() == name);
        let kind = *found.ok_or_else(|| unknown_name("optics", name, REGISTRY.iter().map(|kind| kind.name())))?;
        kind.check(parameters)?;
        Ok(Self { kind, parameters: parameters.to_string(), names: Vec::new(), switch_ports: None })
    }

    /// This optical layer with names for its switches, one each.
    #[must_use]
    pub fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// This optical layer with switches of `ports` ports each, of which some may stay free.
    #[must_use]
    pub fn with_switch_ports(self, ports: u32) -> Self {
        Self { switch_ports: Some(ports), ..self }
    }

    /// The text that [`Self::parse`] reads.
    pub fn spelling(&self) -> String {
        let colon = if self.parameters.is_empty() { "" } else { ":" };
        format!("{}{colon}{}", self.kind.name(), self.parameters)
    }

    /// The numbering of the ports, in a sentence.
    pub fn numbering(&self) -> &'static str {
        self.kind.numbering()
    }

    /// The switches, and whose ports are on theirs.
    ///
    /// # Errors
    /// Parameters that do not go with the GPUs, switches of fewer ports than are needed, more or fewer names than there
    /// are switches.
    pub fn port_map(&self, shape: &Shape) -> Result<PortMap> {
        let mut map = self.kind.port_map(&self.parameters, shape)?;
        if !self.names.is_empty() {
            if self.names.len() != map.switches.len() {
                let accepts = format!("one name for each switch, {} in all", map.switches.len());
                return Err(Error::value(
                    "names",
                    format!("a list of {}", counted(self.names.len() as u64, "name")),
                    accepts,
                ));
            }
            map.switches.iter_mut().zip(&self.names).for_each(|(switch, name)| switch.name.clone_from(name));
        }
        if let Some(ports) = self.switch_ports {
            for switch in &mut map.switches {
                if switch.ports > ports {
                    let needs = format!("at least {}, as many as switch `{}` needs", switch.ports, switch.name);
                    return Err(Error::value("switch_ports", ports, needs));
                }
                switch.ports = ports;
            }
        }
        Ok(map)
    }

    /// The switch, and its port from 1, at which a port of a GPU is; `None` where GPUs share ports.
    pub(crate) fn place(&self, shape: &Shape, gpu: u32, port: u32) -> Option<(usize, u32)> {
        self.kind.place(shape, gpu, port)
    }

    /// Whether every topology can be held at once that has a port of its GPU for each circuit.
    pub fn holds_all(&self) -> bool {
        self.kind.holds_all()
    }

    /// # Errors
    /// Ports of these GPUs that fail, where circuits cannot keep off them.
    pub fn check_faults(&self, shape: &Shape) -> Result<()> {
        let is_of_port =
            |fault: &&Fault| matches!(fault, Fault::Transmitter { .. } | Fault::Receiver { .. } | Fault::Switch(_));
        match shape.faults().all().iter().find(is_of_port) {
            Some(fault) if !self.kind.keeps_off_failed_ports() => {
                let accepts = format!(
                    "gpu:G and link:A-B with optical layer {}: only on a crossbar or mesh any port takes the place of \
                     one that fails",
                    self.spelling()
                );
                Err(Error::value("failed", format!("`{fault}`"), accepts))
            }
            _ => Ok(()),
        }
    }

    /// The islands whose GPUs share ports; `None` where none do.
    pub(crate) fn islands(&self) -> Option<Islands> {
        self.kind.islands(&self.parameters)
    }

    /// Whether the circuits of a topology, which have a port of their GPU each, can be held at once.
    ///
    /// # Errors
    /// Why they cannot, or parameters that do not go with the GPUs.
    pub fn admits(&self, shape: &Shape, topology: &Topology) -> Result<()> {
        self.kind.admits(&self.parameters, shape, topology)
    }

    /// The wavelength that joins two ports of a switch, where light takes its way by its wavelength; else `None`.
    pub(crate) fn wavelength(&self, connection: &Connection) -> Option<u32> {
        self.kind.wavelength(&self.parameters, connection)
    }

    /// Topologies that are worth a planner's while in addition to those that any fabric has, as specifications.
    pub fn topologies(&self, shape: &Shape) -> Vec<String> {
        self.kind.topologies(&self.parameters, shape)
    }

    /// Puts circuits on ports.
    ///
    /// # Errors
    /// A topology that these switches cannot have.
    pub(crate) fn assign(&self, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        match fabric.shape.rates() {
            None => self.kind.assign(&self.parameters, fabric, held),
            Some(rates) => mixed_rates::assign(self.kind, &self.parameters, (fabric, rates), held),
        }
    }

    /// Whether every circuit needs a path of its own through the switch, which [`crate::circuits`] and
    /// [`crate::iteration_circuits`] look for.
    ///
    /// # Errors
    /// Parameters that do not go with the GPUs.
    pub fn has_paths(&self, shape: &Shape) -> Result<bool> {
        self.mesh(shape).map(|mesh| mesh.is_some())
    }

    /// The construction of the mesh that is the switch, where it is one.
    ///
    /// # Errors
    /// Parameters that do not go with the GPUs.
    pub(crate) fn mesh(&self, shape: &Shape) -> Result<Option<MziMesh>> {
        self.kind.mesh(&self.parameters, shape)
    }

    /// The light of configurations of an iteration.
    ///
    /// # Errors
    /// Circuits that cannot be lit at once.
    pub(crate) fn light_over_time(&self, shape: &Shape, configurations: &[(f64, &[Connection])]) -> Result<Vec<Light>> {
        self.kind.light_over_time(&self.parameters, shape, configurations)
    }

    /// The light of every topology.
    ///
    /// # Errors
    /// Circuits that cannot be lit at once.
    pub(crate) fn light(&self, fabric: &Fabric, held: &[Held], given: &Assignment) -> Result<Vec<Light>> {
        self.kind.light(&self.parameters, fabric, held, given)
    }
}
