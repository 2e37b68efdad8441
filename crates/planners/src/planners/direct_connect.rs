//! DirectConnect as the all-to-all paper's baseline (§5.1): one topology of low diameter for all flows at once, routed
//! by maximum concurrent flow.

use model::{CostSettings, Error, Result, Routing, Shape, Topology};

use super::static_topology::Static;
use crate::all_to_all_baseline::{AllToAllBaseline, Service};
use crate::forwarded_blocks::ForwardedBlocks;
use crate::join::join_steps;
use crate::{Choice, LeastSum, Planner, Problem};

/// The baseline on the generalised Kautz graph.
pub(super) static KAUTZ: AllToAllBaseline = AllToAllBaseline {
    name: "direct-connect-kautz",
    summary: "All-to-All in one step on a generalised Kautz graph, by maximum concurrent flow",
    choose: |blocks, limit_s| choose(blocks, limit_s, |shape| topologies::build("kautz", shape)),
    ..ANY
};

/// The baseline on the circulant graph of least hops.
pub(super) static CIRCULANT: AllToAllBaseline = AllToAllBaseline {
    name: "direct-connect-circulant",
    summary: "All-to-All in one step on a circulant graph, by maximum concurrent flow",
    choose: |blocks, limit_s| choose(blocks, limit_s, circulant),
    ..ANY
};

/// The common part of both.
const ANY: AllToAllBaseline = AllToAllBaseline {
    name: "",
    summary: "",
    source: "DirectConnect, as To reconfigure or not to reconfigure §5.1 has it",
    fixed_routing: Some(Routing::ConcurrentFlow),
    least_sum: LeastSum::Always,
    service: Service::AllSteps,
    choose: |_, _| Ok(None),
};

/// Concurrent flows of more commodities than this are refused: the linear program would take minutes.
const MAX_COMMODITIES: u64 = 1 << 13;

fn choose(
    blocks: &ForwardedBlocks<'_>,
    limit_s: f64,
    build: impl FnOnce(&Shape) -> Result<Topology>,
) -> Result<Option<Choice>> {
    if !blocks.one_step_may_do(limit_s) {
        return Ok(None);
    }
    let (problem, planner) = (blocks.problem(), blocks.planner());
    let schedule = join_steps(problem.schedule(), problem.schedule().steps().len())?;
    let shape = &problem.fabric.shape;
    // One circuit out of every GPU that joins all is a ring.
    let topology = if least_ports(shape) == 1 { topologies::build("ring", shape)? } else { build(shape)? };
    let group = schedule.steps()[0].traffic().symmetry().meet(topology.symmetry());
    let ranks = u64::from(topology.ranks());
    let commodities = ranks * (ranks - 1) / u64::from(group.order());
    if commodities > MAX_COMMODITIES {
        let reason = format!("its flow problem has {commodities} commodities; at most {MAX_COMMODITIES} are solved");
        return Err(Error::refused("planner", planner, reason));
    }
    let settings = CostSettings { routing: Routing::ConcurrentFlow, ..problem.settings };
    let mut own = problem.with(schedule, settings, vec![topology])?;
    // The flow is the same at all operating points, so its costs are looked up in the shared table.
    own.table = problem.shared.table(planner, &problem.fabric.initial, own.table);
    // The initial topology may have joined the candidates; it is not what this planner stands for.
    let own = Problem { static_candidates: vec![0], ..own };
    let choice = Static.choose_within(&own, limit_s)?;
    Ok(choice.map(|choice| Choice { planner, ..choice }))
}

/// More ports than peers would be parallel circuits.
fn least_ports(shape: &Shape) -> u32 {
    shape.ports().min(shape.gpus() - 1)
}

fn circulant(shape: &Shape) -> Result<Topology> {
    let stages = block_rounds::circulant(shape.gpus(), least_ports(shape))?.strategy().stages;
    let base = stages.into_iter().next().map(|stage| stage.topology);
    base.ok_or_else(|| Error::infeasible("topology", "no circulant graph connects all GPUs"))
}
