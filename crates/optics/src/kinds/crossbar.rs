//! One switch to which all ports of all GPUs are attached (HARVEST §3.1; BRIDGE §3.7 with 2n ports).
//!
//! Port p of GPU g, both from 0, is ingress port g·d + p + 1 by its transmitter and egress port g·d + p + 1 by its
//! receiver, where GPUs have d ports.

use model::{Fabric, Result, Shape, Switch};

use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap, takes_none};
use crate::shared_ports::{Sites, assign};

/// The layer of one switch for all ports.
pub(super) struct Crossbar;

impl Kind for Crossbar {
    fn name(&self) -> &'static str {
        "crossbar"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn summary(&self) -> &'static str {
        "one switch for all ports of all GPUs"
    }

    fn source(&self) -> &'static str {
        "HARVEST §3.1"
    }

    fn numbering(&self) -> &'static str {
        "transmitter p of GPU g is at ingress port g·d + p + 1 of the switch, receiver p at the egress port of that \
        number (d ports per GPU, p and g from 0)"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        takes_none(self.name(), parameters)
    }

    fn port_map(&self, _parameters: &str, shape: &Shape) -> Result<PortMap> {
        let end = |gpu: u32, port: u32| if shape.ports() == 1 { format!("{gpu}") } else { format!("{gpu}.{port}") };
        let ends =
            (0..shape.fabric_gpus()).flat_map(|gpu| (0..shape.ports()).map(move |port| end(gpu, port))).collect();
        let switch = Switch { name: "crossbar".into(), ports: shape.fabric_gpus().saturating_mul(shape.ports()) };
        Ok(PortMap { switches: vec![switch], ends: vec![ends] })
    }

    fn place(&self, shape: &Shape, gpu: u32, port: u32) -> Option<(usize, u32)> {
        Some((0, gpu * shape.ports() + port + 1))
    }

    fn holds_all(&self) -> bool {
        true
    }

    fn keeps_off_failed_ports(&self) -> bool {
        true
    }

    fn assign(&self, _parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        let shape = &fabric.shape;
        let sites = Sites { sites: shape.fabric_gpus(), ports: shape.ports() };
        let ends = |src, dst| (shape.gpu_of(src), shape.gpu_of(dst));
        let circuits: Vec<_> = held
            .iter()
            .map(|held| {
                held.topology.expanded().into_iter().map(|link| (ends(link.src, link.dst), link.count)).collect()
            })
            .collect();
        Ok(assign(sites, shape.faults(), held, &circuits))
    }
}
