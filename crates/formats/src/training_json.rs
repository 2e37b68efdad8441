//! Planned training iterations as JSON, version `lightloom.training/1`, with the workload and the plans in it. Times
//! are seconds; keys are exactly those that [`training_to_json`] writes.

mod topologies;

use std::collections::BTreeMap;

use model::{
    Bound, Error, Fabric, Initial, OpticalLayer, ReconfigurationDelay, ReconfigurationOverlap, ReconfigurationPolicy,
    Result, Shape, TrainingEvent, TrainingPlan,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::json_errors::in_words;
use crate::one_line::one_line;
use crate::ordered_object::Ordered;
use crate::rates::RatesText;
use crate::workload_json::{WorkloadText, workload_of, workload_to_json};
use crate::{plan_from_json, plan_to_json};

use topologies::{TopologyText, read_topologies, written};

/// The version that is written and read.
pub const TRAINING_SCHEMA: &str = "lightloom.training/1";

/// Longer texts are refused before they are parsed.
const MAX_BYTES: usize = 512 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrainingText<'a> {
    schema: String,
    policy: String,
    exact: bool,
    workload: WorkloadText,
    fabric: FabricText,
    total_s: f64,
    compute_s: f64,
    exposed_communication_s: f64,
    lower_bound_s: f64,
    bound_class: String,
    #[serde(default)]
    order_bound_s: f64,
    #[serde(default)]
    order_exact: bool,
    reconfigurations: usize,
    reconfiguration_hidden_s: f64,
    reconfiguration_exposed_s: f64,
    critical_path_s: Ordered<f64>,
    policies: Ordered<Option<f64>>,
    policy_notes: Ordered<String>,
    #[serde(default)]
    first_token_s: Ordered<Option<f64>>,
    #[serde(default)]
    caches_s: Ordered<Option<f64>>,
    events: Vec<EventText>,
    topologies: Vec<TopologyText>,
    #[serde(borrow)]
    plans: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FabricText {
    ports: u32,
    bandwidth_bps: RatesText,
    startup_s: f64,
    hop_delay_s: f64,
    reconfiguration_delay_s: f64,
    initial: String,
    #[serde(default)]
    optics: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventText {
    node: String,
    start_s: f64,
    end_s: f64,
    #[serde(deserialize_with = "Option::deserialize")]
    plan: Option<usize>,
    ports: Vec<u32>,
    reconfigured: bool,
    returns: bool,
    direct: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    topology: Option<usize>,
    reconfiguration_exposed_s: f64,
    #[serde(deserialize_with = "Option::deserialize")]
    waits_for: Option<usize>,
    #[serde(default)]
    gives_up: Vec<usize>,
}

/// `training` as JSON, one line an event. Numbers are written so that they read back to the bit.
pub fn training_to_json(training: &TrainingPlan) -> String {
    let indented = |text: String| text.trim_end().replace('\n', "\n  ");
    let object = |entries: Vec<(String, Value)>| {
        let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{}: {value}", json!(key))).collect();
        format!("{{{}}}", entries.join(", "))
    };
    let fabric = &training.fabric;
    let mut of_fabric = vec![
        ("ports".into(), json!(fabric.shape.ports())),
        ("bandwidth_bps".into(), json!(RatesText::of(fabric))),
        ("startup_s".into(), json!(fabric.startup_s)),
        ("hop_delay_s".into(), json!(fabric.hop_delay_s)),
        ("reconfiguration_delay_s".into(), json!(fabric.reconfiguration.delay().constant_s().unwrap_or_default())),
        ("initial".into(), json!(training.resting)),
    ];
    of_fabric.extend(fabric.optics.as_ref().map(|layer| ("optics".into(), json!(layer.spelling()))));
    let fabric = object(of_fabric);
    let path = training.critical_path_s.iter().map(|(name, time_s)| (name.clone(), json!(time_s))).collect();
    let by_policy = |times: &[(String, Option<f64>)]| {
        object(times.iter().map(|(name, time_s)| (name.clone(), json!(time_s))).collect())
    };
    let notes = training.policy_notes.iter().map(|(name, note)| (name.clone(), json!(note))).collect();
    let events: Vec<String> = training
        .events
        .iter()
        .zip(&training.workload.nodes)
        .map(|(event, node)| {
            let mut keys = vec![
                ("node".into(), json!(node.id)),
                ("start_s".into(), json!(event.start_s)),
                ("end_s".into(), json!(event.end_s)),
                ("plan".into(), json!(event.plan)),
                ("ports".into(), json!(event.ports)),
                ("reconfigured".into(), json!(event.reconfigured)),
                ("returns".into(), json!(event.returns)),
                ("direct".into(), json!(event.direct)),
                ("topology".into(), json!(event.topology)),
                ("reconfiguration_exposed_s".into(), json!(event.reconfiguration_exposed_s)),
                ("waits_for".into(), json!(event.waits_for)),
            ];
            if !event.gives_up.is_empty() {
                keys.push(("gives_up".into(), json!(event.gives_up)));
            }
            format!("    {}", object(keys))
        })
        .collect();
    let topologies: Vec<String> = written(training).into_iter().map(|keys| format!("\n    {}", object(keys))).collect();
    let plans: Vec<String> = training.plans.iter().map(|plan| format!("  {}", indented(plan_to_json(plan)))).collect();
    let mut lines = vec![
        format!("\"schema\": \"{TRAINING_SCHEMA}\""),
        format!("\"policy\": {}", json!(training.policy)),
        format!("\"exact\": {}", training.exact),
        format!("\"total_s\": {}", json!(training.total_s)),
        format!("\"compute_s\": {}", json!(training.compute_s)),
        format!("\"exposed_communication_s\": {}", json!(training.exposed_communication_s())),
        format!("\"lower_bound_s\": {}", json!(training.bound.seconds)),
        format!("\"bound_class\": {}", json!(training.bound.class)),
        format!("\"order_bound_s\": {}", json!(training.order_bound_s)),
        format!("\"order_exact\": {}", training.order_exact),
        format!("\"reconfigurations\": {}", training.reconfigurations),
        format!("\"reconfiguration_hidden_s\": {}", json!(training.reconfiguration_hidden_s)),
        format!("\"reconfiguration_exposed_s\": {}", json!(training.reconfiguration_exposed_s)),
        format!("\"critical_path_s\": {}", object(path)),
        format!("\"policies\": {}", by_policy(&training.policies)),
        format!("\"policy_notes\": {}", object(notes)),
    ];
    let marks = [("first_token_s", &training.first_token_s), ("caches_s", &training.caches_s)];
    let marks = marks.iter().filter(|(_, times)| !times.is_empty());
    lines.extend(marks.map(|(key, times)| format!("\"{key}\": {}", by_policy(times))));
    lines.extend([
        format!("\"fabric\": {fabric}"),
        format!("\"workload\": {}", indented(workload_to_json(&training.workload))),
        format!("\"events\": [\n{}\n  ]", events.join(",\n")),
        format!("\"topologies\": [{}\n  ]", topologies.join(",")),
        format!("\"plans\": [\n{}\n  ]", plans.join(",\n")),
    ]);
    format!("{{\n  {}\n}}\n", lines.join(",\n  "))
}

/// The planned iteration that `text` holds; the inverse of [`training_to_json`].
///
/// # Errors
/// Text that is not JSON, of another schema, with a key missing, unknown or of the wrong type, or whose parts do not
/// fit each other. The values of the numbers are checked by the verifier.
pub fn training_from_json(text: &str) -> Result<TrainingPlan> {
    if text.len() > MAX_BYTES {
        let reason = format!("{} bytes of text; at most {MAX_BYTES} are read", text.len());
        return Err(Error::malformed("training", reason));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed: TrainingText<'_> = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        // A document of another version fails on some key first; its version is the better answer.
        other_schema(text).unwrap_or_else(|| {
            let place = match error.path().to_string().as_str() {
                "." => "training".to_string(),
                path => format!("training.{path}"),
            };
            Error::malformed(one_line(&place), in_words(error.inner()))
        })
    })?;
    json.end().map_err(|error| Error::malformed("training", in_words(&error)))?;
    if parsed.schema != TRAINING_SCHEMA {
        return Err(wrong_schema(&parsed.schema));
    }
    read(parsed)
}

fn read(text: TrainingText<'_>) -> Result<TrainingPlan> {
    let workload = workload_of(text.workload).map_err(|error| Error::malformed("training", error))?;
    let at = |error: Error| Error::malformed("training.fabric", error);
    let FabricText { ports, bandwidth_bps, startup_s, hop_delay_s, reconfiguration_delay_s, initial, optics } =
        text.fabric;
    let (rates, bandwidth_bps) = bandwidth_bps.read("bandwidth_bps", ports).map_err(at)?;
    let fabric = Fabric {
        shape: Shape::new(workload.ranks, &[workload.ranks], ports).map_err(at)?.with_rates(rates),
        bandwidth_bps,
        startup_s,
        barrier_s: 0.0,
        hop_delay_s,
        reconfiguration: ReconfigurationPolicy::new(
            ReconfigurationDelay::per_port(reconfiguration_delay_s, 0.0),
            ReconfigurationOverlap::default(),
        ),
        initial: Initial::Free,
        optics: optics.as_deref().map(OpticalLayer::new).transpose().map_err(at)?,
        electrical: None,
    };
    fabric.check().map_err(at)?;
    let nodes: BTreeMap<&str, usize> =
        workload.nodes.iter().enumerate().map(|(index, node)| (node.id.as_str(), index)).collect();
    let mut events = Vec::with_capacity(text.events.len());
    for (index, event) in text.events.into_iter().enumerate() {
        if nodes.get(event.node.as_str()) != Some(&index) {
            let reason = format!("`{}` is not node {index} of the workload", one_line(&event.node));
            return Err(Error::malformed(format!("training.events[{index}].node"), reason));
        }
        events.push(TrainingEvent {
            start_s: event.start_s,
            end_s: event.end_s,
            plan: event.plan,
            ports: event.ports,
            reconfigured: event.reconfigured,
            returns: event.returns,
            direct: event.direct,
            topology: event.topology,
            reconfiguration_exposed_s: event.reconfiguration_exposed_s,
            waits_for: event.waits_for,
            gives_up: event.gives_up,
        });
    }
    let plan = |(index, plan): (usize, &&RawValue)| {
        plan_from_json(plan.get()).map_err(|error| Error::malformed(format!("training.plans[{index}]"), error))
    };
    let named = |entries: Ordered<f64>| entries.0;
    let topologies = read_topologies(text.topologies, (&workload, &fabric, &events))?;
    let training = TrainingPlan {
        policy: one_line(&text.policy),
        exact: text.exact,
        fabric,
        resting: one_line(&initial),
        events,
        topologies,
        plans: text.plans.iter().enumerate().map(plan).collect::<Result<_>>()?,
        total_s: text.total_s,
        compute_s: text.compute_s,
        bound: Bound { seconds: text.lower_bound_s, class: one_line(&text.bound_class) },
        order_bound_s: text.order_bound_s,
        order_exact: text.order_exact,
        reconfigurations: text.reconfigurations,
        reconfiguration_hidden_s: text.reconfiguration_hidden_s,
        reconfiguration_exposed_s: text.reconfiguration_exposed_s,
        critical_path_s: named(text.critical_path_s),
        policies: text.policies.0,
        first_token_s: text.first_token_s.0,
        caches_s: text.caches_s.0,
        policy_notes: text.policy_notes.0,
        workload,
    }
    .checked()?;
    let (stated, sum) = (text.exposed_communication_s, training.exposed_communication_s());
    if (stated - sum).abs() > 1e-12 * training.total_s {
        let reason = format!("it is {stated}, and total_s − compute_s is {sum}");
        return Err(Error::malformed("training.exposed_communication_s", reason));
    }
    Ok(training)
}

fn other_schema(text: &str) -> Option<Error> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
    }
    let version: Version = serde_json::from_str(text).ok()?;
    (version.schema != TRAINING_SCHEMA).then(|| wrong_schema(&version.schema))
}

fn wrong_schema(found: &str) -> Error {
    Error::malformed("training.schema", format!("it is `{}`; `{TRAINING_SCHEMA}` is read", one_line(found)))
}
