//! The topologies that messages of an iteration go over.

use model::{
    Error, Fabric, Link, MessageTopology, Rank, Result, Shape, Topology, TrainingEvent, TrainingPlan, Translations,
    Workload,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::one_line::one_line;
use crate::rates::{circuits_by_rate, on_ports};

/// `axis` is null where all ranks are one group.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopologyText {
    name: String,
    #[serde(deserialize_with = "Option::deserialize")]
    axis: Option<String>,
    rests: bool,
    links: Vec<(Rank, Rank, u32)>,
    #[serde(default)]
    circuits_by_rate: Option<Vec<Vec<u32>>>,
}

/// Keys and values of a topology in the file.
pub(super) fn written(training: &TrainingPlan) -> Vec<Vec<(String, Value)>> {
    let keys = |MessageTopology { axis, rests, topology }: &MessageTopology| {
        let links: Vec<_> = topology.expanded().iter().map(|link| (link.src, link.dst, link.count)).collect();
        let by_rate = circuits_by_rate(topology, &links);
        let mut keys = vec![
            ("name".into(), json!(topology.name())),
            ("axis".into(), json!(axis.map(|axis| &training.workload.mesh[axis].name))),
            ("rests".into(), json!(rests)),
            ("links".into(), json!(links)),
        ];
        keys.extend(by_rate.map(|by_rate| ("circuits_by_rate".into(), json!(by_rate))));
        keys
    };
    training.topologies.iter().map(keys).collect()
}

/// The topologies of a file; where ports have different rates, each on the ports of the first event that has it.
///
/// # Errors
/// An axis that the mesh does not have, links that make no topology, and circuits by rate that the ports do not have.
pub(super) fn read_topologies(
    texts: Vec<TopologyText>,
    (workload, fabric, events): (&Workload, &Fabric, &[TrainingEvent]),
) -> Result<Vec<MessageTopology>> {
    let read = texts.into_iter().enumerate().map(|(index, text)| {
        let field = format!("training.topologies[{index}]");
        let at = |reason: String| Error::malformed(&field, one_line(&reason));
        let axis = match &text.axis {
            None => None,
            Some(name) => {
                let found = workload.mesh.iter().position(|axis| axis.name == *name);
                Some(found.ok_or_else(|| at(format!("`{name}` is not an axis of the workload's mesh")))?)
            }
        };
        let ranks = axis.map_or(workload.ranks, |axis| workload.mesh[axis].size);
        let ends: Vec<(Rank, Rank)> = text.links.iter().map(|&(src, dst, _)| (src, dst)).collect();
        let links = text.links.into_iter().map(|(src, dst, count)| Link { src, dst, count });
        let topology = Topology::new(one_line(&text.name), Translations::trivial(ranks), links);
        let topology = topology.map_err(|error| at(error.to_string()))?;
        let held = events.iter().find(|event| event.topology == Some(index)).map_or(&[][..], |event| &event.ports);
        let rates = fabric.shape.rates().and_then(|rates| rates.among(held.iter().copied()));
        let shape = Shape::new(ranks, &[], fabric.shape.ports())?.with_rates(rates);
        let topology = on_ports(topology, &ends, text.circuits_by_rate.as_deref(), (&shape, &field))?;
        Ok(MessageTopology { axis, rests: text.rests, topology })
    });
    read.collect()
}
