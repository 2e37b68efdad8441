//! The interface of a kind of optical layer.

use model::{Connection, Error, Fabric, Islands, Light, MziMesh, Result, Shape, Switch, Topology};

use crate::held::Held;

/// Switches, and what is at their ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortMap {
    /// The switches.
    pub switches: Vec<Switch>,
    /// Per switch and port, from port 1 on: what sends into it and receives from it. Ports after those are free.
    pub ends: Vec<Vec<String>>,
}

/// The circuits of every topology on ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The connections of each topology that is held, by switch.
    pub connections: Vec<Vec<Vec<Connection>>>,
    /// Lower bound on the connections that any assignment sets up after the first topology.
    pub least_connects: u64,
}

/// A kind of optical layer: which switches there are, and how circuits come onto their ports.
pub trait Kind: Sync {
    /// Name, as `--optics` takes it.
    fn name(&self) -> &'static str;

    /// The form of its parameters, such as `AxB`; empty where it has none.
    fn parameters(&self) -> &'static str;

    /// A description in a few words.
    fn summary(&self) -> &'static str;

    /// The publication of this kind of layer.
    fn source(&self) -> &'static str;

    /// The numbering of the ports, in a sentence.
    fn numbering(&self) -> &'static str;

    /// # Errors
    /// Parameters that it does not take.
    fn check(&self, parameters: &str) -> Result<()>;

    /// The switches for GPUs of this shape.
    ///
    /// # Errors
    /// Parameters that do not go with the GPUs.
    fn port_map(&self, parameters: &str, shape: &Shape) -> Result<PortMap>;

    /// The switch, and its port from 1, at which a port of a GPU is; `None` where GPUs share ports, or a port of a
    /// switch says not all of where light goes.
    fn place(&self, _shape: &Shape, _gpu: u32, _port: u32) -> Option<(usize, u32)> {
        None
    }

    /// Whether every topology can be held at once that has a port of its GPU for each circuit.
    fn holds_all(&self) -> bool {
        false
    }

    /// Whether circuits keep off ports that fail: any other port of the GPU can take their place.
    fn keeps_off_failed_ports(&self) -> bool {
        false
    }

    /// The islands whose GPUs share ports; `None` where none do.
    fn islands(&self, _parameters: &str) -> Option<Islands> {
        None
    }

    /// Whether the circuits of a topology, which have a port of their GPU each, can be held at once.
    ///
    /// # Errors
    /// Why they cannot, or parameters that do not go with the GPUs.
    fn admits(&self, _parameters: &str, _shape: &Shape, _topology: &Topology) -> Result<()> {
        Ok(())
    }

    /// The wavelength that joins two ports of a switch, where light takes its way by its wavelength; else `None`.
    fn wavelength(&self, _parameters: &str, _connection: &Connection) -> Option<u32> {
        None
    }

    /// Topologies that are worth a planner's while in addition to those that any fabric has, as specifications of
    /// `lightloom list topologies`.
    fn topologies(&self, _parameters: &str, _shape: &Shape) -> Vec<String> {
        Vec::new()
    }

    /// Puts the circuits of all topologies, in the order in which they are held, on ports.
    ///
    /// # Errors
    /// A topology that the switches cannot have, with its steps.
    fn assign(&self, parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment>;

    /// The construction of the mesh that is the switch; `None` where switches are not looked into.
    ///
    /// # Errors
    /// Parameters that do not go with the GPUs.
    fn mesh(&self, _parameters: &str, _shape: &Shape) -> Result<Option<MziMesh>> {
        Ok(None)
    }

    /// The light of every topology that is held, by its connections in [`Assignment`]; empty where switches are not
    /// looked into.
    ///
    /// # Errors
    /// Circuits that cannot be lit at once, with their steps.
    fn light(&self, _parameters: &str, _fabric: &Fabric, _held: &[Held], _given: &Assignment) -> Result<Vec<Light>> {
        Ok(Vec::new())
    }

    /// The light of configurations that follow each other in an iteration, whose circuits come and go at different
    /// times: each with its time, s, and its connections, sorted. Empty where switches are not looked into.
    ///
    /// # Errors
    /// Circuits that cannot be lit at once, with their time.
    fn light_over_time(
        &self,
        _parameters: &str,
        _shape: &Shape,
        _configurations: &[(f64, &[Connection])],
    ) -> Result<Vec<Light>> {
        Ok(Vec::new())
    }
}

/// # Errors
/// Parameters, where a kind takes none.
pub(crate) fn takes_none(name: &str, parameters: &str) -> Result<()> {
    if parameters.is_empty() {
        return Ok(());
    }
    Err(Error::value("optics", format!("`{name}:{parameters}`"), format!("`{name}` without parameters")))
}
