//! Whether the steps and messages of an iteration have their circuits between islands of GPUs that share ports.
//!
//! Circuits between the same two islands are alike: electrical links decide which GPU uses one. So every step must find
//! as many between each two islands as its topology has there, the same ones from its beginning to its end; and all
//! that is under way at a time must find as many as they have together.

use std::collections::{BTreeMap, VecDeque};

use model::{Rank, Topology, TrainingPlan, Work, sum_seconds};

use super::history::History;
use crate::report::{Check, Tally};

/// Circuits by the island that they leave and the one that they enter.
type Between = BTreeMap<(u32, u32), u32>;

/// Something that needs circuits from beginning to end, s.
struct Span {
    begin_s: f64,
    end_s: f64,
    event: usize,
    needs: Between,
}

/// Judges the second of two iterations.
pub(super) fn served_on_islands(training: &TrainingPlan, history: &History, gpus: u32, total_s: f64) -> Check {
    let mut tally = Tally::new("circuits");
    let mut spans: Vec<Span> = Vec::new();
    for event in 0..training.events.len() {
        interruption::check();
        spans.extend(spans_of(training, event, gpus, total_s).into_iter().filter(|span| !span.needs.is_empty()));
    }
    spans.sort_by(|one, other| one.begin_s.total_cmp(&other.begin_s));
    for (index, span) in spans.iter().enumerate() {
        interruption::check();
        let id: String = training.workload.nodes[span.event].id.chars().take(60).collect();
        let mut expect = |what: &str, needs: &Between, has: &Between| {
            for (pair, &needs) in needs {
                let has = has.get(pair).copied().unwrap_or(0);
                tally.expect(has >= needs, || {
                    format!("node `{id}`: {has} circuits from island {} to island {} {what} {needs}", pair.0, pair.1)
                });
            }
        };
        expect("from beginning to end, where it needs", &span.needs, &lit(history, span.begin_s, span.end_s));
        // All that is under way when it begins: a sum grows only then.
        let from_s = span.begin_s + 2.0 * history.rounding_s;
        let mut together = Between::new();
        for other in spans[..index].iter().chain(spans[index..].iter().take_while(|other| other.begin_s <= from_s)) {
            if other.end_s > from_s {
                other.needs.iter().for_each(|(&pair, count)| *together.entry(pair).or_insert(0) += count);
            }
        }
        expect("when it begins, where all that is under way needs", &together, &lit(history, from_s, from_s));
    }
    tally.into_check(
        "need",
        "of circuits between islands, lit from beginning to end, set up as long before as a change takes",
    )
}

/// Circuits between islands that are lit all the time between two.
fn lit(history: &History, from_s: f64, until_s: f64) -> Between {
    let mut found = Between::new();
    for (&(island, _), lit) in &history.by_port {
        let is_there = lit.iter().find(|lit| {
            lit.from_s <= from_s + history.rounding_s && lit.until_s + history.rounding_s >= until_s.max(from_s)
        });
        if let Some(lit) = is_there {
            *found.entry((island, lit.rank)).or_insert(0) += 1;
        }
    }
    found
}

fn spans_of(training: &TrainingPlan, event: usize, gpus: u32, total_s: f64) -> Vec<Span> {
    let planned = &training.events[event];
    let ends_s = planned.end_s + total_s;
    match &training.workload.nodes[event].work {
        Work::Compute { .. } => Vec::new(),
        Work::Collective { .. } => {
            let groups = training.workload.groups_of(event);
            let Some(plan) = planned.plan.map(|plan| &training.plans[plan]) else { return Vec::new() };
            let of_step = |(index, step): (usize, &model::PlanStep)| {
                let after_s = sum_seconds(plan.steps[index + 1..].iter().map(|step| step.cost.total_s()));
                let own_s = step.cost.total_s() - step.cost.reconfiguration_s;
                let mut needs = Between::new();
                for group in &groups {
                    for link in plan.topologies[step.topology].expanded() {
                        let ranks = [link.src, link.dst].map(|place| group[place as usize]);
                        add(&mut needs, gpus, ranks, link.count);
                    }
                }
                Span { begin_s: ends_s - after_s - own_s, end_s: ends_s - after_s, event, needs }
            };
            plan.steps.iter().enumerate().map(of_step).collect()
        }
        Work::Send { pairs, .. } => {
            let mut needs = Between::new();
            if planned.direct {
                for &(source, destination) in pairs {
                    add(&mut needs, gpus, [source, destination], planned.ports.len() as u32);
                }
            } else if let Some(stated) = planned.topology.map(|topology| &training.topologies[topology]) {
                let all = || vec![(0..training.workload.ranks).collect()];
                let groups = stated.axis.map_or_else(all, |axis| training.workload.axis_groups(axis));
                let mut passed: BTreeMap<[Rank; 2], u32> = BTreeMap::new();
                for &(source, destination) in pairs {
                    let Some(group) = groups.iter().find(|group| group.contains(&source)) else { continue };
                    passed.extend(path(&stated.topology, group, source, destination));
                }
                passed.into_iter().for_each(|(ranks, count)| add(&mut needs, gpus, ranks, count));
            }
            vec![Span { begin_s: planned.start_s + total_s, end_s: ends_s, event, needs }]
        }
    }
}

fn add(needs: &mut Between, gpus: u32, ranks: [Rank; 2], count: u32) {
    let [from, to] = ranks.map(|rank| rank / gpus);
    if from != to {
        *needs.entry((from, to)).or_insert(0) += count;
    }
}

/// The circuits on a shortest path between two ranks of a group, by their ends.
fn path(topology: &Topology, group: &[Rank], source: Rank, destination: Rank) -> Vec<([Rank; 2], u32)> {
    let links = topology.expanded();
    let mut before: BTreeMap<Rank, (Rank, u32)> = BTreeMap::new();
    let mut reached = VecDeque::from([source]);
    while let Some(rank) = reached.pop_front() {
        for link in links.iter().filter(|link| group[link.src as usize] == rank) {
            let next = group[link.dst as usize];
            if next != source && !before.contains_key(&next) {
                before.insert(next, (rank, link.count));
                reached.push_back(next);
            }
        }
    }
    let mut passed = Vec::new();
    let mut at = destination;
    while let Some(&(rank, count)) = before.get(&at).filter(|_| at != source) {
        passed.push(([rank, at], count));
        at = rank;
    }
    passed
}
