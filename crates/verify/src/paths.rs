//! Paths of a plan: every arc has some, they exist, and they make the stated hops and load of circuits.

use std::collections::{BTreeMap, BTreeSet};

use model::{Electrical, Plan, PlanStep, Rank, RoutedEntry, Topology, Traffic};

use crate::links::{canonical, circuits};
use crate::report::{Check, Tally, agree};
use crate::speeds::Speeds;
use crate::tiers::is_electrical;

/// Checks, of every step: paths that run from sender to receiver over links of the topology in force and
/// visit no GPU twice, with shares that add up to 1 (to 1e-9); the longest of them; the busiest link
/// (to 1e-9).
///
/// Costs O(total length of the stated paths · log links).
pub(crate) fn check(plan: &Plan) -> [Check; 3] {
    let (mut routes, mut hops, mut load) = (Tally::new("routes"), Tally::new("hops"), Tally::new("load"));
    let speeds = Speeds::of(&plan.fabric.shape);
    for (index, step) in plan.steps.iter().enumerate() {
        let topology = &plan.topologies[step.topology];
        let Some(found) = walk(index, step, topology, (&speeds, plan.fabric.electrical.as_ref()), &mut routes) else {
            continue;
        };
        hops.expect(found.hops == step.hops, || {
            format!("step {index}: hops is stated as {}, and the longest path has {}", step.hops, found.hops)
        });
        load.expect(agree(step.load, found.load, 1e-9), || {
            format!(
                "step {index}: load is stated as {}, and link {} → {} carries {}",
                step.load, found.busiest.0, found.busiest.1, found.load
            )
        });
    }
    [
        routes.into_check("path", "over existing circuits"),
        hops.into_check("step", "with the stated longest path"),
        load.into_check("step", "with the stated busiest link"),
    ]
}

struct Found {
    hops: u32,
    load: f64,
    busiest: (Rank, Rank),
}

/// Hops and load of a step's paths; `None` where the paths are wrong, which `tally` then says.
fn walk(
    index: usize,
    step: &PlanStep,
    topology: &Topology,
    (speeds, electrical): (&Speeds, Option<&Electrical>),
    tally: &mut Tally,
) -> Option<Found> {
    let group = &step.routes.symmetry;
    let traffic = step.step.traffic();
    for (whose, other) in [("topology", topology.symmetry()), ("traffic", traffic.symmetry())] {
        let inside = group.ranks() == other.ranks() && group.meet(other) == *group;
        if !tally.expect(inside, || format!("step {index}: the symmetry of the routes is not one of the {whose}")) {
            return None;
        }
    }
    let mut seen = BTreeSet::new();
    let mut carried: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
    let mut hops = 0;
    for arc in &step.routes.arcs {
        interruption::check();
        let weight = match weight_of(traffic, arc) {
            Some(weight) if seen.insert(canonical(group, (arc.src, arc.dst))) => weight,
            state => {
                let why = if state.is_some() { "routed twice" } else { "not in the traffic" };
                tally.expect(false, || format!("step {index}: the traffic {} → {} is {why}", arc.src, arc.dst));
                return None;
            }
        };
        let shares: f64 = arc.paths.iter().map(|path| path.share).sum();
        if !tally.expect((shares - 1.0).abs() <= 1e-9, || {
            format!("step {index}: shares of the traffic {} → {} add up to {shares}, not 1", arc.src, arc.dst)
        }) {
            return None;
        }
        for path in &arc.paths {
            let wrong = path_fault(arc, path.share, &path.nodes, (topology, electrical));
            if !tally.expect(wrong.is_none(), || {
                format!("step {index}: a path of the traffic {} → {}: {}", arc.src, arc.dst, wrong.unwrap_or_default())
            }) {
                return None;
            }
            hops = hops.max(path.nodes.len() as u32 - 1);
            for hop in path.nodes.windows(2).filter(|hop| !is_electrical(electrical, topology, hop)) {
                *carried.entry(canonical(group, (hop[0], hop[1]))).or_insert(0.0) += weight * path.share;
            }
        }
    }
    let expected = traffic.arcs().len() as u64 * u64::from(traffic.symmetry().order() / group.order());
    let all = seen.len() as u64 == expected;
    if !tally.expect(all, || {
        format!("step {index}: {} arcs are routed, and the traffic has {expected} under the same symmetry", seen.len())
    }) {
        return None;
    }
    let (mut load, mut busiest) = (0.0, (0, 0));
    for ((src, dst), amount) in carried {
        let on_link = amount / speeds.capacity(topology, src, dst);
        if on_link > load {
            (load, busiest) = (on_link, (src, dst));
        }
    }
    Some(Found { hops, load, busiest })
}

/// The fault of a path, if any.
fn path_fault(
    arc: &RoutedEntry,
    share: f64,
    nodes: &[Rank],
    (topology, electrical): (&Topology, Option<&Electrical>),
) -> Option<String> {
    if !(share > 0.0 && share <= 1.0 + 1e-9) {
        return Some(format!("share {share} is not in (0, 1]"));
    }
    if nodes.len() < 2 || nodes.first() != Some(&arc.src) || nodes.last() != Some(&arc.dst) {
        return Some("it does not lead from the sender to the receiver".into());
    }
    if let Some(node) = nodes.iter().find(|&&node| node >= topology.ranks()) {
        return Some(format!("there is no GPU {node}"));
    }
    let mut visited: Vec<Rank> = nodes.to_vec();
    visited.sort_unstable();
    if let Some(twice) = visited.windows(2).find(|pair| pair[0] == pair[1]) {
        return Some(format!("it visits GPU {} twice", twice[0]));
    }
    nodes
        .windows(2)
        .find(|hop| circuits(topology, hop[0], hop[1]) == 0 && !is_electrical(electrical, topology, hop))
        .map(|hop| format!("topology `{}` has no link {} → {}", topology.name(), hop[0], hop[1]))
}

/// Weight of the arc in the traffic.
fn weight_of(traffic: &Traffic, arc: &RoutedEntry) -> Option<f64> {
    if arc.src >= traffic.ranks() || arc.dst >= traffic.ranks() {
        return None;
    }
    let pair = canonical(traffic.symmetry(), (arc.src, arc.dst));
    let arcs = traffic.arcs();
    arcs.binary_search_by_key(&pair, |arc| (arc.src, arc.dst)).ok().map(|at| arcs[at].weight)
}
