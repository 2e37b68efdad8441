//! Workloads as JSON, version `lightloom.workload/1`. Times are seconds, sizes bytes; unknown keys are refused, missing
//! ones named.
//!
//! | key | form |
//! |---|---|
//! | `mesh` | axes and their sizes, fastest first; may be left out |
//! | `groups` | named lists of ranks; may be left out |
//! | `inference` | counts, and ids of nodes; may be left out |
//! | `nodes[].ranks` | a list, or a group's name; left out for all ranks |
//! | `nodes[].group` | a group's name, or names |
//! | `nodes[].source`, `destination` | a rank each, or lists of one length |

use std::collections::BTreeMap;

use model::{
    Axis, Collective, Error, Inference, Over, Rank, RankGroup, Ranks, Result, Work, Workload, WorkloadNode,
    WorkloadParts, unknown_name,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::json_errors::in_words;
use crate::one_line::one_line;
use crate::ordered::Ordered;

/// The version that is written and read.
pub const WORKLOAD_SCHEMA: &str = "lightloom.workload/1";

/// Longer texts are refused before they are parsed.
const MAX_BYTES: usize = 256 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadText {
    schema: String,
    name: Option<String>,
    ranks: u32,
    #[serde(default)]
    mesh: Ordered<u32>,
    #[serde(default)]
    groups: Ordered<Vec<Rank>>,
    model_flops: Option<f64>,
    peak_flops: Option<f64>,
    inference: Option<InferenceText>,
    nodes: Vec<NodeText>,
}

/// `first_token` and `caches` are ids of nodes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InferenceText {
    prompts: u64,
    requests: u64,
    steps: u64,
    first_token: Option<String>,
    caches: Option<String>,
}

/// A node, with the keys of every kind: which there must be is said when the kind is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeText {
    id: String,
    kind: String,
    ranks: Option<RanksText>,
    duration_s: Option<f64>,
    collective: Option<String>,
    axis: Option<String>,
    group: Option<Names>,
    stream: Option<String>,
    source: Option<Numbers>,
    destination: Option<Numbers>,
    size_bytes: Option<u64>,
    after: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "it takes a list of ranks, or the name of a group")]
enum RanksText {
    Name(String),
    List(Vec<Rank>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "it takes the name of a group, or a list of names")]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "it takes a rank, or a list of ranks")]
enum Numbers {
    One(Rank),
    Several(Vec<Rank>),
}

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
        Work::Collective { collective, over, size_bytes, stream } => {
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

/// The workload that `text` describes; the inverse of [`workload_to_json`].
///
/// # Errors
/// Text that is not JSON, of another schema, with a key missing, unknown or of the wrong type, names that nothing has,
/// or what [`Workload::new`] does not take.
pub fn workload_from_json(text: &str) -> Result<Workload> {
    if text.len() > MAX_BYTES {
        let reason = format!("{} bytes of text; at most {MAX_BYTES} are read", text.len());
        return Err(Error::malformed("workload", reason));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed: WorkloadText = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        // A document of another version fails on some key first; its version is the better answer.
        other_schema(text).unwrap_or_else(|| {
            let place = match error.path().to_string().as_str() {
                "." => "workload".to_string(),
                path => format!("workload.{path}"),
            };
            Error::malformed(one_line(&place), in_words(error.inner()))
        })
    })?;
    json.end().map_err(|error| Error::malformed("workload", in_words(&error)))?;
    workload_of(parsed)
}

pub(crate) fn workload_of(text: WorkloadText) -> Result<Workload> {
    if text.schema != WORKLOAD_SCHEMA {
        return Err(wrong_schema(&text.schema));
    }
    let mesh: Vec<Axis> = text.mesh.0.into_iter().map(|(name, size)| Axis { name, size }).collect();
    let groups: Vec<RankGroup> = text.groups.0.into_iter().map(|(name, ranks)| RankGroup { name, ranks }).collect();
    let names = Known {
        axes: mesh.iter().enumerate().map(|(index, axis)| (axis.name.clone(), index)).collect(),
        groups: groups.iter().enumerate().map(|(index, group)| (group.name.clone(), index)).collect(),
        nodes: text.nodes.iter().enumerate().map(|(index, node)| (node.id.clone(), index)).collect(),
    };
    let inference = text.inference.map(|inference| names.inference(inference)).transpose()?;
    let nodes = text.nodes.into_iter().enumerate().map(|(index, node)| names.node(index, node));
    Workload::new(WorkloadParts {
        name: text.name.map(|name| one_line(&name)),
        ranks: text.ranks,
        nodes: nodes.collect::<Result<_>>()?,
        mesh,
        groups,
        model_flops: text.model_flops,
        peak_flops: text.peak_flops,
        inference,
    })
}

/// The kinds of nodes, and the keys that each takes in addition to `id`, `kind` and `after`.
const KINDS: [(&str, &[&str]); 3] = [
    ("compute", &["ranks", "duration_s"]),
    ("collective", &["collective", "axis", "ranks", "group", "size_bytes", "stream"]),
    ("send", &["source", "destination", "size_bytes"]),
];

impl NodeText {
    /// The keys that only some kinds take, those that are there.
    fn keys(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("ranks", self.ranks.is_some()),
            ("duration_s", self.duration_s.is_some()),
            ("collective", self.collective.is_some()),
            ("axis", self.axis.is_some()),
            ("group", self.group.is_some()),
            ("stream", self.stream.is_some()),
            ("source", self.source.is_some()),
            ("destination", self.destination.is_some()),
            ("size_bytes", self.size_bytes.is_some()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(key, _)| key)
    }

