//! Communications that overlap: each lane has ports of its own choice, plans follow each other along the ports.

use rayon::prelude::*;

use crate::context::Context;
use crate::jobs::Task;
use crate::library::Entry;
use crate::timeline::{Timeline, Use};

/// The ports of each lane.
pub(crate) type Allotment = Vec<(u32, u32)>;

/// How often plans are chosen again by the timeline that the last choice led to.
const ROUNDS: usize = 3;

/// Work, in steps of timelines, that the search may cost.
const MOST_WORK: usize = 1_500_000_000;

/// Uses and what they lead to.
pub(crate) type Timed = (Vec<Option<Use>>, Timeline);

/// The best timeline over the ports that lanes are given, by changing one lane at a time from each of the given
/// allotments.
pub(crate) fn search(context: &Context<'_>, starts: &[Allotment]) -> Option<Timed> {
    let ports = context.ports();
    let of_family =
        |widths: &Vec<u32>| -> Vec<(u32, u32)> { widths.iter().flat_map(|&width| places(ports, width)).collect() };
    let ranges: Vec<Vec<(u32, u32)>> = context.widths.iter().map(of_family).collect();
    let one = context.jobs.jobs.len() * (context.jobs.classes * ports as usize + 16) * 4 * ROUNDS;
    let mut left = (MOST_WORK / one.max(1)).clamp(4, 4000);
    let mut evaluated: Vec<(Allotment, Option<Timed>)> =
        starts.par_iter().map(|start| (start.clone(), evaluate(context, start))).collect();
    left = left.saturating_sub(evaluated.len());
    evaluated.retain(|(_, timed)| timed.is_some());
    evaluated.sort_by(|a, b| total_s(&a.1).total_cmp(&total_s(&b.1)));
    let (mut best, mut timed) = evaluated.into_iter().next()?;
    loop {
        let before_s = total_s(&timed);
        for lane in 0..best.len() {
            let others: Vec<Allotment> = ranges[context.jobs.lanes[lane].family]
                .iter()
                .filter(|range| **range != best[lane])
                .take(left)
                .map(|range| {
                    let mut other = best.clone();
                    other[lane] = *range;
                    other
                })
                .collect();
            left -= others.len();
            let found: Vec<Option<Timed>> = others.par_iter().map(|other| evaluate(context, other)).collect();
            for (other, found) in others.into_iter().zip(found) {
                if total_s(&found) < total_s(&timed) * (1.0 - 1e-9) {
                    (best, timed) = (other, found);
                }
            }
        }
        if left == 0 || total_s(&timed) >= before_s * (1.0 - 1e-6) {
            return timed;
        }
    }
}

fn total_s(timed: &Option<Timed>) -> f64 {
    timed.as_ref().map_or(f64::INFINITY, |(_, timeline)| timeline.total_s)
}

/// Ranges of `width` ports.
fn places(ports: u32, width: u32) -> Vec<(u32, u32)> {
    (0..=ports - width).map(|first| (first, first + width)).collect()
}

/// The best timeline found for an allotment; none where some lane's ports serve a kind of its not.
pub(crate) fn evaluate(context: &Context<'_>, allotment: &Allotment) -> Option<Timed> {
    let mut uses: Vec<Option<Use>> = Vec::with_capacity(context.jobs.jobs.len());
    for job in &context.jobs.jobs {
        let Task::Communicate { kind, lane, .. } = job.task else {
            uses.push(None);
            continue;
        };
        let ports = allotment[lane];
        let entries = context.library.entries(kind, ports.1 - ports.0);
        let entry = entries.iter().find(|entry| !entry.through)?;
        uses.push(Some(Use { ports, entry: *entry, returns: None }));
    }
    let mut best: Option<Timed> = None;
    for _ in 0..ROUNDS {
        let Some(timeline) = context.timeline(&uses) else { break };
        let next = chained(context, &uses, &timeline);
        let better = best.as_ref().is_none_or(|(_, known)| timeline.total_s < known.total_s);
        let settled = next == uses;
        if better {
            best = Some((uses, timeline));
        }
        if settled {
            break;
        }
        uses = next;
    }
    best
}

