//! A policy's outcome as a plan that can be kept, shown and judged.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::{Initial, MessageTopology, Plan, PlanParts, Result, TrainingEvent, TrainingPlan, Workload};

use crate::context::Context;
use crate::jobs::{FamilyKey, Task};
use crate::policies::Outcome;
use crate::timeline::{Timeline, Use};

/// The plan of one of the outcomes; the times of all policies, by their names in this order, are stated with it.
///
/// # Errors
/// A plan whose parts do not fit, which is a mistake of the planner.
pub(crate) fn training_plan(
    context: &Context<'_>,
    outcomes: &[Outcome],
    chosen: &Outcome,
    names: &[&str],
) -> Result<TrainingPlan> {
    let mut plans: Vec<Plan> = Vec::new();
    let mut places: BTreeMap<(usize, Option<u32>), usize> = BTreeMap::new();
    let mut topologies: Vec<MessageTopology> = Vec::new();
    let mut events = Vec::with_capacity(chosen.uses.len());
    let timeline = &chosen.timeline;
    for (node, (event, used)) in timeline.events.iter().zip(&chosen.uses).enumerate() {
        let plan = match used.and_then(|used| used.entry.plan.map(|plan| (used, plan))) {
            None => None,
            Some((used, plan)) => {
                let resting = used.returns.flatten();
                let key = (plan, resting.map(|id| id.0));
                let place = match places.entry(key) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        plans.push(from_rest(context, &context.library.plans[plan], &used)?);
                        *new.insert(plans.len() - 1)
                    }
                };
                Some(place)
            }
        };
        events.push(TrainingEvent {
            start_s: event.start_s,
            end_s: event.end_s,
            plan,
            ports: used.map_or(Vec::new(), |used| (used.ports.0..used.ports.1).collect()),
            reconfigured: event.reconfigured,
            returns: used.is_some_and(|used| used.returns.is_some()),
            direct: used.is_some_and(|used| used.entry.direct),
            topology: used.and_then(|used| message_topology(context, node, &used, &mut topologies)),
            reconfiguration_exposed_s: event.exposed_s,
            waits_for: event.waits_for,
            gives_up: timeline.gives_up.get(node).cloned().unwrap_or_default(),
        });
    }
    let reconfigurations = events.iter().filter(|event| event.reconfigured).count();
    let exposed_s: f64 = events.iter().map(|event| event.reconfiguration_exposed_s).sum();
    // A difference of like numbers leaves only rounding.
    let all_s = reconfigurations as f64 * context.delay_s();
    let hidden_s = Some(all_s - exposed_s).filter(|hidden_s| *hidden_s > 1e-12 * all_s).unwrap_or(0.0);
    let by_policy = |seconds: &dyn Fn(&Timeline) -> f64| -> Vec<(String, Option<f64>)> {
        let of_policy = |name: &&str| {
            let outcome = outcomes.iter().find(|outcome| outcome.policy == *name);
            (name.to_string(), outcome.map(|outcome| seconds(&outcome.timeline)))
        };
        names.iter().map(of_policy).collect()
    };
    let ends_of = |node: Option<usize>| {
        node.map_or_else(Vec::new, |node| by_policy(&|timeline: &Timeline| timeline.events[node].end_s))
    };
    let inference = context.workload.inference.as_ref();
    TrainingPlan {
        policy: chosen.policy.to_string(),
        exact: chosen.is_shortest || timeline.total_s <= context.bound.seconds * (1.0 + 1e-12),
        workload: context.workload.clone(),
        fabric: model::Fabric { initial: Initial::Free, ..context.library.group_plans.fabric.clone() },
        resting: context.resting_name.clone(),
        total_s: timeline.total_s,
        compute_s: compute_s(context, chosen),
        bound: context.bound.clone(),
        order_bound_s: chosen.order_bound_s,
        order_exact: chosen.order_is_best,
        reconfigurations,
        reconfiguration_hidden_s: hidden_s,
        reconfiguration_exposed_s: exposed_s,
        critical_path_s: critical_path(context.workload, &events, timeline.total_s),
        policies: by_policy(&|timeline| timeline.total_s),
        first_token_s: ends_of(inference.and_then(|inference| inference.first_token)),
        caches_s: ends_of(inference.and_then(|inference| inference.caches)),
        policy_notes: outcomes.iter().map(|outcome| (outcome.policy.to_string(), outcome.note.clone())).collect(),
        events,
        topologies,
        plans,
    }
    .checked()
}

