//! Plans, ports and topologies chosen together over the whole iteration.

use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::jobs::{Job, Task};
use crate::overlap::{Allotment, one_by_one, search};
use crate::series::{Turn, shortest};
use crate::timeline::Use;

pub(super) const POLICY: Policy = Policy {
    name: "carry",
    title: "joint",
    summary: "plans, port splits and topologies chosen together: the end topology of one collective is the start of \
        the next",
    can_be_chosen: true,
    plan,
};

fn plan(context: &mut Context<'_>, before: &[Outcome]) -> Option<Outcome> {
    let mut found: Vec<Outcome> = before.to_vec();
    let series = context.jobs.in_series().filter(|nodes| !nodes.is_empty());
    let series = series.and_then(|nodes| in_series(context, &nodes));
    found.extend(series.clone());
    if series.is_none() || context.jobs.are_few() {
        let overlapped = overlapped(context, &found);
        found.splice(before.len()..before.len(), overlapped);
    }
    // Of equally fast plans the last is taken, so this policy's own before those of the other policies.
    let best = found.into_iter().rev().min_by(|a, b| a.timeline.total_s.total_cmp(&b.timeline.total_s))?;
    let note = if best.policy == POLICY.name {
        best.note
    } else {
        format!("no plan found is faster than that of policy {}", best.policy)
    };
    Some(Outcome { policy: POLICY.name, note, ..best })
}

fn in_series(context: &Context<'_>, nodes: &[usize]) -> Option<Outcome> {
    let turns = turns(context, nodes);
    let found = shortest(&context.library, context.jobs.families.len(), &context.splits, &turns)?;
    let mut uses: Vec<Option<Use>> = vec![None; context.jobs.jobs.len()];
    for (&node, (ports, entry)) in nodes.iter().zip(&found.chosen) {
        uses[node] = Some(Use { ports: *ports, entry: *entry, returns: None });
    }
    let timeline = context.timeline(&uses)?;
    let one_family = context.jobs.families.len() == 1;
    let note = if one_family {
        "shortest path over (communication, topology)"
    } else {
        "shortest path over (communication, port split, topologies)"
    };
    let computed_s: f64 = turns.iter().map(|turn| turn.idle_s).sum();
    let is_as_priced = (timeline.total_s - computed_s - found.cost_s).abs() <= 1e-9 * timeline.total_s;
    let is_shortest = context.layer.is_none() && found.is_shortest && all_on_the_same_groups(context) && is_as_priced;
    Some(Outcome { is_shortest, ..Outcome::new(&POLICY, uses, timeline, note.into()) })
}

/// Whether every communication is one of all ranks in the same groups. Elsewhere some ranks may change their topology
/// while others communicate, which the path does not count.
fn all_on_the_same_groups(context: &Context<'_>) -> bool {
    let jobs = &context.jobs;
    let of_all = |job: &Job| matches!(job.task, Task::Compute { .. }) || job.classes.len() == jobs.classes;
    jobs.families.len() == 1 && !jobs.families[0].overlaps && jobs.jobs.iter().all(of_all)
}

/// The communications of a series, each with the computation between it and the one before.
fn turns(context: &Context<'_>, nodes: &[usize]) -> Vec<Turn> {
    let mut idle_s = 0.0;
    let mut turns: Vec<Turn> = Vec::with_capacity(nodes.len());
    for &node in &context.jobs.order {
        match context.jobs.jobs[node].task {
            Task::Compute { duration_s } => idle_s += duration_s,
            Task::Communicate { kind, .. } => {
                turns.push(Turn { kind, family: context.jobs.kinds[kind].family, idle_s });
                idle_s = 0.0;
            }
        }
    }
    // Idle time at the end counts as idle time before the first turn of the next iteration.
    if let Some(first) = turns.first_mut() {
        first.idle_s += idle_s;
    }
    turns
}

fn overlapped(context: &Context<'_>, before: &[Outcome]) -> Option<Outcome> {
    let all = |job: &Job| matches!(job.task, Task::Communicate { .. }).then_some((0, context.ports()));
    let mut starts: Vec<Allotment> = vec![context.jobs.jobs.iter().map(all).collect()];
    for outcome in before {
        let allotment: Allotment = outcome.uses.iter().map(|used| used.map(|used| used.ports)).collect();
        if !starts.contains(&allotment) {
            starts.push(allotment);
        }
    }
    let least_s = context.bound.seconds;
    let found = search(context, &starts, least_s)?;
    let (uses, timeline) = one_by_one(context, found, least_s);
    let note = "search over port splits, plans and orders of the communications".to_string();
    Some(Outcome::new(&POLICY, uses, timeline, note))
}