/// The uses with the best entries along each chain of communications that have the same ports of the same groups one after
/// the other, by the idle times of a timeline.
fn chained(context: &Context<'_>, uses: &[Option<Use>], timeline: &Timeline) -> Vec<Option<Use>> {
    let ports = context.ports() as usize;
    let mut last: Vec<Option<usize>> = vec![None; context.jobs.classes * ports];
    let mut follows: Vec<Option<usize>> = vec![None; uses.len()];
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut chain_of: Vec<usize> = vec![usize::MAX; uses.len()];
    for &node in &timeline.order {
        let (Some(used), job) = (&uses[node], &context.jobs.jobs[node]) else { continue };
        let range = used.ports.0 as usize..used.ports.1 as usize;
        let places = job.classes.iter().flat_map(|class| range.clone().map(move |port| class * ports + port));
        let users: Vec<Option<usize>> = places.clone().map(|place| last[place]).collect();
        let before = users[0].filter(|&before| {
            users.iter().all(|user| *user == users[0])
                && uses[before].is_some_and(|other| other.ports == used.ports)
                && same_groups(&context.jobs.jobs[before].task, &job.task)
                && context.jobs.jobs[before].classes == job.classes
        });
        follows[node] = before;
        chain_of[node] = before.map_or(chains.len(), |before| chain_of[before]);
        if before.is_none() {
            chains.push(Vec::new());
        }
        chains[chain_of[node]].push(node);
        for place in places {
            last[place] = Some(node);
        }
    }
    let mut next = uses.to_vec();
    for chain in chains {
        // A chain may fork: what follows the same node twice starts again.
        for (node, entry) in best_along(context, uses, timeline, &chain) {
            if let Some(used) = &mut next[node] {
                used.entry = entry;
            }
        }
    }
    next
}

fn same_groups(a: &Task, b: &Task) -> bool {
    match (a, b) {
        (Task::Communicate { groups: a, .. }, Task::Communicate { groups: b, .. }) => a == b,
        _ => false,
    }
}

/// The entries of least time along a chain, what is not hidden of the changes between them included.
fn best_along(
    context: &Context<'_>,
    uses: &[Option<Use>],
    timeline: &Timeline,
    chain: &[usize],
) -> Vec<(usize, Entry)> {
    let mut reached: Vec<Vec<(f64, Entry, usize)>> = Vec::with_capacity(chain.len());
    for (place, &node) in chain.iter().enumerate() {
        let (Some(used), Task::Communicate { kind, .. }) = (&uses[node], &context.jobs.jobs[node].task) else { break };
        let entries = context.library.entries(*kind, used.ports.1 - used.ports.0);
        let idle_s = place.checked_sub(1).map(|before| {
            let event = &timeline.events[node];
            event.start_s - event.exposed_s - timeline.events[chain[before]].end_s
        });
        let change_s = idle_s.map_or(0.0, |idle_s| (context.delay_s() - idle_s).max(0.0));
        let from = |entry: &Entry| -> (f64, usize) {
            let Some(before) = place.checked_sub(1).map(|before| &reached[before]) else { return (0.0, 0) };
            let cost = |(at, known): (usize, &(f64, Entry, usize))| {
                (known.0 + if known.1.last == entry.first { 0.0 } else { change_s }, at)
            };
            before.iter().enumerate().map(cost).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0))
        };
        let step = entries.iter().filter(|entry| !entry.through).map(|entry| {
            let (cost_s, at) = from(entry);
            (cost_s + entry.duration_s, *entry, at)
        });
        reached.push(step.collect());
    }
    let Some(mut at) = reached.last().and_then(|last| (0..last.len()).min_by(|&a, &b| last[a].0.total_cmp(&last[b].0)))
    else {
        return Vec::new();
    };
    let mut chosen = Vec::with_capacity(chain.len());
    for (place, step) in reached.iter().enumerate().rev() {
        let (_, entry, before) = step[at];
        chosen.push((chain[place], entry));
        at = before;
    }
    chosen
}