/// Index of the topology that messages go over, which is added where it is new; `None` for other nodes and for messages
/// with circuits of their own.
fn message_topology(
    context: &Context<'_>,
    node: usize,
    used: &Use,
    topologies: &mut Vec<MessageTopology>,
) -> Option<usize> {
    let Task::Communicate { kind, .. } = context.jobs.jobs[node].task else { return None };
    if used.entry.plan.is_some() || used.entry.direct {
        return None;
    }
    let axis = match context.jobs.families[context.jobs.kinds[kind].family].key {
        FamilyKey::Axis(axis) => Some(axis),
        FamilyKey::Size(_) | FamilyKey::World => None,
    };
    let topology = context.library.group_topology(used.entry.first)?.clone();
    let wanted = MessageTopology { axis, rests: used.returns.flatten() == Some(used.entry.first), topology };
    Some(topologies.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        topologies.push(wanted);
        topologies.len() - 1
    }))
}

/// A plan with the topology that its ports rest on as its start, so that who reads it knows where they return to.
fn from_rest(context: &Context<'_>, plan: &Plan, used: &Use) -> Result<Plan> {
    let Some(resting) = used.returns.flatten().and_then(|id| context.library.group_topology(id)) else {
        return Ok(plan.clone());
    };
    let mut steps = plan.steps.clone();
    let first = &plan.topologies[steps[0].topology];
    let mut topologies = plan.topologies.clone();
    steps[0].reconfigured = !first.same_links(resting);
    steps[0].cost.reconfiguration_s = if steps[0].reconfigured { context.delay_s() } else { 0.0 };
    // The topology with the resting one's circuits may go by another name.
    let listed = topologies.iter_mut().find(|listed| listed.same_links(resting));
    let initial = match listed {
        Some(listed) => listed.clone(),
        None => {
            topologies.push(resting.clone());
            resting.clone()
        }
    };
    Plan::new(PlanParts {
        algorithm: plan.algorithm.clone(),
        planner: plan.planner.clone(),
        size_bytes: plan.size_bytes,
        fabric: model::Fabric { initial: Initial::Topology(initial), ..plan.fabric.clone() },
        settings: plan.settings,
        chunks: plan.chunks.clone(),
        topologies,
        steps,
        bound: plan.bound.clone(),
        narrow_bound: None,
    })
}

/// The iteration's time if communication took none, computations of a rank in the order of the timeline.
fn compute_s(context: &Context<'_>, chosen: &Outcome) -> f64 {
    let mut ends_s = vec![0.0f64; chosen.uses.len()];
    let mut computing_s = vec![0.0f64; context.jobs.classes];
    for &node in &chosen.timeline.order {
        let job = &context.jobs.jobs[node];
        let mut start_s = job.before.iter().map(|&before| ends_s[before]).fold(0.0, f64::max);
        ends_s[node] = start_s;
        if let Task::Compute { duration_s } = job.task {
            start_s = job.classes.iter().map(|&class| computing_s[class]).fold(start_s, f64::max);
            ends_s[node] = start_s + duration_s;
            for &class in &job.classes {
                computing_s[class] = ends_s[node];
            }
        }
    }
    ends_s.into_iter().fold(0.0, f64::max)
}

/// Time along the longest chain of waits, by activity.
fn critical_path(workload: &Workload, events: &[TrainingEvent], total_s: f64) -> Vec<(String, f64)> {
    let mut spent: Vec<(String, f64)> = Vec::new();
    let mut add = |label: String, seconds: f64| {
        if let Some((_, known_s)) = spent.iter_mut().find(|(known, _)| *known == label) {
            *known_s += seconds;
        } else {
            spent.push((label, seconds));
        }
    };
    let mut at = events.iter().position(|event| event.end_s == total_s);
    while let Some(node) = at {
        let event = &events[node];
        add(workload.label_of(node), event.end_s - event.start_s);
        let before_s = event.waits_for.map_or(0.0, |before| events[before].end_s);
        if event.start_s > before_s {
            add("reconfiguration".into(), event.start_s - before_s);
        }
        at = event.waits_for;
    }
    spent.reverse();
    spent
}
