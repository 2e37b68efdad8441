//! A workload as text.

use model::{Inference, Over, Rank, Ranks, Work, Workload, WorkloadNode};
use serde_json::{Map, Value, json};

use super::WORKLOAD_SCHEMA;

/// `workload` as JSON, one line a node. Numbers are written so that they read back to the bit.
pub fn workload_to_json(workload: &Workload) -> String {
    let mut head = vec![format!("\"schema\": \"{WORKLOAD_SCHEMA}\"")];
    head.extend(workload.name.as_ref().map(|name| format!("\"name\": {}", json!(name))));
    head.push(format!("\"ranks\": {}", workload.ranks));
    let mesh: Vec<String> = workload.mesh.iter().map(|axis| format!("{}: {}", json!(axis.name), axis.size)).collect();
    head.push(format!("\"mesh\": {{{}}}", mesh.join(", ")));
    let groups: Vec<String> =
        workload.groups.iter().map(|group| format!("\n    {}: {}", json!(group.name), json!(group.ranks))).collect();
    head.push(format!("\"groups\": {{{}}}", groups.join(",")));
    if !workload.matrices.is_empty() {
        let matrices = workload.matrices.iter();
        let told = matrices.map(|of| format!("\n    {}: {}", json!(of.name), json!(of.matrix.rows())));
        head.push(format!("\"matrices\": {{{}}}", told.collect::<Vec<_>>().join(",")));
    }
    head.extend(workload.same_bits.then(|| "\"same_bits\": true".to_string()));
    let flops = [("model_flops", workload.model_flops), ("peak_flops", workload.peak_flops)];
    head.extend(
        flops.iter().filter_map(|(key, flops)| flops.map(|flops| format!("\"{key}\": {}", Value::from(flops)))),
    );
    head.extend(workload.inference.as_ref().map(|inference| inference_line(workload, inference)));
    let nodes: Vec<String> = workload.nodes.iter().map(|node| format!("    {}", node_value(workload, node))).collect();
    format!("{{\n  {},\n  \"nodes\": [\n{}\n  ]\n}}\n", head.join(",\n  "), nodes.join(",\n"))
}

fn inference_line(workload: &Workload, inference: &Inference) -> String {
    let id = |node: Option<usize>| node.map(|node| json!(workload.nodes[node].id));
    let entries = [
        ("prompts", Some(json!(inference.prompts))),
        ("requests", Some(json!(inference.requests))),
        ("steps", Some(json!(inference.steps))),
        ("first_token", id(inference.first_token)),
        ("caches", id(inference.caches)),
    ];
    let there = entries.iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("\"{key}\": {value}")));
    format!("\"inference\": {{{}}}", there.collect::<Vec<_>>().join(", "))
}

fn node_value(workload: &Workload, node: &WorkloadNode) -> Value {
    let ranks_value = |ranks: &Ranks| match ranks {
        Ranks::All => None,
        Ranks::Group(group) => Some(json!(workload.groups[*group].name)),
        Ranks::List(list) => Some(json!(list)),
    };
    let after: Vec<&str> = node.after.iter().map(|&before| workload.nodes[before].id.as_str()).collect();
    let mut keys = Map::new();
    keys.insert("id".into(), json!(node.id));
    match &node.work {
        Work::Compute { ranks, duration_s } => {
            keys.insert("kind".into(), json!("compute"));
            keys.extend(ranks_value(ranks).map(|ranks| ("ranks".into(), ranks)));
            keys.insert("duration_s".into(), json!(duration_s));
        }
        Work::Collective { collective, over, size_bytes, matrix, stream } => {
            keys.insert("kind".into(), json!("collective"));
            keys.insert("collective".into(), json!(collective.name()));
            match over {
                Over::Axis { axis, within } => {
                    keys.insert("axis".into(), json!(workload.mesh[*axis].name));
                    keys.extend(ranks_value(within).map(|ranks| ("ranks".into(), ranks)));
                }
                Over::Groups(groups) => {
                    let names: Vec<&str> = groups.iter().map(|&group| workload.groups[group].name.as_str()).collect();
                    keys.insert("group".into(), if names.len() == 1 { json!(names[0]) } else { json!(names) });
                }
            }
            keys.insert("size_bytes".into(), json!(size_bytes));
            if let Some(used) = matrix {
                keys.insert("matrix".into(), json!(workload.matrices[used.matrix].name));
                keys.extend(used.transposed.then(|| ("transposed".into(), json!(true))));
            }
            keys.extend(stream.as_ref().map(|stream| ("stream".into(), json!(stream))));
        }
        Work::Send { pairs, size_bytes } => {
            keys.insert("kind".into(), json!("send"));
            let (sources, destinations): (Vec<Rank>, Vec<Rank>) = pairs.iter().copied().unzip();
            for (key, ends) in [("source", sources), ("destination", destinations)] {
                keys.insert(key.into(), if ends.len() == 1 { json!(ends[0]) } else { json!(ends) });
            }
            keys.insert("size_bytes".into(), json!(size_bytes));
        }
    }
    keys.insert("after".into(), json!(after));
    Value::Object(keys)
}
