//! A plan as JSON text. Written out by hand rather than derived: keys keep the contract's order, and one
//! line holds one topology or one step.

use std::fmt::Display;

use model::{Chunks, Collective, Op, Plan, PlanStep, Routes, Topology, Transfer, Translations};
use serde_json::Value;

use super::document::SCHEMA;
use super::runs::Run;
use crate::cutoffs::plan_json_write::MOST_LINKS;

pub(super) fn plan(plan: &Plan) -> String {
    let initial_topology = plan.initial_index().map_or_else(|| "null".to_string(), |index| index.to_string());
    let mut fields = vec![
        ("schema", text(SCHEMA)),
        ("collective", text(plan.collective().name())),
        ("algorithm", text(&plan.algorithm)),
        ("planner", text(&plan.planner)),
        ("gpus", plan.fabric.shape.gpus().to_string()),
        ("size_bytes", plan.size_bytes.to_string()),
        ("fabric", fabric(plan)),
        ("routing", text(plan.settings.routing.name())),
        ("propagation", text(plan.settings.propagation.name())),
        ("overlap", text(plan.settings.overlap.name())),
        ("chunks", chunks(&plan.chunks)),
        ("total_s", number(plan.total_s())),
        ("reconfigurations", plan.reconfigurations().to_string()),
        ("lower_bound_s", number(plan.bound.seconds)),
        ("bound_class", text(&plan.bound.class)),
    ];
    if let Some(narrow) = &plan.narrow_bound {
        fields.push(("narrow_lower_bound_s", number(narrow.seconds)));
        fields.push(("narrow_bound_class", text(&narrow.class)));
    }
    fields.extend([
        ("initial_topology", initial_topology),
        ("topologies", rows(plan.topologies.iter().enumerate().map(|(id, it)| topology(id, it)))),
        ("steps", rows(plan.steps.iter().enumerate().map(|(index, it)| step(index, it)))),
    ]);
    let lines: Vec<String> = fields.into_iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn fabric(plan: &Plan) -> String {
    let fabric = &plan.fabric;
    let (delay, overlap) = (fabric.reconfiguration.delay().terms(), fabric.reconfiguration.overlap());
    let windows = overlap.window.steps.iter();
    let by_port_s = match delay.by_port_s {
        [] => None,
        delays_s => Some(("reconfiguration_delays_by_port_s", array(delays_s.iter().map(|&delay_s| number(delay_s))))),
    };
    let fields = [
        ("dims", array(fabric.shape.dims())),
        ("ports", fabric.shape.ports().to_string()),
        ("bandwidth_bps", number(fabric.bandwidth_bps)),
        ("startup_s", number(fabric.startup_s)),
        ("hop_delay_s", number(fabric.hop_delay_s)),
        ("reconfiguration_delay_s", number(delay.fixed_s)),
        ("reconfiguration_delay_per_port_s", number(delay.per_port_s)),
        ("background_reconfiguration", overlap.background.to_string()),
        ("window_s", number(overlap.window.every_s)),
        ("windows_s", array(windows.map(|(step, &seconds)| array([step.to_string(), number(seconds)])))),
        ("initial", text(fabric.initial_name())),
    ];
    let optics = fabric.optics.as_ref().map(|layer| ("optics", text(layer.spelling())));
    object(fields.into_iter().chain(by_port_s).chain(optics))
}

fn chunks(chunks: &Chunks) -> String {
    if let Some(pieces) = chunks.as_pieces() {
        let pieces =
            pieces.iter().map(|piece| array([piece.src.to_string(), piece.dst.to_string(), number(piece.share)]));
        return object([("kind", text("pieces")), ("pieces", array(pieces))]);
    }
    if let Some((root, parts)) = chunks.as_buffer() {
        return object([("kind", text("buffer")), ("root", root.to_string()), ("parts", parts.to_string())]);
    }
    let kind = if chunks.collective() == Collective::AllToAll { "pairs" } else { "owned" };
    object([("kind", text(kind)), ("parts", chunks.parts().unwrap_or(1).to_string())])
}

fn topology(id: usize, topology: &Topology) -> String {
    let links = topology.links().len() as u64 * u64::from(topology.symmetry().order());
    let (key, links) = match links <= MOST_LINKS {
        true => ("links", topology.expanded()),
        false => ("representatives", topology.links().to_vec()),
    };
    object([
        ("id", id.to_string()),
        ("name", text(topology.name())),
        ("symmetry", symmetry(topology.symmetry())),
        (key, array(links.into_iter().map(|link| array([link.src, link.dst, link.count])))),
    ])
}

fn step(index: usize, step: &PlanStep) -> String {
    object([
        ("index", index.to_string()),
        ("topology", step.topology.to_string()),
        ("reconfigured", step.reconfigured.to_string()),
        ("transfer_bytes", number(step.transfer_bytes)),
        ("hops", step.hops.to_string()),
        ("load", number(step.load)),
        ("startup_s", number(step.cost.startup_s)),
        ("propagation_s", number(step.cost.propagation_s)),
        ("transmission_s", number(step.cost.transmission_s)),
        ("reconfiguration_s", number(step.cost.reconfiguration_s)),
        ("symmetry", symmetry(step.step.symmetry())),
        ("transfers", array(step.step.transfers().iter().map(transfer))),
        ("routes", routes(&step.routes)),
    ])
}

fn transfer(transfer: &Transfer) -> String {
    let op = match transfer.op {
        Op::Copy => "copy",
        Op::Reduce => "reduce",
    };
    let runs = array(Run::of(&transfer.chunks).into_iter().map(Run::to_json));
    array([transfer.src.to_string(), transfer.dst.to_string(), text(op), runs])
}

fn routes(routes: &Routes) -> String {
    let arcs = routes.arcs.iter().map(|arc| {
        let paths = arc.paths.iter().map(|path| array([number(path.share), array(&path.nodes)]));
        array([arc.src.to_string(), arc.dst.to_string(), array(paths)])
    });
    object([("symmetry", symmetry(&routes.symmetry)), ("arcs", array(arcs))])
}

fn symmetry(group: &Translations) -> String {
    array(group.digits().iter().map(|digit| array([digit.stride, digit.radix])))
}

/// The shortest decimal that reads back to the same bits.
fn number(value: f64) -> String {
    Value::from(value).to_string()
}

fn text(value: &str) -> String {
    Value::from(value).to_string()
}

fn array(items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}

fn object<'a>(fields: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

fn rows(rows: impl Iterator<Item = String>) -> String {
    let rows: Vec<String> = rows.map(|row| format!("    {row}")).collect();
    format!("[\n{}\n  ]", rows.join(",\n"))
}
