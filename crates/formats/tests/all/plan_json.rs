//! Plans survive JSON to the bit, and nothing that is not a plan gets in.

use crate::random_plans;

use std::collections::BTreeSet;

use lightloom_formats::{plan_from_json, plan_to_json};
use model::{
    Bound, Chunks, Collective, CostSettings, Fabric, Initial, Link, Op, Plan, PlanParts, PlanStep,
    ReconfigurationDelay, RoutedEntry, RoutedPath, Routes, Shape, Step, StepCost, Topology, Transfer, Translations,
};
use proptest::prelude::*;
use random_plans::any_plan;
use serde_json::{Value, json};

/// Two steps of doubling on four GPUs, the ring then a step's own circuits.
fn small() -> PlanParts {
    let chunks = Chunks::even(Collective::AllGather, 4, 1).unwrap();
    let cyclic = Translations::cyclic(4);
    let topology = |name: &str, dst| Topology::new(name, cyclic.clone(), [Link { src: 0, dst, count: 1 }]).unwrap();
    let step = |topology: usize, dst: u32, carried: Vec<u32>, reconfiguration_s: f64| PlanStep {
        transfer_bytes: 256.0 * carried.len() as f64,
        step: Step::new(cyclic.clone(), [Transfer { src: 0, dst, op: Op::Copy, chunks: carried }], &chunks).unwrap(),
        topology,
        reconfigured: reconfiguration_s > 0.0,
        hops: 1,
        load: 1.0,
        electrical_load: 0.0,
        routes: Routes {
            symmetry: cyclic.clone(),
            arcs: vec![RoutedEntry { src: 0, dst, paths: vec![RoutedPath { share: 1.0, nodes: vec![0, dst] }] }],
        },
        cost: StepCost {
            startup_s: 5e-7,
            propagation_s: 5e-7,
            transmission_s: 2.56e-9,
            reconfiguration_s,
            barrier_s: 0.0,
        },
    };
    PlanParts {
        algorithm: "recursive-doubling".into(),
        planner: "harvest".into(),
        size_bytes: 1024,
        fabric: Fabric {
            shape: Shape::new(4, &[2, 2], 1).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 5e-7,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationDelay::per_port(1e-5, 1e-9).into(),
            initial: Initial::Topology(topology("ring", 1)),
            optics: None,
            electrical: None,
        },
        settings: CostSettings::default(),
        steps: vec![step(0, 1, vec![0], 0.0), step(1, 2, vec![0, 3], 1.0004e-5)],
        topologies: vec![topology("ring", 1), topology("step 1", 2)],
        chunks,
        bound: Bound { seconds: 1e-6, class: "any \"schedule\"".into() },
        narrow_bound: None,
    }
}

fn small_json() -> Value {
    serde_json::from_str(&plan_to_json(&Plan::new(small()).unwrap())).unwrap()
}

#[test]
fn the_keys_are_those_of_the_contract() {
    let json = small_json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
    let contract = |names: &str| names.split_whitespace().map(String::from).collect::<BTreeSet<String>>();
    let top = "schema collective algorithm planner gpus size_bytes fabric total_s reconfigurations lower_bound_s \
               bound_class topologies steps";
    assert!(keys(&json).is_superset(&contract(top)));
    let fabric = "ports bandwidth_bps startup_s hop_delay_s reconfiguration_delay_s initial";
    assert!(keys(&json["fabric"]).is_superset(&contract(fabric)));
    assert!(keys(&json["topologies"][0]).is_superset(&contract("id name links")));
    let step = "index topology reconfigured transfer_bytes hops load startup_s propagation_s transmission_s \
                reconfiguration_s";
    assert!(keys(&json["steps"][0]).is_superset(&contract(step)));
    assert_eq!(json["schema"], "lightloom.plan/1");
    assert_eq!(json["collective"], "all-gather");
    assert_eq!(json["topologies"][0]["links"], json!([[0, 1, 1], [1, 2, 1], [2, 3, 1], [3, 0, 1]]));
    assert_eq!(json["fabric"]["initial"], "ring");
    assert_eq!(json["reconfigurations"], 1);
    let total: f64 = json["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            ["startup_s", "propagation_s", "transmission_s", "reconfiguration_s"]
                .iter()
                .map(|term| step[term].as_f64().unwrap())
                .sum::<f64>()
        })
        .sum();
    assert!((json["total_s"].as_f64().unwrap() - total).abs() <= 1e-15 * total);
}

#[test]
fn an_unlisted_initial_topology_is_added() {
    let mut parts = small();
    parts.fabric.initial = Initial::Topology(parts.topologies[0].clone().renamed("start"));
    let plan = Plan::new(parts).unwrap();
    let text = plan_to_json(&plan);
    let back = plan_from_json(&text).unwrap();
    assert_eq!(back.topologies.len(), 3);
    assert_eq!(back.fabric, plan.fabric);
    assert_eq!(plan_to_json(&back), text);
}

