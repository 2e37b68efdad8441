//! Conversion of a plan to the JSON's shape.

use model::{
    Chunks, Collective, Electrical, Fabric, Op, Plan, PlanStep, Rank, Routes, Topology, Transfer, Translations,
};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Serializer;

use super::document::{
    ChunksText, ElectricalText, FabricText, OpText, PlanText, RoutesText, SCHEMA, StepText, SymmetryText, TopologyText,
};
use super::layout::Rows;
use super::runs::Run;
use crate::cutoffs::plan_json_write::MOST_LINKS;
use crate::rates::{RatesText, circuits_by_rate};

pub(super) fn plan(plan: &Plan) -> String {
    let mut written = Vec::new();
    let is_written = shape(plan).serialize(&mut Serializer::with_formatter(&mut written, Rows::default()));
    // Strings, numbers and lists of them, in memory.
    debug_assert!(is_written.is_ok());
    written.push(b'\n');
    String::from_utf8(written).unwrap_or_default()
}

fn shape(plan: &Plan) -> PlanText {
    let narrow = plan.narrow_bound.as_ref();
    PlanText {
        schema: SCHEMA.to_string(),
        collective: plan.collective().name().to_string(),
        algorithm: plan.algorithm.clone(),
        planner: plan.planner.clone(),
        gpus: plan.fabric.shape.gpus(),
        fabric_gpus: plan.fabric.shape.subset().map(|_| plan.fabric.shape.fabric_gpus()),
        ranks: plan.fabric.shape.subset().map(<[u32]>::to_vec).unwrap_or_default(),
        forwarding_gpus: plan.chunks.forwarding(),
        size_bytes: plan.size_bytes,
        fabric: fabric(&plan.fabric),
        routing: plan.settings.routing.name().to_string(),
        propagation: plan.settings.propagation.name().to_string(),
        overlap: plan.settings.overlap.name().to_string(),
        chunks: chunks(&plan.chunks),
        total_s: plan.total_s(),
        reconfigurations: plan.reconfigurations(),
        lower_bound_s: plan.bound.seconds,
        bound_class: plan.bound.class.clone(),
        narrow_lower_bound_s: narrow.map(|bound| bound.seconds),
        narrow_bound_class: narrow.map(|bound| bound.class.clone()),
        initial_topology: plan.initial_index(),
        topologies: plan.topologies.iter().enumerate().map(|(id, it)| topology(id, it)).collect(),
        steps: plan.steps.iter().enumerate().map(|(index, it)| step(index, it)).collect(),
        _baselines: IgnoredAny,
        _traffic_bytes: IgnoredAny,
        _sampled: IgnoredAny,
        _repair: IgnoredAny,
        _never_change_s: None,
        repeated_s: None,
    }
}

fn fabric(fabric: &Fabric) -> FabricText {
    let (delay, overlap) = (fabric.reconfiguration.delay().terms(), fabric.reconfiguration.overlap());
    FabricText {
        dims: fabric.shape.dims().to_vec(),
        ports: fabric.shape.ports(),
        bandwidth_bps: RatesText::of(fabric),
        startup_s: fabric.startup_s,
        hop_delay_s: fabric.hop_delay_s,
        reconfiguration_delay_s: delay.fixed_s,
        reconfiguration_delay_per_port_s: delay.per_port_s,
        background_reconfiguration: overlap.background,
        window_s: overlap.window.every_s,
        windows_s: overlap.window.steps.iter().map(|(&step, &seconds)| (step, seconds)).collect(),
        initial: fabric.initial_name().to_string(),
        reconfiguration_delays_by_port_s: delay.by_port_s.to_vec(),
        optics: fabric.optics.as_ref().map(|layer| layer.spelling().to_string()),
        barrier_s: fabric.barrier_s,
        failed: fabric.shape.faults().all().iter().map(ToString::to_string).collect(),
        electrical: fabric.electrical.map(|Electrical { gpus, bandwidth_bps, hop_delay_s }| ElectricalText {
            gpus,
            bandwidth_bps,
            hop_delay_s,
        }),
        positions: fabric.shape.positions().map(ToString::to_string),
        pair_rates: fabric.shape.pairs().map(ToString::to_string),
    }
}

fn chunks(chunks: &Chunks) -> ChunksText {
    if let Some(pieces) = chunks.as_pieces() {
        return ChunksText::Pieces { pieces: pieces.iter().map(|piece| (piece.src, piece.dst, piece.share)).collect() };
    }
    if let Some((root, parts)) = chunks.as_buffer() {
        return ChunksText::Buffer { root, parts };
    }
    let parts = chunks.parts().unwrap_or(1);
    match (chunks.collective(), chunks.root()) {
        (_, Some(root)) => ChunksText::Rooted { root, parts },
        (Collective::AllToAll, _) => ChunksText::Pairs { parts },
        _ => ChunksText::Owned { parts },
    }
}

fn topology(id: usize, topology: &Topology) -> TopologyText {
    let count = topology.links().len() as u64 * u64::from(topology.symmetry().order());
    let is_whole = count <= MOST_LINKS;
    let links = if is_whole { topology.expanded() } else { topology.links().to_vec() };
    let links: Vec<_> = links.into_iter().map(|link| (link.src, link.dst, link.count)).collect();
    let circuits_by_rate = circuits_by_rate(topology, &links);
    let (links, representatives) = if is_whole { (Some(links), None) } else { (None, Some(links)) };
    TopologyText {
        id,
        name: topology.name().to_string(),
        symmetry: symmetry(topology.symmetry()),
        links,
        representatives,
        circuits_by_rate,
    }
}

fn step(index: usize, step: &PlanStep) -> StepText {
    StepText {
        index,
        topology: step.topology,
        reconfigured: step.reconfigured,
        transfer_bytes: step.transfer_bytes,
        hops: step.hops,
        load: step.load,
        electrical_load: step.electrical_load,
        startup_s: step.cost.startup_s,
        propagation_s: step.cost.propagation_s,
        transmission_s: step.cost.transmission_s,
        reconfiguration_s: step.cost.reconfiguration_s,
        barrier_s: step.cost.barrier_s,
        symmetry: symmetry(step.step.symmetry()),
        transfers: step.step.transfers().iter().map(transfer).collect(),
        routes: routes(&step.routes),
    }
}

fn transfer(transfer: &Transfer) -> (Rank, Rank, OpText, Vec<Run>) {
    let op = match transfer.op {
        Op::Copy => OpText::Copy,
        Op::Reduce => OpText::Reduce,
    };
    (transfer.src, transfer.dst, op, Run::of(&transfer.chunks))
}

fn routes(routes: &Routes) -> RoutesText {
    let arcs = routes.arcs.iter().map(|arc| {
        let paths = arc.paths.iter().map(|path| (path.share, path.nodes.to_vec()));
        (arc.src, arc.dst, paths.collect())
    });
    RoutesText { symmetry: symmetry(&routes.symmetry), arcs: arcs.collect() }
}

fn symmetry(group: &Translations) -> SymmetryText {
    group.digits().iter().map(|digit| (digit.stride, digit.radix)).collect()
}
