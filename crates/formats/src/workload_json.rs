//! Workloads as JSON, version `lightloom.workload/1`. Times are seconds, sizes bytes; unknown keys are refused, missing
//! ones named.
//!
//! | key | form |
//! |---|---|
//! | `mesh` | axes and their sizes, fastest first; may be left out |
//! | `groups` | named lists of ranks; may be left out |
//! | `matrices` | named lists of rows of bytes; may be left out |
//! | `same_bits` | `true` or `false`; may be left out |
//! | `inference` | counts, and ids of nodes; may be left out |
//! | `nodes[].ranks` | a list, or a group's name; left out for all ranks |
//! | `nodes[].group` | a group's name, or names |
//! | `nodes[].matrix` | a matrix's name, or one for each group |
//! | `nodes[].source`, `destination` | a rank each, or lists of one length |

mod matrix_of_each;
mod text;
mod writer;

use std::collections::BTreeMap;

use model::{
    Axis, ByteMatrix, Collective, Error, Inference, MatrixUse, NamedMatrix, Over, Rank, RankGroup, Ranks, Result, Work,
    Workload, WorkloadNode, WorkloadParts,
};
use serde::Deserialize;

use crate::json_errors::in_words;
use crate::one_line::one_line;
use crate::ordered_object::Ordered;
use text::{InferenceText, MatrixText, Names, NodeText, Numbers, RanksText};

pub use writer::workload_to_json;

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
    #[serde(default)]
    matrices: Ordered<Vec<Vec<u64>>>,
    #[serde(default)]
    same_bits: bool,
    model_flops: Option<f64>,
    peak_flops: Option<f64>,
    inference: Option<InferenceText>,
    nodes: Vec<NodeText>,
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
    let matrices: Vec<NamedMatrix> = text
        .matrices
        .0
        .into_iter()
        .map(|(name, rows)| {
            let matrix = ByteMatrix::new(&one_line(&format!("workload.matrices.{name}")), rows)?;
            Ok(NamedMatrix { name, matrix })
        })
        .collect::<Result<_>>()?;
    let nodes = matrix_of_each::spread(text.nodes, text.ranks, &mesh, text.inference.as_ref())?;
    let names = Known {
        matrices: matrices.iter().enumerate().map(|(index, matrix)| (matrix.name.clone(), index)).collect(),
        buffers: matrices.iter().map(|matrix| matrix.matrix.buffer_bytes()).collect(),
        axes: mesh.iter().enumerate().map(|(index, axis)| (axis.name.clone(), index)).collect(),
        groups: groups.iter().enumerate().map(|(index, group)| (group.name.clone(), index)).collect(),
        nodes: nodes.iter().enumerate().map(|(index, (_, node))| (node.id.clone(), index)).collect(),
    };
    let inference = text.inference.map(|inference| names.inference(inference)).transpose()?;
    let nodes = nodes.into_iter().map(|(place, node)| names.node(place, node));
    Workload::new(WorkloadParts {
        name: text.name.map(|name| one_line(&name)),
        ranks: text.ranks,
        nodes: nodes.collect::<Result<_>>()?,
        mesh,
        groups,
        matrices,
        same_bits: text.same_bits,
        model_flops: text.model_flops,
        peak_flops: text.peak_flops,
        inference,
    })
}

/// Indices by name.
struct Known {
    axes: BTreeMap<String, usize>,
    groups: BTreeMap<String, usize>,
    matrices: BTreeMap<String, usize>,
    /// Bytes of the busiest rank of every matrix.
    buffers: Vec<u64>,
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
                let name = match &text.matrix {
                    Some(MatrixText::One(name)) => Some(name),
                    // [`matrix_of_each::spread`] has already made nodes of lists.
                    Some(MatrixText::OfEach(_)) | None => None,
                };
                let matrix = name.map(|name| find("matrix", name, &self.matrices)).transpose()?;
                let matrix = match (matrix, text.transposed) {
                    (None, Some(_)) => {
                        return Err(Error::malformed(field("transposed"), "it goes with a `matrix`"));
                    }
                    (found, turned) => found.map(|matrix| MatrixUse { matrix, transposed: turned.unwrap_or(false) }),
                };
                // A matrix says how many bytes there are.
                let size_bytes = match (text.size_bytes, matrix) {
                    (None, Some(used)) => self.buffers[used.matrix],
                    _ => size_bytes()?,
                };
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
                Work::Collective { collective, over, size_bytes, matrix, stream: text.stream }
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
        "matrix" => "matrix",
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