#[test]
fn symmetry_keeps_large_plans_short() {
    // One transfer of 512 strided chunks on 1024 ranks: a line, not a thousand.
    let chunks = Chunks::even(Collective::AllGather, 1024, 1).unwrap();
    let mut parts = small();
    let step = &mut parts.steps[0];
    let cyclic = Translations::cyclic(1024);
    let transfer = Transfer { src: 0, dst: 1, op: Op::Copy, chunks: (0..1024).step_by(2).collect() };
    step.step = Step::new(cyclic.clone(), [transfer], &chunks).unwrap();
    step.routes.symmetry = cyclic.clone();
    parts.steps.truncate(1);
    parts.chunks = chunks;
    parts.fabric.shape = Shape::new(1024, &[], 1).unwrap();
    parts.fabric.initial = Initial::Free;
    parts.topologies = vec![Topology::new("ring", cyclic, [Link { src: 0, dst: 1, count: 1 }]).unwrap()];
    let plan = Plan::new(parts).unwrap();
    let text = plan_to_json(&plan);
    assert!(text.lines().filter(|line| line.contains("\"index\"")).all(|line| line.len() < 500));
    assert_eq!(plan_from_json(&text).unwrap(), plan);
}

/// A plan on the ring of more GPUs than links are written out for.
fn large() -> PlanParts {
    let ranks = 1 << 15;
    let chunks = Chunks::even(Collective::AllGather, ranks, 1).unwrap();
    let mut parts = small();
    let cyclic = Translations::cyclic(ranks);
    let transfer = Transfer { src: 0, dst: 1, op: Op::Copy, chunks: (0..ranks).step_by(2).collect() };
    parts.steps[0].step = Step::new(cyclic.clone(), [transfer], &chunks).unwrap();
    parts.steps[0].routes.symmetry = cyclic.clone();
    parts.steps.truncate(1);
    parts.chunks = chunks;
    parts.fabric.shape = Shape::new(ranks, &[], 1).unwrap();
    parts.fabric.initial = Initial::Free;
    parts.topologies = vec![Topology::new("ring", cyclic, [Link { src: 0, dst: 1, count: 1 }]).unwrap()];
    parts
}

#[test]
fn topologies_of_many_links_are_written_as_one_of_each_orbit() {
    let plan = Plan::new(large()).unwrap();
    let text = plan_to_json(&plan);
    assert!(text.len() < 4000, "{}", text.len());
    assert_eq!(plan_from_json(&text).unwrap(), plan);
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(whole["topologies"][0]["representatives"], json!([[0, 1, 1]]));
    for (links, reason) in [
        (json!([[1, 2, 1]]), "one link for each orbit"),
        (json!([[0, 1, 1], [0, 1, 1]]), "one link for each orbit"),
        (json!([[0, 2, 1], [0, 1, 1]]), "sorted"),
        (json!([[0, 1 << 15, 1]]), "two different GPUs"),
        (json!((1..600).map(|dst| [0, dst, 1]).collect::<Vec<_>>()), "more than 16777216 links"),
        (Value::Null, "missing field `links`"),
    ] {
        let mut damaged = whole.clone();
        damaged["topologies"][0]["representatives"] = links;
        let message = plan_from_json(&damaged.to_string()).unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    }
    let mut both = whole;
    both["topologies"][0]["links"] = json!([[0, 1, 1]]);
    assert!(plan_from_json(&both.to_string()).unwrap_err().to_string().contains("both"));
}

