//! Islands of GPUs that share ports of one switch (BRIDGE §3.7).
//!
//! `islands:AxB`: GPUs i·A to i·A + A − 1 are island i, the last may be smaller. Electrical links join them to each other
//! and to the island's B transmitters and B receivers; port p of island i, both from 0, is port i·B + p + 1 of the switch.
//! Circuits inside an island need no port. Which GPU uses a port is a matter of the electrical links, so that circuits
//! between the same two islands are alike to the switch.

use std::collections::BTreeMap;

use model::{Error, Fabric, Result, Shape, Switch, counted};

use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};
use crate::shared_ports::{SiteCircuits, Sites, assign};

/// GPUs behind shared ports.
pub(super) struct Islands;

/// GPUs and ports of an island.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Island {
    gpus: u32,
    ports: u32,
}

impl Island {
    fn parse(parameters: &str) -> Result<Self> {
        let whole = |text: &str| text.parse::<u32>().ok().filter(|number| (1..=65_536).contains(number));
        let numbers = parameters.split_once('x').map(|(gpus, ports)| (whole(gpus), whole(ports)));
        match numbers {
            Some((Some(gpus), Some(ports))) => Ok(Self { gpus, ports }),
            _ => {
                let given: String = parameters.chars().take(60).collect();
                let accepts = "`islands:AxB`: A GPUs behind B ports, each from 1 to 65536, such as islands:4x2";
                Err(Error::value("optics", format!("`islands:{given}`"), accepts))
            }
        }
    }

    fn sites(self, shape: &Shape) -> Sites {
        Sites { sites: shape.gpus().div_ceil(self.gpus), ports: self.ports }
    }

    /// The circuits of a topology between islands.
    ///
    /// # Errors
    /// More of them leave or enter an island than it has ports.
    fn circuits(self, held: &Held, gpus: u32) -> Result<SiteCircuits> {
        let mut between = SiteCircuits::new();
        let mut at: [BTreeMap<u32, u32>; 2] = [BTreeMap::new(), BTreeMap::new()];
        for link in held.topology.expanded() {
            let (from, to) = (link.src / self.gpus, link.dst / self.gpus);
            if from != to {
                *between.entry((from, to)).or_insert(0) += link.count;
                *at[0].entry(from).or_insert(0) += link.count;
                *at[1].entry(to).or_insert(0) += link.count;
            }
        }
        let too_many = |(verb, at): (&'static str, &BTreeMap<u32, u32>)| {
            let found = at.iter().find(|(_, count)| **count > self.ports);
            found.map(|(&island, &count)| (verb, island, count))
        };
        let Some((verb, island, count)) = [("leave", &at[0]), ("enter", &at[1])].into_iter().find_map(too_many) else {
            return Ok(between);
        };
        let when = held.when();
        let (first, last) = (island * self.gpus, (island * self.gpus + self.gpus - 1).min(gpus - 1));
        let ports = counted(u64::from(self.ports), "port");
        let name = held.topology.name();
        Err(Error::infeasible(
            "optics",
            format!(
                "island {island} (GPUs {first} to {last}) has {ports}; {when}, {count} circuits of {name} {verb} it"
            ),
        ))
    }
}

impl Kind for Islands {
    fn name(&self) -> &'static str {
        "islands"
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
        "of islands of A GPUs with B ports, GPU g is in island g div A; port p of island i, both from 0, is port i·B + p + 1"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        Island::parse(parameters).map(|_| ())
    }

    fn port_map(&self, parameters: &str, shape: &Shape) -> Result<PortMap> {
        let Sites { sites, ports } = Island::parse(parameters)?.sites(shape);
        let ends = (0..sites).flat_map(|site| (0..ports).map(move |port| format!("island {site}.{port}"))).collect();
        let switch = Switch { name: "islands".into(), ports: sites.saturating_mul(ports) };
        Ok(PortMap { switches: vec![switch], ends: vec![ends] })
    }

    fn assign(&self, parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        let island = Island::parse(parameters)?;
        let circuits =
            held.iter().map(|held| island.circuits(held, fabric.shape.gpus())).collect::<Result<Vec<_>>>()?;
        Ok(assign(island.sites(&fabric.shape), held, &circuits))
    }
}
