//! A plan's file with one thing changed is refused by the reader or by the verifier, or means the same. Free changes
//! are listed here, and nothing else is free.
use std::collections::{BTreeMap, BTreeSet};

use collectives::Options;
use formats::{plan_from_json, plan_to_json};
use lightloom::{Request, Size, TopologyRef, Workload, plan};
use model::{
    Collective, CostSettings, Fabric, Initial, Op, Overlap, Plan, PlanStep, ReconfigurationDelay,
    ReconfigurationOverlap, ReconfigurationPolicy, Routing, Shape, Window,
};
use rayon::prelude::*;
use serde_json::{Value, json};

/// A request on 8 GPUs; every plan is made of one with something else.
fn request(collective: Collective, algorithm: &str, planner: &str) -> Request {
    Request {
        fabric: Fabric {
            shape: Shape::new(8, &[], 2).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            barrier_s: 0.0,
            hop_delay_s: 300e-9,
            reconfiguration: ReconfigurationDelay::per_port(1e-6, 1e-9).into(),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        },
        workload: Workload::Collective { collective, algorithm: Some(algorithm.into()), options: Options::default() },
        size: Size::Buffer(1 << 20),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: Some(planner.into()),
        candidates: None,
        static_topologies: None,
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    }
}

/// Plans of many kinds, small enough that every one of their numbers can be changed.
fn plans() -> BTreeMap<&'static str, Plan> {
    let doubling = |planner| request(Collective::ReduceScatter, "recursive-doubling", planner);
    let named = |name: &str| Some(vec![TopologyRef::Named(name.into())]);
    let mut all = BTreeMap::new();
    let mut add = |name, request: Request| {
        let made = plan(&request).unwrap();
        assert!(all.insert(name, made).is_none());
    };
    add("given start", {
        let mut request = doubling("harvest");
        request.fabric.initial = Initial::Topology(topologies::build("ring", &request.fabric.shape).unwrap());
        request
    });
    add("pipelined", {
        let mut request = doubling("harvest");
        request.settings.overlap = Overlap::Pipelined;
        request.fabric.shape = Shape::new(8, &[], 1).unwrap();
        request.fabric.reconfiguration = request.fabric.reconfiguration.with_fixed_s(4e-6);
        request
    });
    add("window", {
        let mut request = doubling("harvest");
        request.fabric.shape = Shape::new(8, &[], 1).unwrap();
        let window = Window { every_s: 1e-8, ..Window::default() };
        let overlap = ReconfigurationOverlap { background: false, window };
        request.fabric.reconfiguration = request.fabric.reconfiguration.with_overlap(overlap);
        request
    });
    add("hidden", {
        let mut request = doubling("harvest");
        let window = Window { every_s: 1e-8, steps: [(2, 2e-8)].into() };
        let overlap = ReconfigurationOverlap { background: true, window };
        let delay = ReconfigurationDelay::per_port(4e-6, 1e-9);
        request.fabric.reconfiguration = ReconfigurationPolicy::new(delay, overlap);
        request.fabric.initial = Initial::Topology(topologies::build("ring", &request.fabric.shape).unwrap());
        request.candidates = Some(["shifted-rings", "one-port-dark"].map(|n| TopologyRef::Named(n.into())).to_vec());
        request
    });
    add("barriers", {
        let mut request = doubling("harvest");
        request.fabric.barrier_s = 2e-6;
        request
    });
    add("by port", {
        let mut request = doubling("harvest");
        request.fabric.reconfiguration = ReconfigurationDelay::of_switches(0.0, vec![1e-7, 3e-7]).into();
        let named = ["circulant:1,1", "circulant:1,2", "circulant:4,4"].map(|name| TopologyRef::Named(name.into()));
        request.candidates = Some(named.to_vec());
        request
    });
    add("split routes", {
        let mut request = request(Collective::AllToAll, "direct", "static");
        request.static_topologies = named("kautz");
        request
    });
    add("equal split", {
        let mut request = request(Collective::AllToAll, "bruck", "static");
        request.fabric.shape = Shape::new(8, &[2, 4], 4).unwrap();
        request.settings.routing = Routing::EqualSplit;
        request.static_topologies = named("torus");
        request
    });
    add("one path", {
        let mut request = request(Collective::AllReduce, "swing", "static");
        request.settings.routing = Routing::SinglePath;
        request.static_topologies = named("ring");
        request
    });
    add("matrix", {
        let rows: Vec<Vec<f64>> =
            (0..5).map(|src| (0..5).map(|dst| f64::from((3 * src + 5 * dst) % 7 * 100_000)).collect()).collect();
        let mut request = request(Collective::AllToAll, "direct", "harvest");
        request.fabric.shape = Shape::new(5, &[], 2).unwrap();
        let (workload, size) = Workload::select(None, None, Options::default(), None, Some(rows), None).unwrap();
        (request.workload, request.size) = (workload, size.unwrap());
        request
    });
    add("weave", {
        let mut request = request(Collective::AllGather, "auto", "weave");
        request.fabric.shape = Shape::new(6, &[], 2).unwrap();
        request
    });
    add("broadcast", request(Collective::Broadcast, "binomial-tree", "harvest"));
    add("blocks", request(Collective::AllToAll, "direct", "reconfigure-all-to-all"));
    let charges: Vec<f64> = all["by port"].steps.iter().map(|step| step.cost.reconfiguration_s).collect();
    assert_eq!(charges, [0.0, 1e-7, 3e-7], "both ports are there for something");
    let hidden = &all["hidden"];
    let partly = |step: &PlanStep| step.cost.reconfiguration_s > 0.0 && step.cost.reconfiguration_s < 3.9e-6;
    assert!(partly(&hidden.steps[2]), "its window is there for something: {:?}", hidden.steps[2].cost);
    all
}