#[test]
fn each_fault_is_refused_where_it_is() {
    type Damage = fn(&mut Value);
    let cases: &[(&str, Damage)] = &[
        ("plan.schema", |p| p["schema"] = json!("lightloom.plan/2")),
        ("plan.schema", |p| *p = json!({"schema": "other/1", "more": 1})),
        ("plan.collective", |p| p["collective"] = json!("all-gathr")),
        ("plan.gpus", |p| p["gpus"] = json!(-4)),
        ("plan.gpus", |p| p["gpus"] = json!("4")),
        ("plan.fabric", |p| p["gpus"] = json!(5)),
        ("plan.fabric", |p| p["gpus"] = json!(4_000_000_000_u32)),
        ("plan.size_bytes", |p| p["size_bytes"] = json!(0)),
        ("plan.size_bytes", |p| p["size_bytes"] = json!(1.5)),
        ("plan.size_bytes", |p| p["size_bytes"] = json!(u64::MAX)),
        ("plan.fabric.ports", |p| p["fabric"]["ports"] = json!(1.5)),
        ("plan.fabric.background_reconfiguration", |p| p["fabric"]["background_reconfiguration"] = json!(1)),
        ("plan.fabric", |p| p["fabric"]["window_s"] = json!(-1e-6)),
        ("plan.fabric", |p| p["fabric"]["windows_s"] = json!([[0, -1e-6]])),
        ("plan.fabric.windows_s", |p| p["fabric"]["windows_s"] = json!([[0, 1e-6], [0, 1e-6]])),
        ("plan.fabric.windows_s[0][0]", |p| p["fabric"]["windows_s"] = json!([[-1, 1e-6]])),
        ("plan.fabric", |p| p["fabric"]["ports"] = json!(0)),
        ("plan.fabric", |p| p["fabric"]["bandwidth_bps"] = json!(0)),
        ("plan.fabric", |p| p["fabric"]["startup_s"] = json!(-1e-9)),
        ("plan.fabric.startup_s", |p| p["fabric"]["startup_s"] = Value::Null),
        ("plan.fabric.initial", |p| p["fabric"]["initial"] = json!("torus")),
        ("plan.fabric.extra", |p| p["fabric"]["extra"] = json!(1)),
        ("plan.initial_topology", |p| p["initial_topology"] = json!(7)),
        ("plan.initial_topology", |p| p["initial_topology"] = Value::Null),
        ("plan.routing", |p| p["routing"] = json!("random")),
        ("plan.propagation", |p| p["propagation"] = json!("light")),
        ("plan.chunks", |p| p["chunks"]["kind"] = json!("pairs")),
        ("plan.chunks", |p| p["chunks"]["parts"] = json!(0)),
        ("plan.chunks", |p| p["chunks"]["parts"] = json!(u32::MAX)),
        ("plan.algorithm", |p| p["algorithm"] = json!("two\nlines")),
        ("plan.planner", |p| p["planner"] = json!("")),
        ("plan.total_s", |p| p["total_s"] = json!(1e-6)),
        ("plan.total_s", |p| p["total_s"] = json!("1us")),
        ("plan.reconfigurations", |p| p["reconfigurations"] = json!(0)),
        ("plan.lower_bound_s", |p| p["lower_bound_s"] = json!(-1.0)),
        ("plan.topologies[1].id", |p| p["topologies"][1]["id"] = json!(0)),
        ("plan.topologies[0].links", |p| p["topologies"][0]["links"][3] = json!([3, 4, 1])),
        ("plan.topologies[0].links", |p| p["topologies"][0]["links"][3] = json!([3, 0, 0])),
        ("plan.topologies[0].links", |p| p["topologies"][0]["links"][3] = json!([3, 3, 1])),
        ("plan.topologies[0].links", |p| p["topologies"][0]["links"][3] = json!([3, 1, 1])),
        ("plan.topologies[0].links", |p| p["topologies"][0]["links"][1] = json!([0, 1, 1])),
        ("plan.topologies[0].links[2]", |p| p["topologies"][0]["links"][2] = json!([2, 3])),
        ("plan.topologies[0].symmetry", |p| p["topologies"][0]["symmetry"] = json!([[1, 3]])),
        ("plan.topologies[0].symmetry", |p| p["topologies"][0]["symmetry"] = json!([[0, 4]])),
        ("plan.steps", |p| p["steps"] = json!([])),
        ("plan.steps[1].index", |p| p["steps"][1]["index"] = json!(2)),
        ("plan.steps[1].topology", |p| p["steps"][1]["topology"] = json!(2)),
        ("plan.steps[1].reconfigured", |p| p["steps"][1]["reconfigured"] = json!(false)),
        ("plan.steps[1].reconfigured", |p| p["steps"][1]["reconfigured"] = json!(1)),
        ("plan.steps[0].hops", |p| p["steps"][0]["hops"] = json!(-1)),
        ("plan.steps[0].terms", |p| p["steps"][0]["load"] = json!(-1.0)),
        ("plan.steps[0].terms", |p| p["steps"][0]["startup_s"] = json!(-1.0)),
        ("plan.steps[0].reconfiguration_s", |p| p["steps"][0]["reconfiguration_s"] = json!(1.0)),
        ("plan.steps[0].symmetry", |p| p["steps"][0]["symmetry"] = json!([[1, 8]])),
        ("plan.steps[0].transfers", |p| p["steps"][0]["transfers"] = json!([])),
        ("plan.steps[0].transfers", |p| p["steps"][0]["transfers"][0][1] = json!(9)),
        ("plan.steps[0].transfers", |p| p["steps"][0]["transfers"][0][3] = json!([])),
        ("plan.steps[0].transfers[0]", |p| p["steps"][0]["transfers"][0][3] = json!([4])),
        ("plan.steps[0].transfers[0]", |p| p["steps"][0]["transfers"][0][3] = json!([1, 1])),
        ("plan.steps[0].transfers[0]", |p| p["steps"][0]["transfers"][0] = json!([3, 0, "copy", [u32::MAX]])),
        ("plan.steps[0].transfers[0][2]", |p| p["steps"][0]["transfers"][0][2] = json!("move")),
        ("plan.steps[0].routes.arcs[0]", |p| p["steps"][0]["routes"]["arcs"][0][2][0][1][1] = json!(4)),
        ("plan.steps[0].routes.symmetry", |p| p["steps"][0]["routes"]["symmetry"] = json!([[3, 2]])),
    ];
    for (index, (place, damage)) in cases.iter().enumerate() {
        let mut damaged = small_json();
        damage(&mut damaged);
        let error = plan_from_json(&damaged.to_string()).unwrap_err();
        assert_eq!(error.field(), *place, "case {index}: {error}");
        assert!(!error.to_string().contains('\n'), "case {index}: {error}");
    }
}

