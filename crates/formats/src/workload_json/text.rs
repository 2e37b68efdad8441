//! The shape of a workload's nodes, with the keys of every kind.

use model::{Error, Rank, Result, unknown_name};
use serde::Deserialize;

use crate::one_line::one_line;

/// `first_token` and `caches` are ids of nodes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InferenceText {
    pub(super) prompts: u64,
    pub(super) requests: u64,
    pub(super) steps: u64,
    pub(super) first_token: Option<String>,
    pub(super) caches: Option<String>,
}

/// A node, with the keys of every kind. Which of them are required is checked once the kind is known.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeText {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) ranks: Option<RanksText>,
    pub(super) duration_s: Option<f64>,
    pub(super) collective: Option<String>,
    pub(super) axis: Option<String>,
    pub(super) group: Option<Names>,
    pub(super) stream: Option<String>,
    pub(super) matrix: Option<MatrixText>,
    pub(super) transposed: Option<bool>,
    pub(super) source: Option<Numbers>,
    pub(super) destination: Option<Numbers>,
    pub(super) size_bytes: Option<u64>,
    pub(super) after: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "it takes a list of ranks, or the name of a group")]
pub(super) enum RanksText {
    Name(String),
    List(Vec<Rank>),
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "it takes the name of a group, or a list of names")]
pub(super) enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "it takes the name of a matrix, or a list of one for each group")]
pub(super) enum MatrixText {
    One(String),
    OfEach(Vec<String>),
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "it takes a rank, or a list of ranks")]
pub(super) enum Numbers {
    One(Rank),
    Several(Vec<Rank>),
}

/// The kinds of nodes, and the keys that each takes in addition to `id`, `kind` and `after`.
const KINDS: [(&str, &[&str]); 3] = [
    ("compute", &["ranks", "duration_s"]),
    ("collective", &["collective", "axis", "ranks", "group", "size_bytes", "matrix", "transposed", "stream"]),
    ("send", &["source", "destination", "size_bytes"]),
];

impl NodeText {
    /// The keys of this node that only some kinds take.
    fn keys(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("ranks", self.ranks.is_some()),
            ("duration_s", self.duration_s.is_some()),
            ("collective", self.collective.is_some()),
            ("axis", self.axis.is_some()),
            ("group", self.group.is_some()),
            ("stream", self.stream.is_some()),
            ("matrix", self.matrix.is_some()),
            ("transposed", self.transposed.is_some()),
            ("source", self.source.is_some()),
            ("destination", self.destination.is_some()),
            ("size_bytes", self.size_bytes.is_some()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(key, _)| key)
    }

    /// # Errors
    /// An unknown kind, or a key that the kind does not take.
    pub(super) fn check_keys(&self, field: &dyn Fn(&str) -> String) -> Result<()> {
        let Some((kind, taken)) = KINDS.iter().find(|(kind, _)| *kind == self.kind) else {
            return Err(unknown_name(&field("kind"), &one_line(&self.kind), KINDS.iter().map(|(kind, _)| *kind)));
        };
        match self.keys().find(|key| !taken.contains(key)) {
            None => Ok(()),
            Some(key) => Err(Error::malformed(field(key), format!("a node of kind {kind} does not take this key"))),
        }
    }
}