/// Places in a document: keys and indices from the top.
type Path = Vec<String>;

fn at<'a>(document: &'a mut Value, path: &[String]) -> &'a mut Value {
    path.iter().fold(document, |value, key| match value {
        Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
        other => &mut other[key.as_str()],
    })
}

/// Every place; of long lists the first, one in the middle and the last entries.
fn places(value: &Value, here: &Path, all: &mut Vec<Path>) {
    all.push(here.clone());
    let below = |key: &str| here.iter().cloned().chain([key.to_string()]).collect::<Path>();
    match value {
        Value::Array(items) => {
            let some: BTreeSet<usize> = [0, 1, items.len() / 2, items.len().saturating_sub(1)].into();
            for index in some.into_iter().filter(|&index| index < items.len()) {
                places(&items[index], &below(&index.to_string()), all);
            }
        }
        Value::Object(entries) => entries.iter().for_each(|(key, entry)| places(entry, &below(key), all)),
        _ => {}
    }
}

/// Values that a value may be changed to, all of them different.
fn changed(value: &Value) -> Vec<Value> {
    let mut all = vec![json!(null), json!("x"), json!([]), json!({}), json!(-1), json!(1), json!(0.5), json!(true)];
    match value {
        Value::Number(number) => {
            let x = number.as_f64().unwrap();
            all.extend([x * (1.0 + 1e-6), x * (1.0 - 1e-6), 2.0 * x, -x, x / 2.0, 1e300].map(|y| json!(y)));
            if let Some(whole) = number.as_u64() {
                all.extend([whole + 1, whole.saturating_sub(1), 2 * whole, 0].map(|y| json!(y)));
            }
        }
        Value::Bool(flag) => all.push(json!(!flag)),
        Value::String(text) => {
            let names = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "concurrent-flow"];
            let others = ["equal-split", "single-path", "hops", "inverse-throughput", "additive", "pipelined", "free"];
            let kinds = ["owned", "pairs", "buffer", "pieces", "copy", "reduce", "lightloom.plan/2", "ring"];
            all.extend(names.iter().chain(&others).chain(&kinds).map(|name| json!(name)));
            all.push(json!(format!("{text} ")));
        }
        Value::Array(items) => {
            for index in 0..items.len().min(3) {
                let mut fewer = items.clone();
                let taken = fewer.remove(index);
                all.push(json!(fewer));
                fewer.push(taken.clone());
                all.push(json!(fewer));
                let mut more = items.clone();
                more.push(taken);
                all.push(json!(more));
            }
        }
        Value::Object(entries) => {
            for key in entries.keys() {
                let mut fewer = entries.clone();
                fewer.remove(key);
                all.push(json!(fewer));
            }
            let mut more = entries.clone();
            more.insert("surprise".into(), json!(1));
            all.push(json!(more));
        }
        Value::Null => {}
    }
    // A change as small as rounding is no change.
    all.retain(|other| match (other.as_f64(), value.as_f64()) {
        (Some(other), Some(value)) => (other - value).abs() > 1e-12 * value.abs(),
        _ => true,
    });
    all.retain(|other| other != value);
    all
}