#[test]
fn every_key_is_required_and_no_other_taken() {
    // Plans of fabrics that hide nothing were written without them.
    const MAY_BE_LEFT_OUT: [&str; 3] = ["background_reconfiguration", "window_s", "windows_s"];
    fn places(value: &Value, at: String, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                found.push(at.clone());
                map.iter().for_each(|(key, value)| places(value, format!("{at}/{key}"), found));
            }
            Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| places(v, format!("{at}/{i}"), found)),
            _ => {}
        }
    }
    let whole = small_json();
    let mut objects = Vec::new();
    places(&whole, String::new(), &mut objects);
    assert_eq!(objects.len(), 1 + 1 + 1 + 2 + 2 + 2, "plan, fabric, chunks, topologies, steps, routes");
    for pointer in objects {
        for key in whole.pointer(&pointer).unwrap().as_object().unwrap().keys() {
            let mut damaged = whole.clone();
            damaged.pointer_mut(&pointer).unwrap().as_object_mut().unwrap().remove(key);
            if MAY_BE_LEFT_OUT.contains(&key.as_str()) {
                assert_eq!(plan_from_json(&damaged.to_string()).unwrap(), Plan::new(small()).unwrap(), "{key}");
                continue;
            }
            let message = plan_from_json(&damaged.to_string()).unwrap_err().to_string();
            assert!(message.contains(&format!("missing field `{key}`")), "{pointer}/{key}: {message}");
        }
        let mut damaged = whole.clone();
        damaged.pointer_mut(&pointer).unwrap()["surplus"] = json!(0);
        let message = plan_from_json(&damaged.to_string()).unwrap_err().to_string();
        assert!(message.contains("unknown field `surplus`"), "{pointer}: {message}");
    }
}

#[test]
fn few_bytes_cannot_name_many_chunks() {
    let mut bomb = small_json();
    bomb["chunks"]["parts"] = json!(1 << 24);
    let transfer = json!([0, 1, "copy", [[0, (1 << 26) - 1, 1]]]);
    bomb["steps"][0]["transfers"] = json!([transfer, transfer]);
    let error = plan_from_json(&bomb.to_string()).unwrap_err();
    assert_eq!(error.field(), "plan.steps[0].transfers[1]", "{error}");
    let deep = "[".repeat(1 << 20);
    assert!(plan_from_json(&deep).is_err());
    assert!(plan_from_json(&format!("{} {{}}", plan_to_json(&Plan::new(small()).unwrap()))).is_err());
}

proptest! {
    #[test]
    fn plans_round_trip_to_the_bit(plan in any_plan()) {
        let text = plan_to_json(&plan);
        let back = plan_from_json(&text).unwrap();
        prop_assert_eq!(&back, &plan);
        prop_assert_eq!(plan_to_json(&back), text);
    }

    #[test]
    fn damaged_text_never_panics(
        plan in any_plan(), cut in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[-0-9eE.\\[\\]{},:\"a-z]{0,3}"), 0..4),
        truncate in any::<bool>(),
    ) {
        let mut text: Vec<char> = plan_to_json(&plan).chars().collect();
        for (at, with) in edits {
            let at = at.index(text.len());
            text.splice(at..=at, with.chars());
            if text.is_empty() { break; }
        }
        if truncate { text.truncate(cut.index(text.len().max(1))); }
        let text: String = text.into_iter().collect();
        if let Ok(plan) = plan_from_json(&text) {
            let again = plan_to_json(&plan);
            prop_assert_eq!(plan_to_json(&plan_from_json(&again).unwrap()), again);
        }
    }

    #[test]
    fn any_text_is_refused_in_one_line(text in "\\PC{0,80}") {
        let error = plan_from_json(&text).unwrap_err().to_string();
        prop_assert!(!error.contains('\n') && error.starts_with("plan"));
    }
}