    /// # Errors
    /// An unknown kind, or a key that the kind does not take.
    fn check_keys(&self, field: &dyn Fn(&str) -> String) -> Result<()> {
        let Some((kind, taken)) = KINDS.iter().find(|(kind, _)| *kind == self.kind) else {
            return Err(unknown_name(&field("kind"), &one_line(&self.kind), KINDS.iter().map(|(kind, _)| *kind)));
        };
        match self.keys().find(|key| !taken.contains(key)) {
            None => Ok(()),
            Some(key) => Err(Error::malformed(field(key), format!("a node of kind {kind} does not take this key"))),
        }
    }
}

/// Indices by name.
struct Known {
    axes: BTreeMap<String, usize>,
    groups: BTreeMap<String, usize>,
    nodes: BTreeMap<String, usize>,
}

impl Known {
    fn inference(&self, text: InferenceText) -> Result<Inference> {
        let find = |key: &str, name: Option<String>| {
            let Some(name) = name else { return Ok(None) };
            let found = self.nodes.get(&name).copied();
            let field = format!("workload.inference.{key}");
            found.map(Some).ok_or_else(|| unknown(&field, "after", &name, &self.nodes))
        };
        let InferenceText { prompts, requests, steps, first_token, caches } = text;
        let (first_token, caches) = (find("first_token", first_token)?, find("caches", caches)?);
        Ok(Inference { prompts, requests, steps, first_token, caches })
    }

    fn node(&self, index: usize, text: NodeText) -> Result<WorkloadNode> {
        let field = |name: &str| format!("workload.nodes[{index}].{name}");
        let find = |key: &str, name: &str, among: &BTreeMap<String, usize>| {
            among.get(name).copied().ok_or_else(|| unknown(&field(key), key, name, among))
        };
        let ranks_of = |ranks: Option<RanksText>| match ranks {
            None => Ok(Ranks::All),
            Some(RanksText::Name(name)) => Ok(Ranks::Group(find("ranks", &name, &self.groups)?)),
            Some(RanksText::List(list)) => Ok(Ranks::List(list)),
        };
        text.check_keys(&field)?;
        let missing =
            |key: &str| Error::malformed(format!("workload.nodes[{index}]"), format!("missing field `{key}`"));
        let size_bytes = || text.size_bytes.ok_or_else(|| missing("size_bytes"));
        let work = match text.kind.as_str() {
            "compute" => Work::Compute {
                ranks: ranks_of(text.ranks)?,
                duration_s: text.duration_s.ok_or_else(|| missing("duration_s"))?,
            },
            "collective" => {
                let size_bytes = size_bytes()?;
                let over = match (text.axis, text.group) {
                    (Some(axis), None) => {
                        Over::Axis { axis: find("axis", &axis, &self.axes)?, within: ranks_of(text.ranks)? }
                    }
                    (None, Some(_)) if text.ranks.is_some() => {
                        return Err(Error::malformed(field("ranks"), "ranks go with an axis, not with a group"));
                    }
                    (None, Some(Names::One(name))) => Over::Groups(vec![find("group", &name, &self.groups)?]),
                    (None, Some(Names::Several(names))) => {
                        let found = names.iter().map(|name| find("group", name, &self.groups));
                        Over::Groups(found.collect::<Result<_>>()?)
                    }
                    _ => {
                        let reason = "there must be either `axis` or `group`";
                        return Err(Error::malformed(format!("workload.nodes[{index}]"), reason));
                    }
                };
                let collective = Collective::parse(&text.collective.ok_or_else(|| missing("collective"))?)
                    .map_err(|error| Error::malformed(field("collective"), one_line(&error.reason())))?;
                Work::Collective { collective, over, size_bytes, stream: text.stream }
            }
            _ => {
                let size_bytes = size_bytes()?;
                let source = text.source.ok_or_else(|| missing("source"))?;
                let destination = text.destination.ok_or_else(|| missing("destination"))?;
                let [sources, destinations] = [source, destination].map(|ends| match ends {
                    Numbers::One(rank) => vec![rank],
                    Numbers::Several(ranks) => ranks,
                });
                if sources.len() != destinations.len() {
                    let reason = format!("there are {} destinations for {} sources", destinations.len(), sources.len());
                    return Err(Error::malformed(field("destination"), reason));
                }
                Work::Send { pairs: sources.into_iter().zip(destinations).collect(), size_bytes }
            }
        };
        let after = text.after.iter().map(|before| find("after", before, &self.nodes)).collect::<Result<_>>()?;
        Ok(WorkloadNode { id: text.id, after, work })
    }
}

fn unknown(field: &str, key: &str, name: &str, among: &BTreeMap<String, usize>) -> Error {
    let what = match key {
        "axis" => "axis of the mesh",
        "after" => "node",
        _ => "group",
    };
    let known: Vec<&str> = among.keys().take(8).map(String::as_str).collect();
    let more = if among.len() > known.len() { ", …" } else { "" };
    let known = if known.is_empty() { "none".into() } else { format!("{}{more}", known.join(", ")) };
    Error::malformed(field, one_line(&format!("`{name}` is no {what}; there are {known}")))
}

fn other_schema(text: &str) -> Option<Error> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
    }
    let version: Version = serde_json::from_str(text).ok()?;
    (version.schema != WORKLOAD_SCHEMA).then(|| wrong_schema(&version.schema))
}

fn wrong_schema(found: &str) -> Error {
    Error::malformed("workload.schema", format!("it is `{}`; `{WORKLOAD_SCHEMA}` is read", one_line(found)))
}