/// Makes sums, counts and numbers of a changed document fit again, so that the reader has nothing against them.
fn mended(mut document: Value) -> Value {
    let mut terms = Vec::new();
    if let Some(steps) = document["steps"].as_array_mut() {
        for (index, step) in steps.iter_mut().enumerate().filter(|(_, step)| step.is_object()) {
            step["index"] = json!(index);
            for term in ["startup_s", "propagation_s", "transmission_s", "reconfiguration_s", "barrier_s"] {
                terms.push(step[term].as_f64().unwrap_or(0.0));
            }
        }
        let marked = steps.iter().filter(|step| step["reconfigured"] == json!(true)).count();
        document["reconfigurations"] = json!(marked);
    }
    if let Some(topologies) = document["topologies"].as_array_mut() {
        for (index, topology) in topologies.iter_mut().enumerate().filter(|(_, topology)| topology.is_object()) {
            topology["id"] = json!(index);
        }
    }
    let total_s = model::sum_seconds(terms);
    document["total_s"] = json!(total_s);
    if document["lower_bound_s"].as_f64().is_some_and(|bound_s| bound_s > total_s) {
        document["lower_bound_s"] = json!(total_s);
    }
    document
}

/// The meaning of a plan, but for names and its bound: symmetries written out, orders that mean nothing sorted.
fn meaning(plan: &Plan) -> Vec<String> {
    let links = |topology: &model::Topology| format!("{:?}", topology.expanded());
    let Fabric {
        shape,
        bandwidth_bps,
        startup_s,
        barrier_s,
        hop_delay_s,
        reconfiguration,
        initial,
        optics: _,
        electrical: _,
    } = &plan.fabric;
    let start = initial.given().map_or_else(|| format!("{initial:?}"), links);
    let mut all = vec![
        format!("{:?} {:?} {}", plan.collective(), plan.chunks, plan.size_bytes),
        format!("{shape:?} {bandwidth_bps} {startup_s} {barrier_s} {hop_delay_s} {reconfiguration:?} {start}"),
        // The setting of the hop delay shows in the terms, where it makes a difference.
        format!("{:?} {:?}", plan.settings.routing, plan.settings.overlap),
        format!("{} {}", plan.total_s(), plan.reconfigurations()),
    ];
    for step in &plan.steps {
        let group = &step.routes.symmetry;
        let mut routes: Vec<String> = Vec::new();
        for element in group.elements() {
            for arc in &step.routes.arcs {
                for path in &arc.paths {
                    let nodes: Vec<u32> = path.nodes.iter().map(|&node| group.apply(element, node)).collect();
                    routes.push(format!("{nodes:?} {}", path.share));
                }
            }
        }
        routes.sort();
        all.push(format!("{} {:?}", links(&plan.topologies[step.topology]), step.step.expanded(&plan.chunks)));
        all.push(format!("{} {} {} {}", step.reconfigured, step.transfer_bytes, step.hops, step.load));
        all.push(format!("{:?} {routes:?}", step.cost));
    }
    all
}

