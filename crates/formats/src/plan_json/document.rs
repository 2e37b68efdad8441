//! The shape of a plan's JSON, which is read and written: which keys, in the contract's order, of which types.

use model::{Error, Rank, Result};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::runs::Run;
use crate::json_errors::in_words;
use crate::one_line::one_line;
use crate::rates::RatesText;
use crate::workload_json::WORKLOAD_SCHEMA;

/// The version that is written and read.
pub const SCHEMA: &str = "lightloom.plan/1";

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanText {
    pub schema: String,
    pub collective: String,
    pub algorithm: String,
    pub planner: String,
    pub gpus: u32,
    /// Plans among all GPUs of a fabric leave out these three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric_gpus: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    #[serde(default, skip_serializing_if = "is_none_forwarding")]
    pub forwarding_gpus: u32,
    pub size_bytes: u64,
    pub fabric: FabricText,
    pub routing: String,
    pub propagation: String,
    pub overlap: String,
    pub chunks: ChunksText,
    pub total_s: f64,
    pub reconfigurations: usize,
    pub lower_bound_s: f64,
    pub bound_class: String,
    /// Plans without a larger bound for a narrower class leave out both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrow_lower_bound_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrow_bound_class: Option<String>,
    #[serde(deserialize_with = "null_or")]
    pub initial_topology: Option<usize>,
    pub topologies: Vec<TopologyText>,
    pub steps: Vec<StepText>,
    /// Lines that the verb `plan` prints next to a plan; no part of it.
    #[serde(default, rename = "baselines", skip_serializing)]
    pub _baselines: IgnoredAny,
    /// Printed next to a plan as well, like the two keys below, and ignored when a plan is read.
    #[serde(default, rename = "traffic_bytes", skip_serializing)]
    pub _traffic_bytes: IgnoredAny,
    #[serde(default, rename = "sampled", skip_serializing)]
    pub _sampled: IgnoredAny,
    #[serde(default, rename = "repair", skip_serializing)]
    pub _repair: IgnoredAny,
    #[serde(default, rename = "never_change_s", skip_serializing)]
    pub _never_change_s: Option<f64>,
    /// Compared with what the plan takes when it is repeated.
    #[serde(default, skip_serializing)]
    pub repeated_s: Option<f64>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FabricText {
    pub dims: Vec<u32>,
    pub ports: u32,
    pub bandwidth_bps: RatesText,
    pub startup_s: f64,
    pub hop_delay_s: f64,
    pub reconfiguration_delay_s: f64,
    pub reconfiguration_delay_per_port_s: f64,
    /// Plans of fabrics that hide nothing may leave it out, and so may `window_s` and `windows_s`.
    #[serde(default)]
    pub background_reconfiguration: bool,
    #[serde(default)]
    pub window_s: f64,
    #[serde(default)]
    pub windows_s: Vec<(usize, f64)>,
    pub initial: String,
    /// Plans of fabrics whose ports are alike leave it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reconfiguration_delays_by_port_s: Vec<f64>,
    /// Plans of fabrics whose optical layer limits nothing may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optics: Option<String>,
    /// Plans of fabrics whose barriers take no time leave it out, and so do their steps.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub barrier_s: f64,
    /// Plans of fabrics in which everything works leave it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Plans of fabrics of one tier leave it out, and their steps what they send by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub electrical: Option<ElectricalText>,
    /// Plans of fabrics whose fibres take no time leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positions: Option<String>,
    /// Plans of fabrics whose pairs of GPUs have one rate and one hop delay leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_rates: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ElectricalText {
    pub gpus: u32,
    pub bandwidth_bps: f64,
    pub hop_delay_s: f64,
}

#[derive(Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum ChunksText {
    Owned { parts: u32 },
    Pairs { parts: u32 },
    Buffer { root: Rank, parts: u32 },
    Rooted { root: Rank, parts: u32 },
    Pieces { pieces: Vec<(Rank, Rank, f64)> },
}

pub(super) type SymmetryText = Vec<(u32, u32)>;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopologyText {
    pub id: usize,
    pub name: String,
    pub symmetry: SymmetryText,
    /// Every link, or of large topologies one of every orbit of the symmetry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<(Rank, Rank, u32)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub representatives: Option<Vec<(Rank, Rank, u32)>>,
    /// Circuits of each written link by rate, the fastest first; left out where ports are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuits_by_rate: Option<Vec<Vec<u32>>>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OpText {
    Copy,
    Reduce,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepText {
    pub index: usize,
    pub topology: usize,
    pub reconfigured: bool,
    pub transfer_bytes: f64,
    pub hops: u32,
    pub load: f64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub electrical_load: f64,
    pub startup_s: f64,
    pub propagation_s: f64,
    pub transmission_s: f64,
    pub reconfiguration_s: f64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub barrier_s: f64,
    pub symmetry: SymmetryText,
    pub transfers: Vec<(Rank, Rank, OpText, Vec<Run>)>,
    pub routes: RoutesText,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoutesText {
    pub symmetry: SymmetryText,
    pub arcs: Vec<(Rank, Rank, Vec<PathText>)>,
}

/// Share and nodes.
pub(super) type PathText = (f64, Vec<Rank>);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_forwarding(gpus: &u32) -> bool {
    *gpus == 0
}

/// `null` or a value; unlike serde's own treatment of options, the key must be there.
fn null_or<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<usize>, D::Error> {
    Option::deserialize(deserializer)
}

/// Parses `text`, naming the key that is wrong.
///
/// # Errors
/// Text that is not JSON or not of this shape.
pub(super) fn parse(text: &str) -> Result<PlanText> {
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed: PlanText = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        // A document of another version fails on some key first; its version is the better answer.
        other_schema(text).unwrap_or_else(|| {
            let place = match error.path().to_string().as_str() {
                "." => "plan".to_string(),
                path => format!("plan.{path}"),
            };
            Error::malformed(one_line(&place), in_words(error.inner()))
        })
    })?;
    json.end().map_err(|error| Error::malformed("plan", in_words(&error)))?;
    if parsed.schema != SCHEMA {
        return Err(wrong_schema(&parsed.schema));
    }
    Ok(parsed)
}

fn other_schema(text: &str) -> Option<Error> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
    }
    let version: Version = serde_json::from_str(text).ok()?;
    (version.schema != SCHEMA).then(|| wrong_schema(&version.schema))
}

fn wrong_schema(found: &str) -> Error {
    let mut reason = format!("it is `{}`; `{SCHEMA}` is read", one_line(found));
    if found == WORKLOAD_SCHEMA {
        reason += ": `lightloom train WORKLOAD --output FILE` plans a workload, and writes a file that is read";
    }
    Error::malformed("plan.schema", reason)
}
