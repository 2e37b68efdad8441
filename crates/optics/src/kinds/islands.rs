//! Islands of GPUs that share ports of one switch (BRIDGE §3.7).
//!
//! `islands:AxB`: GPUs i·A to i·A + A − 1 are island i, the last may be smaller. Electrical links join them to each
//! other and to the island's B transmitters and B receivers; port p of island i, both from 0, is port i·B + p + 1 of
//! the switch. Circuits inside an island need no port. The electrical links decide which GPU uses a port, so that
//! circuits between the same two islands are alike to the switch.

use model::{Error, Fabric, Faults, Islands, Result, Shape, Switch, Topology};

use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};
use crate::shared_ports::{Sites, assign};

/// GPUs behind shared ports.
pub(super) struct OfIslands;

fn sites(islands: Islands, shape: &Shape) -> Sites {
    Sites { sites: shape.gpus().div_ceil(islands.gpus), ports: islands.ports }
}

impl Kind for OfIslands {
    fn name(&self) -> &'static str {
        Islands::NAME
    }

    fn parameters(&self) -> &'static str {
        "AxB"
    }

    fn summary(&self) -> &'static str {
        "islands of A GPUs behind B ports of one switch; circuits inside an island need no port"
    }

    fn source(&self) -> &'static str {
        "BRIDGE §3.7"
    }

    fn numbering(&self) -> &'static str {
        "AxB means A GPUs and B switch ports per island; GPU g is in island g div A; port p of island i (both from 0) \
        is switch port i·B + p + 1"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        Islands::parse(parameters).map(|_| ())
    }

    fn port_map(&self, parameters: &str, shape: &Shape) -> Result<PortMap> {
        let Sites { sites, ports } = sites(Islands::parse(parameters)?, shape);
        let ends = (0..sites).flat_map(|site| (0..ports).map(move |port| format!("island {site}.{port}"))).collect();
        let switch = Switch { name: "islands".into(), ports: sites.saturating_mul(ports) };
        Ok(PortMap { switches: vec![switch], ends: vec![ends] })
    }

    fn islands(&self, parameters: &str) -> Option<Islands> {
        Islands::parse(parameters).ok()
    }

    fn admits(&self, parameters: &str, _shape: &Shape, topology: &Topology) -> Result<()> {
        Islands::parse(parameters)?.circuits(topology).map(|_| ())
    }

    /// Chains of an island's GPUs, each with an end at a port, joined to the chains of the island an offset away
    /// (BRIDGE §3.7).
    fn topologies(&self, parameters: &str, shape: &Shape) -> Vec<String> {
        let Ok(islands) = Islands::parse(parameters) else { return Vec::new() };
        // Out of the parallel circuits of a GPU's d ports an island can lead as many chains out as it has ports for.
        let chains = (islands.ports / shape.ports()).clamp(1, islands.gpus);
        let block = islands.gpus.div_ceil(chains);
        if !shape.gpus().is_multiple_of(block) || shape.gpus() == block {
            return Vec::new();
        }
        (1..shape.gpus() / block).map(|offset| format!("block-ring:{block},{offset}")).collect()
    }

    fn assign(&self, parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        let islands = Islands::parse(parameters)?;
        let circuits = held.iter().map(|held| {
            let refused = |error: Error| Error::infeasible("optics", format!("{}, {}", error.reason(), held.when()));
            islands.circuits(held.topology).map_err(refused)
        });
        Ok(assign(sites(islands, &fabric.shape), &Faults::default(), held, &circuits.collect::<Result<Vec<_>>>()?))
    }
}