/// Values that may be changed although nothing that is left of the plan says otherwise, and why.
fn is_free(original: &Plan, path: &[String], (before, after): (&Value, &Value)) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let every_step = |holds: &dyn Fn(&PlanStep) -> bool| original.steps.iter().all(holds);
    match path[..] {
        // The shape is where named topologies come from; the plan has its links.
        ["fabric", "dims", ..] => true,
        // Ports to spare. The bound is then of another class than the fabric's, so that it is not checked.
        ["fabric", "ports"] => after.as_u64() > before.as_u64(),
        // How paths were found. Whatever one path, or an equal split, asks of them holds.
        ["routing"] => true,
        // Delays by hops are those by load.
        ["propagation"] => {
            every_step(&|step| f64::from(step.hops) == f64::from(original.fabric.shape.ports()) * step.load)
        }
        // Ports go by their speed: in another order changes are charged the same.
        ["fabric", "reconfiguration_delays_by_port_s"] => {
            let sorted = |delays: &Value| {
                let mut shown: Vec<String> = delays.as_array().into_iter().flatten().map(Value::to_string).collect();
                shown.sort_unstable();
                shown
            };
            sorted(before) == sorted(after)
        }
        // Without a change of circuits its delay costs nothing, and there is nothing to hide.
        ["fabric", "reconfiguration_delay_s" | "reconfiguration_delay_per_port_s"] => original.reconfigurations() == 0,
        ["fabric", "background_reconfiguration"] => !changes_in_background(original),
        // A window of every step, which may be left out where it has no effect: all is hidden without it, or has its
        // own.
        ["fabric"] | ["fabric", "window_s"] => {
            let own = &original.fabric.reconfiguration.overlap().window.steps;
            let is_charged = |step: &PlanStep| step.reconfigured && step.cost.reconfiguration_s > 0.0;
            original.steps.iter().enumerate().all(|(index, step)| !is_charged(step) || own.contains_key(&index))
        }
        // One hop on circuits that carry one message takes the same either way.
        ["overlap"] => every_step(&|step| step.hops == 1 && step.load == 1.0),
        // A schedule that sums up everything everywhere also has each part where it belongs.
        ["collective"] => original.collective() == Collective::AllReduce && *after == "reduce-scatter",
        // The matrix is said nowhere else: a smaller piece that no other number hangs on, or one for a rank on its way.
        ["chunks", "pieces", ..] => true,
        // A circuit more, on ports that were dark, where no charge counts it.
        ["topologies", _, "links", _, "2"] => after.as_u64() > before.as_u64(),
        // Steps that do not depend on each other, and copies of what is there already.
        ["steps"] | ["steps", _, "transfers"] => {
            every_step(&|step| step.step.transfers().iter().all(|transfer| transfer.op == Op::Copy))
        }
        _ => false,
    }
}

/// Whether some change of circuits could be made while the step before runs.
fn changes_in_background(plan: &Plan) -> bool {
    let overlap = ReconfigurationOverlap { background: true, ..ReconfigurationOverlap::default() };
    let policy = plan.fabric.reconfiguration.with_overlap(overlap);
    let mut pairs = plan.steps.windows(2).filter(|pair| pair[1].reconfigured);
    pairs.any(|pair| {
        let [from, to] = [&pair[0], &pair[1]].map(|step| &plan.topologies[step.topology]);
        policy.between(from, to, plan.fabric.shape.ports()).in_background
    })
}

/// The changes of one plan that were taken, with the numbers of changes and of those that mean the same.
fn taken(kind: &str, original: &Plan) -> (Vec<String>, usize, usize) {
    let (mut tried, mut same, mut wrong) = (0, 0, Vec::new());
    let document: Value = serde_json::from_str(&plan_to_json(original)).unwrap();
    let said = meaning(original);
    let mut all = Vec::new();
    places(&document, &Path::new(), &mut all);
    for path in all.into_iter().filter(|path| !path.is_empty()) {
        let mut known = document.clone();
        let before = at(&mut known, &path).clone();
        for after in changed(&before) {
            let mut raw = document.clone();
            *at(&mut raw, &path) = after.clone();
            let with_sums = mended(raw.clone());
            let both = if with_sums == raw { vec![raw] } else { vec![with_sums, raw] };
            for other in both {
                tried += 1;
                let Ok(read) = plan_from_json(&other.to_string()) else { continue };
                let report = lightloom::verify_plan(&read);
                if !report.passed() {
                    continue;
                }
                same += 1;
                let bound = report.checks.iter().find(|check| check.name == "recomputed-bound").unwrap();
                let is_above = read.bound.seconds > original.bound.seconds * (1.0 + 1e-9);
                let lies = is_above && !bound.detail.contains("stated, not checked");
                if lies || (meaning(&read) != said && !is_free(original, &path, (&before, &after))) {
                    let [before, after] =
                        [&before, &after].map(|it| it.to_string().chars().take(90).collect::<String>());
                    wrong.push(format!("{kind}: {}: {before} became {after}", path.join(".")));
                }
            }
        }
    }
    wrong.dedup();
    (wrong, tried, same)
}

#[test]
#[ignore = "large: make test-large"]
fn what_is_changed_in_a_plan_is_refused_or_means_the_same() {
    let found: Vec<_> = plans().par_iter().map(|(kind, original)| taken(kind, original)).collect();
    let wrong: Vec<&String> = found.iter().flat_map(|(wrong, ..)| wrong).collect();
    let tried: usize = found.iter().map(|(_, tried, _)| tried).sum();
    let same: usize = found.iter().map(|(.., same)| same).sum();
    assert!(wrong.is_empty(), "{} of {tried} are taken: {wrong:#?}", wrong.len());
    assert!(tried > 10_000 && same > 100, "{tried} changes, {same} of them mean the same");
}
